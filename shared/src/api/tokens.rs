//! Login and tokens. Contract: `identity.md` section 6.

use crate::fault::{CREDENTIALS_IN_QUERY, Fault, Kind, MALFORMED_BODY, UNSUPPORTED_GRANT_TYPE};
use crate::identifier::shown;
use crate::node::Node;
use crate::query::{Params, bad_encoding};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Body, BodyKind, BodyShape, Done, Json, Nothing, Outgoing, RawBody};
use crate::{endpoints, object};
use serde_json::{Value, json};

/// The grant type of an assertion (RFC 7523).
pub const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Content type of a form.
pub const FORM_TYPE: &str = "application/x-www-form-urlencoded";

object! {
    /// A fresh token.
    pub struct Token {
        /// The token, to be sent as `Authorization: Bearer`.
        access_token as "access_token": String = required(line(64)),
        /// `Bearer`.
        token_type as "token_type": String = required(line(16)),
        /// Whole seconds until the access token ends.
        expires_in as "expires_in": i64 = required(integer(0, i64::MAX)),
        /// The token that renews the session; null without one.
        refresh_token as "refresh_token": Option<String> = optional(line(64)),
        /// Whether nothing but setting a new password is allowed.
        password_change_required as "password_change_required": bool = required(flag()),
    }

    /// Who calls with this token.
    pub struct CurrentToken {
        /// The user, if there is one.
        user: Option<String> = optional(line(64)),
        /// The role of the user.
        role: Option<String> = optional(line(64)),
        /// The application, if there is one.
        application: Option<String> = optional(line(64)),
        /// When the token ends; null where callers are not asked for one.
        expires_at: Option<Timestamp> = optional(timestamp()),
        /// Whether nothing but setting a new password is allowed.
        password_change_required: bool = required(flag()),
    }
}

/// What `POST /token` is asked for.
#[derive(Clone, PartialEq, Eq)]
pub enum TokenRequest {
    /// A session for a user.
    Password {
        /// The user.
        username: String,
        /// The password.
        password: String,
        /// A code of the authenticator, or a recovery code, where the user has a second factor.
        otp: Option<String>,
    },
    /// The session goes on.
    Refresh {
        /// The refresh token of the session.
        refresh_token: String,
    },
    /// A token for an application, alone or for a user.
    Assertion {
        /// A signed assertion.
        assertion: String,
        /// A call endpoint set of the application, to which the token is narrowed.
        scope: Option<String>,
    },
}

impl std::fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Every form of it carries a secret, and a debug print may end in a log.
        f.write_str(match self {
            Self::Password { .. } => "Password",
            Self::Refresh { .. } => "Refresh",
            Self::Assertion { .. } => "Assertion",
        })
    }
}

/// The OAuth 2.0 error code for a fault of `POST /token`.
pub fn error_word(kind: &Kind) -> &'static str {
    match (kind.code, kind.status) {
        ("second_factor_required", _) => "mfa_required",
        ("unsupported_grant_type", _) => "unsupported_grant_type",
        ("scope_unknown" | "scope_not_covered", _) => "invalid_scope",
        (_, 401 | 429) => "invalid_grant",
        (_, 503) => "temporarily_unavailable",
        (_, 500..) => "server_error",
        _ => "invalid_request",
    }
}

/// The parameters that are given, of a form or of a JSON object.
struct Given<'a> {
    values: Vec<(&'a str, &'a Node)>,
    at: Checks,
}

impl Given<'_> {
    fn take(&mut self, name: &str, required: bool) -> Option<String> {
        let mut found = self.values.iter().filter(|(n, node)| *n == name && **node != Node::Null);
        let first = found.next().map(|(_, node)| *node);
        let second = found.next();
        self.at.property(name, |at| match (first, second) {
            (None, _) if required => at.refuse("required", "is required"),
            (None, _) => None,
            (_, Some(_)) => at.refuse("duplicate", "is given twice"),
            (Some(Node::Text(text)), None) if text.is_empty() => at.refuse("too_short", "must not be empty"),
            (Some(Node::Text(text)), None) => Some(text.clone()),
            (Some(node), None) => at.wrong_type("a string", node),
        })
    }

    fn finish(self, body: &Node, request: Option<TokenRequest>) -> Result<TokenRequest, Fault> {
        let errors = self.at.finish(body);
        request.filter(|_| errors.is_empty()).ok_or_else(|| Fault::fields(errors))
    }
}

impl Body for TokenRequest {
    const SHAPE: BodyShape =
        BodyShape { kind: BodyKind::Credentials, schema: || Some(schema()), params: Vec::new };

    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        let body = if raw.json { read_json(raw)? } else { read_form(raw.bytes)? };
        let secret = ["username", "password", "otp", "refresh_token", "assertion"];
        if let Some(name) = secret.into_iter().find(|name| raw.params.gives(name)) {
            let detail = format!("the query string carries {name}; nothing was tried");
            return Err(Fault::new(CREDENTIALS_IN_QUERY, detail));
        }
        let properties = if let Node::Object(properties) = &body { properties.as_slice() } else { &[] };
        let values = properties.iter().map(|(name, node)| (name.as_str(), node)).collect();
        let mut given = Given { values, at: Checks::new(raw.today) };
        let grant = given.take("grant_type", true);
        let request = match grant.as_deref() {
            Some("password") => {
                let username = given.take("username", true);
                let password = given.take("password", true);
                let otp = given.take("otp", false);
                let pair = username.zip(password);
                pair.map(|(username, password)| Self::Password { username, password, otp })
            }
            Some("refresh_token") => {
                given.take("refresh_token", true).map(|refresh_token| Self::Refresh { refresh_token })
            }
            Some(JWT_BEARER) => {
                let assertion = given.take("assertion", true);
                let scope = given.take("scope", false);
                assertion.map(|assertion| Self::Assertion { assertion, scope })
            }
            Some(other) => {
                let detail = format!("there is no grant type \"{}\"", shown(other));
                return Err(Fault::new(UNSUPPORTED_GRANT_TYPE, detail));
            }
            None => None,
        };
        given.finish(&body, request)
    }

    fn write(&self) -> Outgoing {
        let mut pairs = Vec::new();
        match self {
            Self::Password { username, password, otp } => {
                pairs.extend([("grant_type", "password"), ("username", username), ("password", password)]);
                pairs.extend(otp.as_deref().map(|otp| ("otp", otp)));
            }
            Self::Refresh { refresh_token } => {
                pairs.extend([("grant_type", "refresh_token"), ("refresh_token", refresh_token)]);
            }
            Self::Assertion { assertion, scope } => {
                pairs.extend([("grant_type", JWT_BEARER), ("assertion", assertion)]);
                pairs.extend(scope.as_deref().map(|scope| ("scope", scope)));
            }
        }
        Outgoing { query: Vec::new(), body: Some((FORM_TYPE.into(), Params::render(&pairs).into_bytes())) }
    }
}

fn read_json(raw: &RawBody<'_>) -> Result<Node, Fault> {
    let body = Node::clone(raw.node()?);
    if let Node::Object(properties) = &body {
        let known = ["grant_type", "username", "password", "otp", "refresh_token", "assertion", "scope"];
        for name in known {
            if properties.iter().filter(|(n, _)| n == name).count() > 1 {
                return Err(Fault::new(MALFORMED_BODY, format!("the property /{name} is given twice")));
            }
        }
        return Ok(body);
    }
    Err(Fault::new(MALFORMED_BODY, format!("the body must be an object, not {}", body.kind())))
}

fn read_form(bytes: &[u8]) -> Result<Node, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::new(MALFORMED_BODY, "the body is not UTF-8"))?;
    let params = Params::parse(text);
    if params.malformed() {
        return Err(Fault::new(MALFORMED_BODY, bad_encoding("the form")));
    }
    let properties = params.pairs().iter().map(|(name, value)| (name.clone(), Node::Text(value.clone())));
    Ok(Node::Object(properties.collect()))
}

fn schema() -> Value {
    let text = |doc: &str| json!({ "type": "string", "minLength": 1, "description": doc });
    json!({
        "type": "object",
        "required": ["grant_type"],
        "properties": {
            "grant_type": { "type": "string", "enum": ["password", "refresh_token", JWT_BEARER] },
            "username": text("The user, for a password."),
            "password": { "type": "string", "minLength": 1, "format": "password" },
            "otp": text("A code of the authenticator, or a recovery code, where there is a second factor."),
            "refresh_token": text("The refresh token of the session that goes on."),
            "assertion": text("The signed assertion of an application."),
            "scope": text("A call endpoint set to which the token of an application is narrowed."),
        },
    })
}

endpoints! {
    application "identity-v1";
    /// Log in, let a session go on, or sign in as an application.
    CreateToken {} Post "/token" TokenRequest => Json<Token>, public true;
    /// Show who calls with this token.
    GetCurrentToken {} Get "/token/_current" Nothing => Json<CurrentToken>, tag GetCurrentToken;
    /// Log out: end the session of this token.
    DeleteCurrentToken {} Delete "/token/_current" Nothing => Done, tag GetCurrentToken;
    /// Log out everywhere: end all sessions of the user.
    DeleteTokens {} Delete "/token" Nothing => Done;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Date;

    fn read(query: &str, json: bool, body: &str) -> Result<TokenRequest, String> {
        let today = Date::new(2031, 5, 6).unwrap();
        let params = Params::parse(query);
        let raw = RawBody::new(&params, body.as_bytes(), today).typed(json);
        TokenRequest::read(&raw).map_err(|fault| {
            let fields = fault.errors.iter().map(|e| format!(" {} {}", e.field, e.code));
            fault.kind.code.to_owned() + &fields.collect::<String>()
        })
    }

    #[test]
    fn form_and_json_carry_the_same_names() {
        let asked =
            TokenRequest::Password { username: "anna".into(), password: "blue kettle+7".into(), otp: None };
        let form = "grant_type=password&username=anna&password=blue+kettle%2B7&colour=red";
        assert_eq!(read("", false, form).unwrap(), asked);
        let json = r#"{"grant_type":"password","username":"anna","password":"blue kettle+7","scope":null}"#;
        assert_eq!(read("", true, json).unwrap(), asked);
        for asked in [
            asked,
            TokenRequest::Refresh { refresh_token: "mfar_x".into() },
            TokenRequest::Assertion { assertion: "a.b.c".into(), scope: Some("doorway".into()) },
        ] {
            let (_, bytes) = asked.write().body.unwrap();
            assert_eq!(read("", false, std::str::from_utf8(&bytes).unwrap()).unwrap(), asked);
        }
    }

    #[test]
    fn the_first_failure_decides() {
        for (query, json, body, expected) in [
            ("password=x", true, "{", "malformed_body"),
            ("", true, "[]", "malformed_body"),
            ("", true, r#"{"grant_type":"password","grant_type":"password"}"#, "malformed_body"),
            ("password=x", false, "grant_type=%zz", "malformed_body"),
            ("password=x", false, "grant_type=blah", "credentials_in_query"),
            ("", false, "", "invalid_fields /grant_type required"),
            ("", false, "grant_type=", "invalid_fields /grant_type too_short"),
            ("", false, "grant_type=a&grant_type=b", "invalid_fields /grant_type duplicate"),
            ("", true, r#"{"grant_type":5}"#, "invalid_fields /grant_type wrong_type"),
            ("", false, "grant_type=blah", "unsupported_grant_type"),
            ("", false, "grant_type=password&password=x", "invalid_fields /username required"),
            (
                "",
                true,
                r#"{"grant_type":"password","password":[],"username":null}"#,
                "invalid_fields /username required /password wrong_type",
            ),
            ("", false, "grant_type=refresh_token", "invalid_fields /refresh_token required"),
        ] {
            let refused = read(query, json, body).unwrap_err();
            let sorted = |text: &str| {
                let mut words: Vec<_> = text.split(' ').map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(sorted(&refused), sorted(expected), "{body}");
        }
    }
}
