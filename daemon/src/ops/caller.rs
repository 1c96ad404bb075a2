//! Who asks, with what they hold. Contract: `identity.md` section 3.

use super::last_use::LastUse;
use crate::domain::permission::Permitted;
use crate::domain::privilege::Holding;
use crate::store::records::{StoredToken, StoredUser, TokenKind};
use std::sync::Arc;

/// Who asks.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The name that records bear: a user, or `application:<identifier>`, or `guest`.
    pub name: String,
    /// The name in the audit trail: user and application where there are both.
    pub actor: String,
    /// The user, if there is one.
    pub user: Option<String>,
    /// The role of the user.
    pub role: Option<String>,
    /// The application, if there is one.
    pub application: Option<String>,
    /// Whether the user has to set a new password first.
    pub must_change_password: bool,
    /// Whether the user has to set up a second factor first.
    pub must_set_up_factor: bool,
    /// What the caller may do.
    pub reach: Arc<Permitted>,
    /// What the caller may grant.
    pub holding: Holding,
    /// The token, where one was sent.
    pub token: Option<StoredToken>,
    /// What the settings say about logins.
    pub rules: Arc<LoginRules>,
    /// When sessions were used last.
    pub uses: Arc<LastUse>,
}

/// What the settings of the daemon say about logins.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LoginRules {
    /// Whether users must give the present password to set another one.
    pub current_password_required: bool,
    /// Seconds after which a session ends that is not used; 0 for never.
    pub session_idle_seconds: u32,
    /// Roles whose users must have a second factor.
    pub second_factor_roles: Vec<String>,
}

impl LoginRules {
    /// Whether a user has to set up a second factor first.
    pub fn must_set_up_factor(&self, user: &StoredUser) -> bool {
        !user.second_factor && self.second_factor_roles.contains(&user.role)
    }
}

impl Caller {
    /// An anonymous caller, where authentication is off.
    pub fn guest() -> Self {
        Self {
            name: "guest".to_owned(),
            actor: "guest".to_owned(),
            user: None,
            role: None,
            application: None,
            must_change_password: false,
            must_set_up_factor: false,
            reach: Arc::default(),
            holding: Holding::Unchecked,
            token: None,
            rules: Arc::default(),
            uses: Arc::default(),
        }
    }

    /// The same caller, without a check of permissions.
    pub fn unchecked(self) -> Self {
        Self { holding: Holding::Unchecked, ..self }
    }

    /// Whether authentication is off.
    pub fn is_unchecked(&self) -> bool {
        self.holding == Holding::Unchecked
    }

    /// Whether this is a login of the user, not an application in the user's name.
    pub fn is_login_of(&self, user: &str) -> bool {
        self.application.is_none() && self.user.as_deref() == Some(user)
    }

    /// Applications that the token is intended for.
    pub fn intended(&self) -> &[String] {
        match self.token.as_ref().map(|token| &token.kind) {
            Some(TokenKind::Application { intended, .. }) => intended,
            _ => &[],
        }
    }

    /// The groups to which the token of an application is narrowed, if it is.
    pub fn scope(&self) -> Option<&[String]> {
        match self.token.as_ref().map(|token| &token.kind) {
            Some(TokenKind::Application { scope, .. }) => scope.as_deref(),
            _ => None,
        }
    }
}
