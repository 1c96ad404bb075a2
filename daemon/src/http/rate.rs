//! How often a token and an address may ask, so that no single caller can take the time of all others.
//!
//! Each has a bucket of requests that fills again evenly. A request is counted before any work is done for
//! it, with one exception: a token without a bucket is looked up first, because only one that is live may
//! have a bucket. Requests without a live token count for their address. So made-up tokens cost no memory.

use super::access::Asked;
use super::addresses::client_of;
use super::answer::Head;
use super::route::{Behind, Route};
use super::state::State;
use mfa_shared::api::system::{GetLive, GetReady};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Parts of the table of buckets, each with a lock of its own.
const SHARDS: usize = 16;
/// Buckets of a shard. Beyond, those that are full again go, and all of them where that is not enough.
const BUCKETS_MAX: usize = 8_192;
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

    fn limit(&self, bucket: Bucket, origin: IpAddr) -> Option<Limit> {
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
struct Limit {
    a_second: u32,
    seconds: u32,
}

impl Limit {
    /// The requests of a full bucket.
    fn quota(self) -> u64 {
        u64::from(self.a_second) * u64::from(self.seconds)
    }

    /// Nanoseconds in which one request fills again.
    fn interval(self) -> u64 {
        SECOND / u64::from(self.a_second)
    }
}

/// How a bucket stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    bucket: Bucket,
    limit: Limit,
    /// Requests that are left.
    left: u64,
    /// Until it is full again; after a refusal, until one request is left.
    reset: Duration,
}

impl Standing {
    /// Whether less than half is left, so that the caller should hear of it.
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
    fn seconds(&self) -> u32 {
        let whole = self.reset.as_secs() + u64::from(self.reset.subsec_nanos() > 0);
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}

/// The buckets. Of each stands only the moment at which it will be full again, so one that is full needs no
/// place.
#[derive(Debug, Default)]
pub struct Buckets {
    shards: [Mutex<HashMap<u64, u64>>; SHARDS],
    /// Keyed by chance, so that nobody can choose whose bucket to share.
    names: RandomState,
}

impl Buckets {
    fn shard(&self, name: u64) -> MutexGuard<'_, HashMap<u64, u64>> {
        self.shards[(name % SHARDS as u64) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, bucket: Bucket, key: &impl Hash) -> u64 {
        self.names.hash_one((bucket, key))
    }

    /// Takes one request out of a bucket, if there is one.
    fn take(
        &self,
        bucket: Bucket,
        key: &impl Hash,
        limit: Limit,
        now: Duration,
    ) -> Result<Standing, Standing> {
        let (interval, now) = (limit.interval(), nanos(now));
        let size = interval.saturating_mul(limit.quota());
        let name = self.name(bucket, key);
        let mut shard = self.shard(name);
        let missing = shard.get(&name).map_or(0, |full_at| full_at.saturating_sub(now));
        let over = missing.saturating_add(interval).saturating_sub(size);
        if over > 0 {
            return Err(Standing { bucket, limit, left: 0, reset: Duration::from_nanos(over) });
        }
        let missing = missing + interval;
        make_room(&mut shard, now);
        shard.insert(name, now.saturating_add(missing));
        let left = (size - missing) / interval;
        Ok(Standing { bucket, limit, left, reset: Duration::from_nanos(missing) })
    }

    /// Takes more requests out of a bucket than it may hold; whoever asks next waits for them.
    fn owe(&self, bucket: Bucket, key: &impl Hash, limit: Limit, requests: u64, now: Duration) {
        let now = nanos(now);
        let name = self.name(bucket, key);
        let mut shard = self.shard(name);
        let full_at = shard.get(&name).map_or(now, |full_at| now.max(*full_at));
        make_room(&mut shard, now);
        shard.insert(name, full_at.saturating_add(limit.interval().saturating_mul(requests)));
    }

    /// Whether there is a bucket.
    fn has(&self, bucket: Bucket, key: &impl Hash) -> bool {
        let name = self.name(bucket, key);
        self.shard(name).contains_key(&name)
    }

    /// Takes the bucket of a token away that is not live any more.
    pub fn forget(&self, token: &str) {
        let name = self.name(Bucket::Token, &token);
        self.shard(name).remove(&name);
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }
}

fn make_room(shard: &mut HashMap<u64, u64>, now: u64) {
    if shard.len() < BUCKETS_MAX {
        return;
    }
    shard.retain(|_, full_at| *full_at > now);
    // To look through all of them for each new one would cost more than to begin anew.
    if shard.len() > BUCKETS_MAX / 2 {
        shard.clear();
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Counts a request, and refuses it where its address or its token has asked too often.
pub async fn count(
    state: &Arc<State>,
    head: &Head,
    asked: &Asked,
    route: Option<&Route>,
) -> Result<(), Fault> {
    if route.is_some_and(answers_always) {
        return Ok(());
    }
    let address = client_of(head.origin);
    take(state, head, Bucket::Address, &address)?;
    match live_token(state, head, asked).await? {
        Some(token) => take(state, head, Bucket::Token, &token),
        None => take(state, head, Bucket::Unauthenticated, &address),
    }
}

/// Counts the operations of a batch beside its own request. They were read already, so they are not refused,
/// but the next request waits for them.
pub fn count_more(state: &State, head: &Head, asked: &Asked, operations: u64) {
    let (now, address) = (state.store.clock().elapsed(), client_of(head.origin));
    let limit = |bucket| state.config.rates.limit(bucket, head.origin);
    if let Some(limit) = limit(Bucket::Address) {
        state.buckets.owe(Bucket::Address, &address, limit, operations, now);
    }
    let token = asked.token.as_deref().filter(|token| state.buckets.has(Bucket::Token, token));
    match (token, limit(Bucket::Token), limit(Bucket::Unauthenticated)) {
        (Some(token), Some(limit), _) => state.buckets.owe(Bucket::Token, &token, limit, operations, now),
        (None, _, Some(limit)) => {
            state.buckets.owe(Bucket::Unauthenticated, &address, limit, operations, now);
        }
        _ => {}
    }
}

/// Whoever watches the daemon is always answered, and logins have queues and limits of their own.
pub fn answers_always(route: &Route) -> bool {
    let watched = [GetLive::META.name, GetReady::META.name].contains(&route.meta.name);
    watched || matches!(route.behind, Behind::Login | Behind::Metrics)
}

/// The token of a request, if it is live.
async fn live_token<'a>(state: &Arc<State>, head: &Head, asked: &'a Asked) -> Result<Option<&'a str>, Fault> {
    let limited = |bucket| state.config.rates.limit(bucket, head.origin).is_some();
    let Some(token) = asked.token.as_deref() else { return Ok(None) };
    let known = state.buckets.has(Bucket::Token, &token);
    if known || !limited(Bucket::Token) && !limited(Bucket::Unauthenticated) {
        return Ok(Some(token));
    }
    let (shared, hash) = (state.clone(), token.to_owned());
    let found = state.store.read(false, move |tx| shared.callers.find(tx, &hash)).await?;
    Ok(found.map(|_| token))
}

fn take(state: &State, head: &Head, bucket: Bucket, key: &impl Hash) -> Result<(), Fault> {
    let Some(limit) = state.config.rates.limit(bucket, head.origin) else { return Ok(()) };
    let taken = state.buckets.take(bucket, key, limit, state.store.clock().elapsed());
    match taken {
        Ok(standing) => {
            head.noted.standing(standing);
            Ok(())
        }
        Err(standing) => {
            head.noted.standing(standing);
            state.counts.limited(bucket);
            Err(too_many(bucket, limit, head.origin).retry_after(standing.seconds()))
        }
    }
}

fn too_many(bucket: Bucket, limit: Limit, origin: IpAddr) -> Fault {
    let who = match bucket {
        Bucket::Address => format!("{origin} has sent"),
        Bucket::Unauthenticated => format!("{origin} has sent, without a valid access token,"),
        Bucket::Token => "this access token has sent".to_owned(),
    };
    let Limit { a_second, seconds } = limit;
    let detail = format!("{who} more than {a_second} requests a second over {seconds} s");
    Fault::new(fault::TOO_MANY_REQUESTS, detail)
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
