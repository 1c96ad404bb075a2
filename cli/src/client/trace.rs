//! Shows requests and answers on stderr (`MFA_DEBUG=http`), with everything secret left out.

mod curl;

pub use curl::Line;

use crate::output::escaped_json;
use serde_json::Value;
use std::io::{Write, stderr};

/// Headers whose values are secret.
const HEADERS: &[&str] = &["authorization", "cookie", "set-cookie", "proxy-authorization"];
/// Properties whose values are secret, in lower case.
const PROPERTIES: &[&str] = &[
    "password",
    "currentpassword",
    "access_token",
    "refresh_token",
    "assertion",
    "auth_token",
    "token",
    "account_sid",
    "app_password",
    "secret",
    "otp",
    "recoverycodes",
];

/// Prints one line about the traffic.
pub fn line(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

pub fn request<'a>(
    method: &str,
    url: &str,
    headers: impl Iterator<Item = (&'a str, &'a str)>,
    bytes: Option<&[u8]>,
) {
    let _ = writeln!(stderr(), "> {method} {url}");
    lines(">", headers);
    if let Some(bytes) = bytes {
        body(">", bytes);
    }
}

/// Shows the head of an answer.
pub fn answer<'a>(status: u16, headers: impl Iterator<Item = (&'a str, &'a str)>) {
    let _ = writeln!(stderr(), "< {status}");
    lines("<", headers);
}

pub fn body(mark: &str, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let text = redacted(bytes).unwrap_or_else(|| format!("({} bytes)", bytes.len()));
    let _ = writeln!(stderr(), "{mark} {text}");
}

/// A body without its secrets. A body that is not JSON may hold one anywhere, so nothing of it is shown.
fn redacted(bytes: &[u8]) -> Option<String> {
    let mut value = serde_json::from_slice::<Value>(bytes).ok()?;
    redact(&mut value);
    Some(escaped_json(value.to_string()))
}

fn lines<'a>(mark: &str, headers: impl Iterator<Item = (&'a str, &'a str)>) {
    for (name, value) in headers {
        let value = if HEADERS.contains(&name) { "***" } else { value };
        let _ = writeln!(stderr(), "{mark} {name}: {value}");
    }
}

/// Whether a property of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    PROPERTIES.contains(&name.to_ascii_lowercase().as_str())
}

fn redact(value: &mut Value) {
    match value {
        Value::Object(properties) => {
            // A body that is nothing but a code is one of a second factor.
            let is_code = properties.len() == 1;
            for (name, value) in properties {
                let is_key = value.as_str().is_some_and(|text| text.starts_with("otpauth:"));
                if (is_secret(name) || is_key || is_code && name == "code") && !value.is_null() {
                    *value = Value::from("***")
                } else {
                    redact(value)
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(redact),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_left_out_however_deep_they_lie() {
        let mut value = json!({ "users": [{ "name": "a", "password": "b" }], "access_token": "c" });
        redact(&mut value);
        assert_eq!(value, json!({ "users": [{ "name": "a", "password": "***" }], "access_token": "***" }));
        let mut value = json!([
            { "secret": "JBSW", "uri": "otpauth://totp/a?secret=JBSW" }, { "recoveryCodes": ["a", "b"] },
            { "code": "123456" }, { "code": "wrong_code", "title": "t", "uri": "https://example.org" },
            { "otp": "123456" }, { "secret": null },
        ]);
        redact(&mut value);
        let expected = json!([
            { "secret": "***", "uri": "***" }, { "recoveryCodes": "***" },
            { "code": "***" }, { "code": "wrong_code", "title": "t", "uri": "https://example.org" },
            { "otp": "***" }, { "secret": null },
        ]);
        assert_eq!(value, expected);
    }
}
