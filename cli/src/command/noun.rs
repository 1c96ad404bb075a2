//! What the command line knows about one kind of record. Each noun describes itself in such a record, in the
//! file of its name, and the verbs that are the same for all nouns are made from it.

pub use crate::command::flags::{Drafts, Flags};

use crate::command::verb::Node;
use crate::failure::Outcome;
use crate::input::{self, Row};
use crate::output::MASK;
use crate::output::views::{RESULT, View};
use clap::Arg;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Meta, path_params};
use mfa_shared::object::Object;
use mfa_shared::wire::Json;
use serde::Serialize;
use serde_json::Value;

/// Where help shows a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// People and the offices that they belong to.
    People,
    /// Products, accounts and books.
    Money,
    Counter,
    /// Who may do what.
    Access,
    /// The daemon and its machine.
    Machine,
    /// What helps with all of it.
    Tools,
}

impl Section {
    /// Every section with its title, in the order in which help shows them.
    pub const ALL: [(Self, &str); 6] = [
        (Self::People, "People"),
        (Self::Money, "Money"),
        (Self::Counter, "Counter"),
        (Self::Access, "Access"),
        (Self::Machine, "Machine"),
        (Self::Tools, "Tools"),
    ];
}

pub struct Noun {
    /// Where help shows it.
    pub section: Section,
    /// The word for it, such as `customers`; `gateways email` for one inside another.
    pub typed: &'static str,
    /// Other words for it, separated by spaces.
    pub alias: &'static str,
    pub about: &'static str,
    /// One of its records, in words.
    pub singular: &'static str,
    /// What the audit trail calls one; empty where no verb shows its history.
    pub history: &'static str,
    /// The noun whose identifier leads the path of its list.
    pub of: Option<&'static Noun>,
    /// The endpoint that lists its records.
    pub list: Option<&'static Meta>,
    /// The endpoint that reads one.
    pub read: Option<&'static Meta>,
    /// The endpoint that makes one, and the flags of `create`; none where the noun has a verb of its own.
    pub create: Option<Row>,
    pub creates: Option<Flags>,
    /// The endpoint that changes one, and the flags of `update`.
    pub change: Option<Row>,
    pub updates: Option<Flags>,
    /// The verbs that change the state of one.
    pub commands: Option<Commands>,
    /// The body of a change, from a whole record.
    pub change_body: fn(&Value) -> Value,
    /// The endpoint that deletes one.
    pub delete: Option<&'static Meta>,
    /// The list that has every record, where the usual one has only some, and its query.
    pub every: Option<(&'static Meta, &'static [(&'static str, &'static str)])>,
    /// The property that names a record.
    pub key: &'static str,
    /// Properties that are in the path of the endpoints and not in the body.
    pub within: &'static [&'static str],
    /// The columns of a record.
    pub view: &'static View,
    /// The property that holds its secret, which reads cover; empty where it has none.
    pub secret: &'static str,
    /// What a deletion takes along, in words.
    pub with: &'static str,
    /// Whether a deletion is tried before the user is asked, because records in use are not deleted.
    pub tried: bool,
    /// Whether `edit` opens a record in the editor.
    pub edited: bool,
    /// Arguments of commands that name such a record, in addition to the parameter of its path.
    pub arguments: &'static [&'static str],
    /// Words in the names of fields that name such a record.
    pub fields: &'static [&'static str],
    /// Fields that may name such a record although it does not exist.
    pub free: &'static [&'static str],
    /// The code of the fault for a missing one, without `_not_found`; that of the path by default.
    pub missing: &'static str,
    /// The noun that lists its identifiers, if it is a different one.
    pub among: Option<&'static Noun>,
    /// What the search calls one.
    pub searched: Option<HitKind>,
    /// How its records travel in bulk.
    pub import: Option<Import>,
    /// How a file describes its records.
    pub apply: Option<Apply>,
    /// Records for the examples of its verbs.
    pub samples: Samples,
    /// Its own verbs. One that is called like a verb of all nouns takes its place.
    pub verbs: &'static [Node],
    /// Nouns inside it.
    pub parts: &'static [&'static Noun],
}

/// Verbs of which each sends a word of its own to the same endpoint.
pub struct Commands {
    pub row: Row,
    /// The property that holds the word, which is the verb in capital letters.
    pub property: &'static str,
    /// The property and flag of a remark; empty where there is none.
    pub remark: &'static str,
    pub verbs: &'static [CommandVerb],
}

/// One of them.
#[derive(Clone, Copy)]
pub struct CommandVerb {
    pub name: &'static str,
    /// What happened to the record.
    pub done: &'static str,
    pub about: &'static str,
    /// The question before something ends, with `{}` for the record; empty where nothing ends.
    pub question: &'static str,
    pub examples: &'static [&'static str],
}

/// A verb that ends nothing, without its examples.
pub const fn command(name: &'static str, done: &'static str, about: &'static str) -> CommandVerb {
    CommandVerb { name, done, about, question: "", examples: &[] }
}

impl CommandVerb {
    pub const fn asking(self, question: &'static str) -> Self {
        Self { question, ..self }
    }

    pub const fn examples(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }
}

/// Records of the sample institution that examples name, by the words of their paths.
#[derive(Debug)]
pub struct Samples {
    /// One that is read and edited.
    pub one: &'static str,
    /// One that is deleted.
    pub deleted: &'static str,
    /// An expression of sed that changes the first.
    pub edit: &'static str,
}

/// How records travel in bulk.
#[derive(Debug)]
pub struct Import {
    pub plural: &'static str,
    /// Columns that name a record in the report; the last one is its identifier.
    pub id: &'static [&'static str],
    /// Informational columns of an export, which an import ignores.
    pub computed: &'static [&'static str],
    /// Whether a row may refer to an earlier one, so that no batch overtakes another.
    pub ordered: bool,
    /// Rows that travel in one batch.
    pub rows_max: usize,
    /// Whether a row may change an existing record.
    pub changes: bool,
    /// Whether a row can only change an existing record, because it lacks what a new one needs.
    pub only_change: fn(&Value) -> bool,
    /// A row that works, for the template.
    pub example: &'static [(&'static str, &'static str)],
    pub examples: &'static [&'static str],
    /// The same for the export.
    pub export_examples: &'static [&'static str],
}

/// Most imports.
pub const IMPORT: Import = Import {
    plural: "",
    id: &["identifier"],
    computed: &[],
    ordered: false,
    rows_max: 500,
    changes: true,
    only_change: |_| false,
    example: &[],
    examples: &[],
    export_examples: &[],
};

/// How a file describes records.
#[derive(Debug)]
pub struct Apply {
    /// The value of `kind:`.
    pub kind: &'static str,
    /// Its place among the kinds, by which records are sent that do not depend on each other.
    pub place: u8,
    /// Properties that reads leave out, so that they are never compared.
    pub unseen: &'static [&'static str],
    /// Properties that other records are named in, with their kinds: `*` is every element of a list.
    pub references: &'static [(&'static str, &'static str)],
    /// A record as a read shows it, checked against the rules.
    pub shown: fn(&Value) -> Outcome<Value>,
    /// Properties with an endpoint of their own, which is sent for a value of them.
    pub own: &'static [Own],
}

/// Most kinds.
pub const APPLY: Apply =
    Apply { kind: "", place: 0, unseen: &[], references: &[], shown: |record| Ok(record.clone()), own: &[] };

/// A property that is set by an endpoint of its own.
#[derive(Debug)]
pub struct Own {
    pub property: &'static str,
    /// Whether creating a record leaves it out.
    pub always: bool,
    /// The endpoint and its body for a value; nothing where the body of the record takes it.
    pub set: fn(&Value) -> Option<Order>,
}

/// An endpoint with its body.
pub type Order = (&'static Meta, Option<Value>);

/// A value as an object of the wire, with every property of it.
pub fn held<T: Object + Serialize + Send + Sync>(value: &Value) -> Outcome<Value> {
    let Json(object) = input::checked::<Json<T>>(value)?;
    // Wire types have string keys only.
    Ok(serde_json::to_value(object).unwrap_or_default())
}

/// What most nouns have in common.
pub const NOUN: Noun = Noun {
    section: Section::Tools,
    typed: "",
    alias: "",
    about: "",
    singular: "",
    history: "",
    of: None,
    list: None,
    read: None,
    create: None,
    creates: None,
    change: None,
    updates: None,
    commands: None,
    change_body: Value::clone,
    delete: None,
    every: None,
    key: "identifier",
    within: &[],
    view: &RESULT,
    secret: "",
    with: "",
    tried: false,
    edited: false,
    arguments: &[],
    fields: &[],
    free: &[],
    missing: "",
    among: None,
    searched: None,
    import: None,
    apply: None,
    samples: Samples { one: "", deleted: "", edit: "" },
    verbs: &[],
    parts: &[],
};

impl Noun {
    /// The last word that is typed for it.
    pub fn name(&self) -> &'static str {
        self.typed.rsplit(' ').next().unwrap_or_default()
    }

    /// The parameters of the path of one record.
    pub fn address(&self) -> Vec<&'static str> {
        match self.read.or(self.delete) {
            Some(row) => path_params(row.path).collect(),
            None => vec![self.singular],
        }
    }

    /// The parameter that names one record.
    pub fn param(&self) -> &'static str {
        self.address().pop().unwrap_or_default()
    }

    /// The arguments that name a record.
    pub fn args(&self) -> Vec<Arg> {
        self.args_of(self.address())
    }

    /// The arguments for the parameters of a path.
    pub fn args_of(&self, params: impl IntoIterator<Item = &'static str>) -> Vec<Arg> {
        let own = self.param();
        let argument = |param: &'static str| {
            let (value, help) = match (param == own, self.key) {
                (true, "identifier") => ("ID".to_owned(), format!("Identifier of the {}", self.singular)),
                (true, key) => (key.to_uppercase(), format!("{} of the {}", upper(key), self.singular)),
                (false, _) => (param.to_uppercase(), format!("Identifier of the {param}")),
            };
            Arg::new(param).value_name(&*value.leak()).help(help).required(true)
        };
        params.into_iter().map(argument).collect()
    }

    /// Covers the secret of a record.
    pub fn cover(&self, record: &mut Value) {
        if let Some(secret) = record.get_mut(self.secret).filter(|secret| secret.is_string()) {
            *secret = Value::from(MASK);
        }
    }

    /// One of its records, with its article.
    pub fn one(&self) -> String {
        let article = if self.singular.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {}", self.singular)
    }
}

fn upper(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
