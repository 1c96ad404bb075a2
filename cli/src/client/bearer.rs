//! The token that goes along with a request.

use crate::client::Client;
use crate::client::logins::{self, Login};
use crate::client::request::Request;
use crate::failure::{Failure, Outcome};
use mfa_shared::api::tokens::{CreateToken, Token, TokenRequest};

impl Client {
    /// The token to send: the given one, or that of the last login, which is refreshed where it has ended.
    pub async fn bearer(&self) -> Outcome<Option<String>> {
        if self.token.is_some() {
            return Ok(self.token.clone());
        }
        if let Some(name) = &self.empty_token {
            let hint = format!("give it a token; to act as who has logged in, unset {name}");
            return Err(Failure::usage(format!("{name} is empty")).hint(hint));
        }
        let Some(login) = logins::find(&self.profile, &self.url)? else { return Ok(None) };
        if login.lives() || login.refresh_token.is_none() || self.leaves_login {
            return Ok(Some(login.access_token));
        }
        // A refresh token can be used once, so of two commands at the same time one waits for the other.
        let lock = logins::lock(self).await?;
        let Some(login) = logins::find(&self.profile, &self.url)? else { return Ok(None) };
        let Some(refresh_token) = login.refresh_token.clone().filter(|_| !login.lives()) else {
            return Ok(Some(login.access_token));
        };
        // It is spent once it was sent, so first it is clear that the new one can be kept.
        lock.save(login.clone())?;
        let asked = TokenRequest::Refresh { refresh_token };
        // A refresh is not part of the command: it may happen at any of its changes, or at none.
        let aside = Self { curl: None, ..self.aside() };
        // A spent refresh token that comes again ends the session.
        let mut request = Request::new(&CreateToken {}, &asked);
        request.manner.once = true;
        let response = aside.exchange(request).await?;
        let (status, text) = self.text(response).await?;
        match serde_json::from_str::<Token>(&text) {
            Ok(token) if status == 200 => {
                let login = Login::new(self, login.caller, &token);
                let access_token = login.access_token.clone();
                lock.save(login)?;
                Ok(Some(access_token))
            }
            _ => Ok(Some(login.access_token)),
        }
    }
}
