//! Finding records as people speak of them (`decisions.md` section 7).

use crate::fault::{Fault, INVALID_PARAMETER};
use crate::object::nested;
use crate::query::{ParamDoc, Parameters, Params, optional_param};
use crate::rule::*;
use crate::wire::{Json, Query};
use crate::{endpoints, object, words};
use serde_json::json;

/// Most characters of a text that is looked for.
pub const TEXT_LENGTH_MAX: usize = 256;
/// Most hits of an answer.
pub const HITS_MAX: u32 = 50;
/// Hits of an answer that is not asked for a number.
pub const HITS_DEFAULT: u32 = 20;

words! {
    /// Kind of a record that is found.
    pub enum HitKind {
        /// A customer.
        Customer = "customer",
        /// An employee.
        Employee = "employee",
        /// An office.
        Office = "office",
        /// A product instance.
        Account = "account",
    }
}

object! {
    /// A record that was found.
    pub struct Hit {
        /// Its kind.
        kind: HitKind = required(word()),
        /// Its identifier.
        identifier: String = required(line(256)),
        /// Its name as a person says it; that of an account is its customer's.
        label: String = required(line(1024)),
        /// The state of a customer or account.
        state: Option<String> = optional(line(32)),
        /// The office of a customer or employee; that of an account is its customer's, that of a branch the
        /// office above it.
        office: Option<String> = optional(line(32)),
        /// Names of the fields in which words were found.
        matched: Vec<String> = required(list(line(64), 16)),
        /// Whether a word differs in one letter.
        near: bool = required(flag()),
    }

    /// What was found.
    pub struct SearchHits {
        /// The records, best first.
        hits: Vec<Hit> = required(list(nested(), HITS_MAX as usize)),
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchQuery {
    /// Words, each of which is somewhere in a record, 1 to 256 characters.
    pub text: String,
    /// Kinds of records; none means every kind.
    pub kinds: Vec<HitKind>,
    /// Most hits, 1 to 50; null is 20.
    pub size: Option<u32>,
}

impl Parameters for SearchQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let text = params.text("text")?.to_owned();
        if text.chars().count() > TEXT_LENGTH_MAX {
            let detail = format!("the parameter text must have at most {TEXT_LENGTH_MAX} characters");
            return Err(Fault::new(INVALID_PARAMETER, detail));
        }
        let kinds = params.words("kind")?;
        let size = params.integer("size", 1, HITS_MAX)?;
        Ok(Self { text, kinds, size })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("text", self.text.clone())];
        pairs.extend(self.kinds.iter().map(|kind| ("kind", kind.as_str().to_owned())));
        pairs.extend(self.size.map(|size| ("size", size.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let text = json!({ "type": "string", "minLength": 1, "maxLength": TEXT_LENGTH_MAX });
        let kinds: Vec<_> = HitKind::WORDS.iter().map(|(word, _)| word).collect();
        let kind = json!({ "type": "array", "items": { "type": "string", "enum": kinds } });
        let size = json!({ "type": "integer", "minimum": 1, "maximum": HITS_MAX, "default": HITS_DEFAULT });
        vec![
            ParamDoc {
                name: "text",
                doc: "Words, each of which must be a part of some field of one record.",
                required: true,
                schema: text,
            },
            optional_param("kind", "Records of this kind only; can be repeated.", kind),
            optional_param("size", "Most hits.", size),
        ]
    }
}

endpoints! {
    application "admin-v1";
    /// Find customers, employees, offices and accounts by words, best first.
    Search {} Get "/search" Query<SearchQuery> => Json<SearchHits>;
}
