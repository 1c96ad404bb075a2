//! The second factor of a user: codes that an authenticator shows (RFC 6238). Contract: `identity.md`
//! section 13.

use crate::kind::Kind;
use crate::object::{FieldDoc, Fields, Object};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Json, JsonOfSome, Nothing};
use crate::{endpoints, object, words};

words! {
    /// How far a user has come with a second factor.
    pub enum FactorState {
        /// There is none.
        None = "NONE",
        /// A secret was made, and no code of it was shown yet.
        Pending = "PENDING",
        /// A login needs a code.
        Active = "ACTIVE",
    }
}

object! {
    /// The second factor of a user; for another user only the state is shown.
    pub struct SecondFactor {
        /// How far the user has come.
        state: FactorState = required(word()),
        /// Since when a login needs a code.
        enabled_on: Option<Timestamp> = optional(timestamp()),
        /// Recovery codes that were not used yet.
        recovery_codes_left: Option<i64> = optional(integer(0, 10)),
    }

    /// A new secret; it is shown once.
    pub struct SecondFactorSecret {
        /// 160 bits in base32, to be typed into an authenticator.
        secret: String = required(line(32)),
        /// The same as an address that an authenticator reads from a picture.
        uri: String = required(line(512)),
    }

    /// A code of the authenticator.
    pub struct SecondFactorCode {
        /// Six digits, or a recovery code.
        code: String = required(secret(1, 64)),
    }

    /// Codes for the day on which the authenticator is lost; they are shown once, and each is good once.
    pub struct NewRecoveryCodes {
        /// Ten codes.
        recovery_codes: Vec<String> = required(list(line(32), 10)),
    }
}

/// The empty object with which a new secret is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SecondFactorWish {}

impl Object for SecondFactorWish {
    const NAME: &'static str = "SecondFactorWish";
    const DOC: &'static str = "The empty object with which a new secret is asked for.";
    fn read(_: &mut Fields<'_>) -> Option<Self> {
        Some(Self {})
    }
    fn fields() -> Vec<FieldDoc> {
        Vec::new()
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("second-factor", "/users/{}/second-factor", "", "GetSecondFactor")];

endpoints! {
    application "identity-v1";
    /// Show whether a user has a second factor.
    GetSecondFactor { user } Get "/users/{user}/second-factor" Nothing => Json<SecondFactor>,
        tag GetSecondFactor;
    /// Make the secret of a second factor, which counts once a code of it was shown.
    BeginSecondFactor { user } Post "/users/{user}/second-factor" Json<SecondFactorWish>
        => Json<SecondFactorSecret>;
    /// Show a code of the secret: from then on a login needs one.
    EnableSecondFactor { user } Put "/users/{user}/second-factor" Json<SecondFactorCode>
        => Json<NewRecoveryCodes>, tag GetSecondFactor;
    /// Take the second factor of a user away.
    DeleteSecondFactor { user } Delete "/users/{user}/second-factor" JsonOfSome<SecondFactorCode> => Accepted,
        tag GetSecondFactor;
}
