//! Expressions of jq over what is printed (`--jq`).

use crate::failure::{Failure, Outcome};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, data, unwrap_valr};
use jaq_json::{Val, read};
use serde_json::Value;

type Data = data::JustLut<Val>;

/// An expression that has been read.
pub struct Expression {
    filter: Filter<Data>,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Expression")
    }
}

impl Expression {
    pub fn parse(text: &str) -> Outcome<Self> {
        let bad = |why: String| {
            Failure::usage(format!("\"{text}\" is not a jq expression: {why}"))
                .hint("an expression is like .[].identifier; see: mfa help output")
        };
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules = Loader::new(definitions).load(&arena, File { code: text, path: () });
        let modules = modules.map_err(|errors| bad(unreadable(&errors)))?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let unknown = errors.iter().flat_map(|(_, errors)| errors).map(|(name, _)| name.to_string());
            bad(format!("{} is not known", unknown.collect::<Vec<_>>().join(", ")))
        })?;
        Ok(Self { filter })
    }

    /// What the expression makes of a value, a line each: a text as it is, everything else as JSON.
    /// Numbers that it only passes on keep every digit.
    pub fn lines(&self, value: &Value) -> Outcome<String> {
        let fails = |error: String| Failure::usage(format!("the expression of --jq fails: {error}"));
        let input = read::parse_single(value.to_string().as_bytes()).map_err(|e| fails(e.to_string()))?;
        let mut lines = String::new();
        let context = Ctx::<Data>::new(&self.filter.lut, Vars::new([]));
        for result in self.filter.id.run((context, input)).map(unwrap_valr) {
            match result.map_err(|error| fails(error.to_string()))? {
                Val::TStr(text) => lines.push_str(&String::from_utf8_lossy(&text)),
                other => lines.push_str(&other.to_string()),
            }
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// Where the text cannot be parsed.
fn unreadable<P>(errors: &jaq_core::load::Errors<&str, P>) -> String {
    use jaq_core::load::Error;
    let places = errors.iter().flat_map(|(_, error)| match error {
        Error::Io(errors) => errors.iter().map(|(place, why)| format!("{place}: {why}")).collect::<Vec<_>>(),
        Error::Lex(errors) => errors.iter().map(|(wanted, place)| expected(wanted.as_str(), place)).collect(),
        Error::Parse(errors) => {
            errors.iter().map(|(wanted, place)| expected(wanted.as_str(), place)).collect()
        }
    });
    places.collect::<Vec<_>>().join(", ")
}

fn expected(wanted: &str, place: &str) -> String {
    match place {
        "" => format!("{wanted} is missing at its end"),
        place => format!("{wanted} is missing at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(expression: &str, json: &str) -> String {
        Expression::parse(expression).unwrap().lines(&serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn an_expression_gives_a_line_for_each_result() {
        assert_eq!(lines(".[].a", r#"[{"a":"x"},{"a":"y z"},{"a":null}]"#), "x\ny z\nnull\n");
        assert_eq!(lines("map(select(.b > 1)) | length", r#"[{"b":1},{"b":2}]"#), "1\n");
    }

    #[test]
    fn numbers_that_are_passed_on_keep_every_digit() {
        let json = r#"{"amount":123456789012345.10000,"key":123456789012345678901234567890}"#;
        assert_eq!(lines(".amount, .key", json), "123456789012345.10000\n123456789012345678901234567890\n");
    }

    #[test]
    fn a_bad_expression_is_refused_with_its_place() {
        let said = |text: &str| Expression::parse(text).unwrap_err().message.clone();
        assert!(said(".[").contains("is missing at"), "{}", said(".["));
        assert!(said("nonsense").contains("nonsense"), "{}", said("nonsense"));
    }
}
