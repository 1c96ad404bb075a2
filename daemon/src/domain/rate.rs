//! How many requests a token and an address may send, and what is left of them.

use std::net::IpAddr;
use std::time::Duration;

/// Most requests a second that a setting can allow.
const A_SECOND_MAX: u32 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// Whose requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// All of one address.
    Address,
    /// Those of an address that show no live token.
    Unauthenticated,
    /// Those of one access token.
    Token,
}

impl Bucket {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Address, Self::Unauthenticated, Self::Token];

    /// The word by which headers and metrics name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Unauthenticated => "unauthenticated",
            Self::Token => "token",
        }
    }
}

/// Requests a second that there may be; 0 for any number. What is not set has a default, which programs of
/// this machine are free of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Of one access token.
    pub token: Option<u32>,
    /// Of one address in all.
    pub address: Option<u32>,
    /// Of one address without a live token.
    pub unauthenticated: Option<u32>,
    /// Seconds whose requests may come at once.
    pub burst_seconds: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self { token: None, address: None, unauthenticated: None, burst_seconds: 10 }
    }
}

impl Rates {
    /// Requests a second of a bucket unless a setting says otherwise. An import sends no more than a few
    /// thousand rows a second, and many tellers may come from one address.
    pub fn default_of(bucket: Bucket) -> u32 {
        match bucket {
            Bucket::Address => 20_000,
            Bucket::Unauthenticated => 1_000,
            Bucket::Token => 10_000,
        }
    }

    /// The limit of a bucket for a client at an address, if it has one.
    pub fn limit(&self, bucket: Bucket, origin: IpAddr) -> Option<Limit> {
        let set = match bucket {
            Bucket::Address => self.address,
            Bucket::Unauthenticated => self.unauthenticated,
            Bucket::Token => self.token,
        };
        let default = if origin.is_loopback() { 0 } else { Self::default_of(bucket) };
        let a_second = set.unwrap_or(default).min(A_SECOND_MAX);
        (a_second > 0).then_some(Limit { a_second, seconds: self.burst_seconds.max(1) })
    }
}

/// How many requests a bucket holds, and how fast it fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Requests a second.
    pub a_second: u32,
    /// Seconds whose requests may come at once.
    pub seconds: u32,
}

impl Limit {
    /// The requests of a full bucket.
    pub fn quota(self) -> u64 {
        u64::from(self.a_second) * u64::from(self.seconds)
    }

    /// Nanoseconds in which one request fills again.
    pub fn interval(self) -> u64 {
        SECOND / u64::from(self.a_second)
    }
}

/// The state of a bucket after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The bucket.
    pub bucket: Bucket,
    /// What it holds.
    pub limit: Limit,
    /// Requests that are left.
    pub left: u64,
    /// Until it is full again; after a refusal, until one request is left.
    pub reset: Duration,
}

impl Standing {
    /// Whether less than half is left, so that the caller should be warned.
    pub fn is_low(&self) -> bool {
        self.left < self.limit.quota().div_ceil(2)
    }

    /// Whether less is left of it than of another one, as parts of what they hold.
    pub fn is_lower(&self, other: &Self) -> bool {
        let part = |own: &Self, other: &Self| u128::from(own.left) * u128::from(other.limit.quota());
        part(self, other) < part(other, self)
    }

    /// The value of `RateLimit-Policy`.
    pub fn policy(&self) -> String {
        format!("\"{}\";q={};w={}", self.bucket.as_str(), self.limit.quota(), self.limit.seconds)
    }

    /// The value of `RateLimit`.
    pub fn header(&self) -> String {
        format!("\"{}\";r={};t={}", self.bucket.as_str(), self.left, self.seconds())
    }

    /// Until then, in whole seconds.
    pub fn seconds(&self) -> u32 {
        let whole = self.reset.as_secs() + u64::from(self.reset.subsec_nanos() > 0);
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}
