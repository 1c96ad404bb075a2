//! The token of a caller. Contract: `identity.md` section 6.

use super::{Caller, sessions};
use crate::store::Tx;
use crate::store::records::TokenKind;
use mfa_shared::api::tokens::*;
use mfa_shared::fault::Fault;
use mfa_shared::wire::{Done, Json, Nothing};

/// `GET /token/_current`
pub fn get_current(
    _: &mut Tx<'_>,
    caller: &Caller,
    _: &GetCurrentToken,
    _: &Nothing,
) -> Result<Json<CurrentToken>, Fault> {
    Ok(Json(CurrentToken {
        user: caller.user.clone(),
        role: caller.role.clone(),
        application: caller.application.clone(),
        expires_at: caller.token.as_ref().map(|token| token.ends),
        password_change_required: caller.must_change_password,
    }))
}

/// `DELETE /token/_current`
pub fn delete_current(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &DeleteCurrentToken,
    _: &Nothing,
) -> Result<Done, Fault> {
    let Some(token) = &caller.token else { return Ok(Done) };
    match (&token.kind, &token.user) {
        (TokenKind::Access { session } | TokenKind::Refresh { session, .. }, Some(user)) => {
            sessions::end(tx, user, session)?;
        }
        _ => tx.remove(token),
    }
    Ok(Done)
}

/// `DELETE /token`
pub fn delete_all(tx: &mut Tx<'_>, caller: &Caller, _: &DeleteTokens, _: &Nothing) -> Result<Done, Fault> {
    if let Some(user) = &caller.user {
        sessions::end_sessions_of_user(tx, user)?;
    }
    Ok(Done)
}
