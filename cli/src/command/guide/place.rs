//! Places of answers in the body that they are parts of.

use serde_json::{Map, Value};

/// Puts a value at a pointer and makes the objects and lists on the way.
pub(super) fn place(body: &mut Value, pointer: &str, value: Value) {
    let mut at = body;
    for step in pointer.split('/').skip(1) {
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            if !at.is_array() {
                *at = Value::Array(Vec::new());
            }
            let Value::Array(elements) = at else { return };
            let index = step.parse().unwrap_or(0);
            if elements.len() <= index {
                elements.resize(index + 1, Value::Object(Map::new()));
            }
            at = &mut elements[index];
        } else {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[step];
        }
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_placed_at_its_pointer() {
        let mut body = json!({});
        place(&mut body, "/address/city", json!("Accra"));
        place(&mut body, "/contacts/0/type", json!("MOBILE"));
        place(&mut body, "/contacts/0/value", json!("+233"));
        let expected =
            json!({ "address": { "city": "Accra" }, "contacts": [{ "type": "MOBILE", "value": "+233" }] });
        assert_eq!(body, expected);
    }
}
