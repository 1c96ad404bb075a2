//! Values from elsewhere: `${env:NAME}` is a variable of the environment, `${file:PATH}` the content of a
//! file. Such a value is never shown, and neither is what the interface calls a secret.

use crate::settings::bounded;
use serde_json::Value;
use std::path::Path;

/// Replaces a secret.
pub const HIDDEN: &str = "***";
/// Replaces a secret that has changed.
const HIDDEN_NEW: &str = "*** (another one)";

/// Puts the values that a document names into their places, whose pointers `places` gets. Within a list that
/// is the pointer of the list, because the daemon may order it as it likes.
pub fn resolve(value: &mut Value, at: &str, folder: &Path, places: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if let Some(resolved) = resolved(text, folder)? {
                places.push(at.to_owned());
                *text = resolved;
            } else if text.contains("$${") {
                *text = text.replace("$${", "${");
            }
            Ok(())
        }
        Value::Array(elements) => {
            let mut inside = Vec::new();
            for element in elements {
                resolve(element, "", folder, &mut inside)?;
            }
            places.extend((!inside.is_empty()).then(|| at.to_owned()));
            Ok(())
        }
        Value::Object(properties) => properties
            .iter_mut()
            .try_for_each(|(name, value)| resolve(value, &format!("{at}/{name}"), folder, places)),
        _ => Ok(()),
    }
}

/// Reads `${env:NAME?}` and `${file:PATH?}` as if without the question mark, if the variable or the file
/// exists; otherwise returns where it was looked for.
pub fn optional(value: &mut Value, folder: &Path) -> Option<String> {
    let Value::String(text) = value else { return None };
    let name = text.strip_prefix("${")?.strip_suffix("?}").filter(|name| !name.contains('}'))?;
    let absent = match name.split_once(':')? {
        ("env", variable) => {
            std::env::var_os(variable).is_none().then(|| format!("the variable {variable} is not set"))
        }
        ("file", file) => {
            let path = folder.join(file);
            matches!(path.try_exists(), Ok(false)).then(|| format!("there is no file {}", path.display()))
        }
        _ => None,
    };
    if absent.is_none() {
        *text = format!("${{{name}}}");
    }
    absent
}

/// Where a secret that an export leaves out is looked for.
pub fn place(kind: &str, id: &str, property: &str) -> String {
    format!("${{file:{}?}}", path(kind, id, property))
}

/// The file of such a secret, beside those of the export.
pub fn path(kind: &str, id: &str, property: &str) -> String {
    format!("secrets/{kind}/{id}.{property}")
}

/// Escapes texts so that they are read back unchanged.
pub fn guard(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace("${", "$${"),
        Value::Array(elements) => elements.iter_mut().for_each(guard),
        Value::Object(properties) => properties.values_mut().for_each(guard),
        _ => {}
    }
}

/// The text with what it names; nothing where it names nothing.
fn resolved(text: &str, folder: &Path) -> Result<Option<String>, String> {
    let mut out = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            // `$${` is the text `${`.
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        let Some(end) = rest[at..].find('}') else {
            return Err("${ has no } behind it; the text ${ is written $${".to_owned());
        };
        out.push_str(&rest[..at]);
        out.push_str(&named(&rest[at + 2..at + end], folder)?);
        rest = &rest[at + end + 1..];
        found = true;
    }
    out.push_str(rest);
    Ok(found.then_some(out))
}

/// What a variable or a file holds.
fn named(name: &str, folder: &Path) -> Result<String, String> {
    let value = match name.split_once(':') {
        Some(("env", variable)) => {
            std::env::var(variable).map_err(|_| format!("${{{name}}}: the variable {variable} is not set"))
        }
        Some(("file", file)) => {
            let path = folder.join(file);
            let text = bounded::text(&path, bounded::DOCUMENT_BYTES_MAX);
            text.map(|text| text.trim_end_matches(['\r', '\n']).to_owned())
                .map_err(|error| format!("${{{name}}}: cannot read {}: {error}", path.display()))
        }
        _ => Err(format!(
            "${{{name}}} is neither ${{env:NAME}} nor ${{file:PATH}}; the text ${{ is written $${{"
        )),
    }?;
    if value.is_empty() { Err(format!("${{{name}}} is empty")) } else { Ok(value) }
}

/// Hides what must not be shown of a value before a change and after it.
pub fn hide(before: &mut Value, after: &mut Value, places: &[String]) {
    for place in places {
        let other = before.pointer(place).is_some_and(|b| !b.is_null() && Some(b) != after.pointer(place));
        for (value, word) in [(&mut *before, HIDDEN), (&mut *after, if other { HIDDEN_NEW } else { HIDDEN })]
        {
            if let Some(secret) = value.pointer_mut(place).filter(|secret| !secret.is_null()) {
                *secret = Value::from(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn every_guarded_text_comes_back(text in "[${}a:?]{0,12}") {
            let mut value = json!({ "a": [text.clone()], "b": text });
            let expected = value.clone();
            guard(&mut value);
            for property in value.as_object_mut().unwrap().values_mut() {
                prop_assert_eq!(optional(property, Path::new(".")), None);
                prop_assert_eq!(resolve(property, "", Path::new("."), &mut Vec::new()), Ok(()));
            }
            prop_assert_eq!(value, expected);
        }
    }
}
