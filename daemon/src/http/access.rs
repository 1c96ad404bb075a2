//! Who asks, and may they? Decided from data, in the transaction of the request.

use super::state::State;
use crate::config::Auth;
use crate::ops::Caller;
use crate::store::Tx;
use mfa_shared::endpoint::Meta;
use mfa_shared::fault::Fault;

/// What a request says about its sender, and what it wants to do.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The row, where the path and method name one.
    pub meta: Option<Meta>,
    /// The segments of the path, decoded, without an old prefix.
    pub segments: Vec<String>,
}

/// The caller, if the request is allowed.
pub fn admit(state: &State, _: &mut Tx<'_>, _: &Asked) -> Result<Caller, Fault> {
    match state.config.auth {
        Auth::Off | Auth::On => Ok(Caller::guest()),
    }
}
