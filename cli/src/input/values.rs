//! Values of flags that are more than a text: kinds, numbers, and flags that hold several values.

use super::draft::Draft;
use super::{date, money};
use crate::words::did_you_mean;
use mfa_shared::api::ledger::AccountKind;
use mfa_shared::identifier::wire_name;
use mfa_shared::object::Object;
use mfa_shared::rule::Word;
use serde_json::Value;

/// Reads a kind of account, in any letter case.
pub fn account_kind(text: &str) -> Result<AccountKind, String> {
    AccountKind::find(text).ok_or_else(|| format!("it must be one of {}", AccountKind::listed()))
}

pub fn integer(text: &str) -> Result<Value, String> {
    text.parse::<i64>().map(Value::from).map_err(|_| "it must be a whole number".to_owned())
}

/// Reads `true` or `false`.
pub fn flag(text: &str) -> Result<Value, String> {
    text.parse::<bool>().map(Value::from).map_err(|_| "it must be true or false".to_owned())
}

/// Reads `a=1,b=2` as properties of an object, each of the kind that the object has it. A comma in a value is
/// written `\,`, a backslash `\\`.
pub fn pairs<T: Object>(text: &str) -> Result<Draft, String> {
    let fields = T::fields();
    let mut draft = Draft::default();
    for pair in split_at_commas(text) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("\"{pair}\" is not NAME=VALUE"));
        };
        // `postal-code` is the same as `postalCode`.
        let name = wire_name(&name.trim().replace('-', "_"));
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
            return Err(match did_you_mean(&name, names.iter().copied()) {
                Some(meant) => format!("there is no {name}: {meant}"),
                None => format!("there is no {name} among {}", names.join(", ")),
            });
        };
        if draft.has(&name) {
            return Err(format!("{name} is given twice"));
        }
        let is = |kind: &str| {
            let known = &field.schema["type"];
            known == kind || known.as_array().is_some_and(|kinds| kinds.iter().any(|known| known == kind))
        };
        let value = if is("boolean") {
            flag(value)
        } else if is("integer") {
            integer(value)
        } else if is("number") {
            money(value)
        } else {
            Ok(Value::from(value))
        };
        draft = draft.set(&name, Some(value.map_err(|why| why.replacen("it", &name, 1))?));
    }
    Ok(draft)
}

fn split_at_commas(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.extend(chars.next()),
            ',' => parts.push(std::mem::take(&mut part)),
            _ => part.push(c),
        }
    }
    parts.push(part);
    parts
}

/// Reads `group=RCD`, or `group=READ,CHANGE`, as a permission.
pub fn permission(text: &str) -> Result<Draft, String> {
    let (group, operations) =
        text.split_once('=').ok_or("it must be GROUP=OPERATIONS, such as a__v1__b=RC")?;
    let word = |word: &str| match word.to_ascii_uppercase().as_str() {
        "R" | "READ" => Ok("READ"),
        "C" | "CHANGE" => Ok("CHANGE"),
        "D" | "DELETE" => Ok("DELETE"),
        _ => Err(format!("\"{word}\" is not one of R, C, D, READ, CHANGE, DELETE")),
    };
    if operations.is_empty() {
        return Err(format!("it lets nobody do anything: give operations, such as {group}=RC"));
    }
    let letters = operations.chars().all(|c| "RCDrcd".contains(c));
    let operations: Result<Vec<&str>, String> = if letters {
        operations.chars().map(|c| word(&c.to_string())).collect()
    } else {
        operations.split(',').map(|text| word(text.trim())).collect()
    };
    let draft = Draft::default().set("permittableEndpointGroupIdentifier", Some(group));
    Ok(draft.set("allowedOperations", Some(operations?)))
}

/// Reads `catalog/field=value` as a custom value.
pub fn custom_value(text: &str) -> Result<Draft, String> {
    let parts = text.split_once('=').and_then(|(path, value)| Some((path.split_once('/')?, value)));
    let ((catalog, field), value) = parts.ok_or("it must be CATALOG/FIELD=VALUE")?;
    Ok(Draft::default()
        .set("catalogIdentifier", Some(catalog))
        .set("fieldIdentifier", Some(field))
        .set("value", Some(value)))
}

/// Reads `2001-12-31` as an object of year, month and day.
pub fn date_parts(text: &str) -> Result<Draft, String> {
    let (year, month, day) = date(text)?.parts();
    Ok(Draft::default().set("year", Some(year)).set("month", Some(month)).set("day", Some(day)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::definitions::{Charge, Currency, Term};
    use mfa_shared::api::offices::Address;
    use serde_json::json;

    #[test]
    fn pairs_are_split_at_commas_that_are_not_escaped() {
        let read = Value::from(pairs::<Address>(r"street=1 Main St\, rear,postal-code=007").unwrap());
        assert_eq!(read, json!({ "street": "1 Main St, rear", "postalCode": "007" }));
        assert!(pairs::<Address>("street").is_err());
    }

    #[test]
    fn pairs_take_the_types_of_their_object_and_others_are_refused() {
        let charge = Value::from(pairs::<Charge>("name=7,amount=2.00,proportional=false").unwrap());
        assert_eq!(charge.to_string(), r#"{"name":"7","amount":2.00,"proportional":false}"#);
        let term = Value::from(pairs::<Term>("period=12,time-unit=YEAR").unwrap());
        assert_eq!(term, json!({ "period": 12, "timeUnit": "YEAR" }));
        assert_eq!(pairs::<Currency>("scale=two").unwrap_err(), "scale must be a whole number");
        let mistyped = pairs::<Charge>("proportonal=true").unwrap_err();
        assert_eq!(mistyped, "there is no proportonal: did you mean proportional?");
        let twice = pairs::<Address>("street=a,city=b,street=c").unwrap_err();
        assert_eq!(twice, "street is given twice");
        assert!(pairs::<Address>("mobile=024").unwrap_err().starts_with("there is no mobile among street,"));
    }

    #[test]
    fn a_custom_value_may_hold_any_sign_after_the_first_equals() {
        let read = custom_value("kyc/source=a=b/c").unwrap();
        assert_eq!(read.text("catalogIdentifier"), Some("kyc"));
        assert_eq!(read.text("value"), Some("a=b/c"));
        assert!(custom_value("kyc=1").is_err());
    }
}
