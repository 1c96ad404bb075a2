//! The curl command that sends a request, for a shell. No secret is in it: the token is asked of `mfa auth
//! token`, and a password comes from the file of `MFA_PASSWORD_FILE` or from standard input.

use super::is_secret;
use crate::output::escaped_json;
use crate::words::quoted;
use mfa_shared::wire::FORM_TYPE;
use serde_json::Value;

/// Longest body that one argument of a program can hold, with some room.
const ARGUMENT_BYTES_MAX: usize = 100_000;
/// Placeholder of a secret; no JSON text holds it, because it would be escaped there.
const CUT: char = '\u{1}';

/// A request as a shell sends it.
pub struct Line<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: Vec<(&'a str, &'a str)>,
    pub body: Option<&'a [u8]>,
    /// The file of the image in it.
    pub file: Option<&'a str>,
    /// The command that prints the token.
    pub token: &'a str,
}

impl Line<'_> {
    pub fn text(&self) -> String {
        let method = if self.method == "HEAD" { "--head".to_owned() } else { format!("-X {}", self.method) };
        let mut line = format!("curl {method} {}", quoted(self.url));
        if self.url.contains(['[', ']', '{', '}']) {
            line.push_str(" --globoff");
        }
        let kind = self.headers.iter().find(|(name, _)| *name == "content-type").map_or("", |(_, kind)| kind);
        let boundary = kind.strip_prefix("multipart/form-data; boundary=");
        for (name, value) in &self.headers {
            match *name {
                "authorization" => {
                    line.push_str(&format!(r#" -H "authorization: Bearer $({})""#, self.token));
                }
                "cookie" | "proxy-authorization" => line.push_str(&format!(r#" -H "{name}: $SECRET""#)),
                // curl chooses a boundary of its own.
                "content-type" if boundary.is_some() => {}
                _ => line.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}")))),
            }
        }
        let Some(body) = self.body else { return line };
        match (boundary, std::str::from_utf8(body), serde_json::from_slice::<Value>(body)) {
            (Some(boundary), ..) => line + &parts(body, boundary, self.file),
            (None, _, Ok(value)) => with_json(&line, value),
            (None, Ok(text), Err(_)) if kind == FORM_TYPE => with_form(&line, text),
            _ => format!("{line} --data-binary @-  # and {} bytes on standard input", body.len()),
        }
    }
}

/// The parts of a form of several parts; the bytes of an image come from its file.
fn parts(body: &[u8], boundary: &str, file: Option<&str>) -> String {
    let text = String::from_utf8_lossy(body);
    let mut flags = String::new();
    for part in text.split(&format!("--{boundary}")) {
        let Some((head, value)) = part.split_once("\r\n\r\n") else { continue };
        let Some(name) = head.split("name=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        match head.split_once("Content-Type: ") {
            Some((_, kind)) => {
                let file = file.unwrap_or("-").replace('\\', "\\\\").replace('"', "\\\"");
                flags.push_str(&format!(" -F {}", quoted(&format!("{name}=@\"{file}\";type={kind}"))));
            }
            None => {
                let value = value.strip_suffix("\r\n").unwrap_or(value);
                flags.push_str(&format!(" --form-string {}", quoted(&format!("{name}={value}"))));
            }
        }
    }
    flags
}

fn with_json(line: &str, mut value: Value) -> String {
    let mut names = Vec::new();
    cut(&mut value, &mut names);
    let text = escaped_json(value.to_string());
    let text = if names.len() == 1 { text.replace("\\u0001", &CUT.to_string()) } else { text };
    match (names.as_slice(), text.split_once(CUT)) {
        ([], _) if text.len() <= ARGUMENT_BYTES_MAX => format!("{line} --data-raw {}", quoted(&text)),
        // Shell builtins alone take more.
        ([], _) => format!("printf %s {} | {line} --data-binary @-", quoted(&text)),
        ([name], Some((before, after))) => {
            let secret = given(name, r#"sed 's/[\\"]/\\&/g'"#);
            let (before, after) = (quoted(before), quoted(after));
            format!("{{ printf %s {before}; {secret}; printf %s {after}; }} | {line} --data-binary @-")
        }
        _ => {
            format!("{line} --data-binary @-  # and the body on standard input, with {} secrets", names.len())
        }
    }
}

fn with_form(line: &str, text: &str) -> String {
    let name = |pair: &&str| pair.split('=').next().unwrap_or_default().to_owned();
    let (secret, plain): (Vec<_>, Vec<_>) = text.split('&').partition(|pair| is_secret(&name(pair)));
    let plain = quoted(&plain.join("&"));
    match secret.as_slice() {
        [] => format!("{line} --data-raw {plain}"),
        [pair] => {
            let name = name(pair);
            format!("{} | {line} --data-raw {plain} --data-urlencode {name}@-", given(&name, "cat"))
        }
        _ => format!("{line} --data-binary @-  # and the form on standard input"),
    }
}

/// Prints a secret through a filter, without the line feed at its end.
fn given(name: &str, filter: &str) -> String {
    let file = if name == "password" { r#" "${MFA_PASSWORD_FILE:--}""# } else { "" };
    format!(r"{filter}{file} | tr -d '\r\n'")
}

/// Removes the secrets from a body, and returns their names.
fn cut(value: &mut Value, names: &mut Vec<String>) {
    match value {
        Value::Object(properties) => {
            for (name, value) in properties {
                match value {
                    Value::String(text) if is_secret(name) => {
                        names.push(name.clone());
                        *text = CUT.to_string();
                    }
                    value if is_secret(name) && !value.is_null() => *value = Value::from("***"),
                    value => cut(value, names),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| cut(value, names)),
        _ => {}
    }
}
