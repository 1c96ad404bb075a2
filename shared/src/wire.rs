//! What a request carries and what an answer is.
//!
//! A row of the endpoint table names one of the bodies and one of the answers below; both sides of the
//! wire derive everything from that: how to read, how to write, which content type, what OpenAPI says.

use crate::arrived::Arrived;
use crate::fault::{AMBIGUOUS_BODY, Fault, INVALID_PARAMETER, MALFORMED_BODY};
use crate::node::Node;
use crate::object::{Nested, Object, nested, reference};
use crate::path::percent_encode;
pub use crate::query::Listed;
use crate::query::{Parameters, Params};
use crate::rule::{List, Rule, check_body, flag, list};
pub use crate::shape::{BodyKind, BodyShape};
use crate::time::Date;
use serde::Serialize;
use serde_json::{Value, json};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Content type of JSON answers.
pub const JSON_TYPE: &str = "application/json;charset=UTF-8";
/// Content type of form parameters in a body.
pub const FORM_TYPE: &str = "application/x-www-form-urlencoded";
/// Content type of lists that are streamed, one record a line.
pub const NDJSON_TYPE: &str = "application/x-ndjson";
/// Content type of failures.
pub const PROBLEM_TYPE: &str = "application/problem+json;charset=UTF-8";

/// A request as it arrived, before any rule.
#[derive(Debug)]
pub struct RawBody<'a> {
    /// The query string.
    pub params: &'a Params,
    /// The bytes of the body.
    pub bytes: &'a [u8],
    /// What has arrived of a multipart form.
    pub form: Option<&'a Arrived>,
    /// Whether the content type says JSON, for a body that may also be a form.
    pub json: bool,
    /// The present day in UTC.
    pub today: Date,
    /// The body as JSON, once somebody has asked for it.
    parsed: OnceLock<Result<Arc<Node>, String>>,
}

impl<'a> RawBody<'a> {
    /// A body that is no form, if there is one at all.
    pub fn new(params: &'a Params, bytes: &'a [u8], today: Date) -> Self {
        Self { params, bytes, form: None, json: true, today, parsed: OnceLock::new() }
    }

    /// The same with what has arrived of a form.
    pub fn with_form(self, form: Option<&'a Arrived>) -> Self {
        Self { form, ..self }
    }

    /// The same, where the content type may say something else than JSON.
    pub fn typed(self, json: bool) -> Self {
        Self { json, ..self }
    }

    /// The body as JSON. It is parsed once, however many look at it.
    pub fn node(&self) -> Result<&Arc<Node>, Fault> {
        let parsed = self.parsed.get_or_init(|| Node::parse(self.bytes).map(Arc::new));
        parsed.as_ref().map_err(|why| Fault::new(MALFORMED_BODY, why.clone()))
    }
}

/// A request as a client sends it.
#[derive(Debug, Default, PartialEq)]
pub struct Outgoing {
    /// Query parameters.
    pub query: Vec<(&'static str, String)>,
    /// Content type and bytes, where there is a body.
    pub body: Option<(std::borrow::Cow<'static, str>, Vec<u8>)>,
}

/// What a request of one endpoint carries.
pub trait Body: Sized + Send + Sync + 'static {
    /// The body as table data.
    const SHAPE: BodyShape;
    /// Reads and checks it.
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault>;
    /// Writes it.
    fn write(&self) -> Outgoing;
}

/// Nothing is sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Body for Nothing {
    const SHAPE: BodyShape = BodyShape::parameters(BodyKind::None, Vec::new);
    fn read(_: &RawBody<'_>) -> Result<Self, Fault> {
        Ok(Self)
    }
    fn write(&self) -> Outgoing {
        Outgoing::default()
    }
}

/// Query parameters.
#[derive(Debug, Clone, Default)]
pub struct Query<P>(pub P);

impl<P: Parameters> Body for Query<P> {
    const SHAPE: BodyShape = BodyShape::parameters(BodyKind::None, P::docs);
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        P::read(raw.params).map(Self)
    }
    fn write(&self) -> Outgoing {
        Outgoing { query: self.0.write(), body: None }
    }
}

/// Form parameters, of the query string and of the body together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Form<P>(pub P);

impl<P: Parameters> Body for Form<P> {
    const SHAPE: BodyShape = BodyShape::parameters(BodyKind::Form, P::docs);
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        let text = std::str::from_utf8(raw.bytes)
            .map_err(|_| Fault::new(INVALID_PARAMETER, "the form is not UTF-8"))?;
        P::read(&raw.params.with_form(text)).map(Self)
    }
    fn write(&self) -> Outgoing {
        let pairs = self.0.write();
        let pairs: Vec<_> =
            pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        Outgoing { query: Vec::new(), body: Some((FORM_TYPE.into(), pairs.join("&").into_bytes())) }
    }
}

/// A JSON object as body, or as answer of a single read.
#[derive(Debug, Clone, PartialEq)]
pub struct Json<T>(pub T);

impl<T: Object + Serialize + Send + Sync> Body for Json<T> {
    const SHAPE: BodyShape = BodyShape::json(|| Some(reference::<T>()));
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        read_json(&nested::<T>(), raw).map(Self)
    }
    fn write(&self) -> Outgoing {
        write_json(&self.0)
    }
}

/// A JSON object as body, or no body at all.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonIfAny<T>(pub Option<T>);

impl<T: Object + Serialize + Send + Sync> Body for JsonIfAny<T> {
    const SHAPE: BodyShape = <Json<T> as Body>::SHAPE;
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        if raw.bytes.iter().all(u8::is_ascii_whitespace) {
            Ok(Self(None))
        } else {
            Json::<T>::read(raw).map(|Json(body)| Self(Some(body)))
        }
    }
    fn write(&self) -> Outgoing {
        self.0.as_ref().map_or_else(Outgoing::default, write_json)
    }
}

/// A JSON object that only some callers must send, or what is wrong with it. The operation tells those of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonOfSome<T>(pub Result<Option<T>, Fault>);

impl<T: Object + Serialize + Send + Sync> Body for JsonOfSome<T> {
    const SHAPE: BodyShape = BodyShape { kind: BodyKind::JsonOfSome, ..<Json<T> as Body>::SHAPE };
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        Ok(Self(JsonIfAny::read(raw).map(|JsonIfAny(body)| body)))
    }
    fn write(&self) -> Outgoing {
        let body = self.0.as_ref().ok().and_then(Option::as_ref);
        body.map_or_else(Outgoing::default, write_json)
    }
}

/// Two kinds of object that one endpoint takes, distinguished by the names of their properties.
pub trait Alternative<B>: Object {
    /// Names that only the first kind has.
    const ONLY: &'static [&'static str];
    /// Names that only the other kind has.
    const ONLY_OTHER: &'static [&'static str];
}

/// A JSON object of one of two kinds as body. With names of neither kind it is one of the first.
#[derive(Debug, Clone, PartialEq)]
pub enum OneOf<A, B> {
    /// An object of the first kind.
    First(A),
    /// An object of the other kind.
    Other(B),
}

impl<A, B> Body for OneOf<A, B>
where
    A: Alternative<B> + Serialize + Send + Sync,
    B: Object + Serialize + Send + Sync,
{
    const SHAPE: BodyShape =
        BodyShape::json(|| Some(json!({ "oneOf": [reference::<A>(), reference::<B>()] })));
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        let body = raw.node()?;
        let first_of = |names: &[&'static str]| match &**body {
            Node::Object(properties) => {
                names.iter().find(|name| properties.iter().any(|(given, _)| given == *name)).copied()
            }
            _ => None,
        };
        match (first_of(A::ONLY), first_of(A::ONLY_OTHER)) {
            (Some(one), Some(other)) => {
                let detail = format!("the body has \"{one}\" and \"{other}\", which no one record has");
                Err(Fault::new(AMBIGUOUS_BODY, detail))
            }
            (None, Some(_)) => check_json(&nested::<B>(), body, raw.today).map(Self::Other),
            _ => check_json(&nested::<A>(), body, raw.today).map(Self::First),
        }
    }
    fn write(&self) -> Outgoing {
        match self {
            Self::First(first) => write_json(first),
            Self::Other(other) => write_json(other),
        }
    }
}

/// A JSON array as body.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonList<T>(pub Vec<T>);

impl<T: Object + Serialize + Send + Sync> Body for JsonList<T> {
    const SHAPE: BodyShape = BodyShape::json(|| Some(array_of(reference::<T>())));
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        let rule: List<Nested<T>> = list(nested(), usize::MAX);
        read_json(&rule, raw).map(Self)
    }
    fn write(&self) -> Outgoing {
        write_json(&self.0)
    }
}

/// A JSON boolean as body, or as answer of a single read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonFlag(pub bool);

fn flag_schema() -> Option<Value> {
    Some(flag().schema())
}

impl Body for JsonFlag {
    const SHAPE: BodyShape = BodyShape::json(flag_schema);
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        read_json(&flag(), raw).map(Self)
    }
    fn write(&self) -> Outgoing {
        write_json(&self.0)
    }
}

fn read_json<R: Rule>(rule: &R, raw: &RawBody<'_>) -> Result<R::Out, Fault> {
    check_json(rule, raw.node()?, raw.today)
}

fn check_json<R: Rule>(rule: &R, body: &Node, today: Date) -> Result<R::Out, Fault> {
    check_body(rule, body, today).map_err(|refused| match refused {
        Ok(errors) => Fault::fields(errors),
        Err(why) => Fault::new(MALFORMED_BODY, why),
    })
}

/// Writes a JSON body.
#[expect(
    clippy::expect_used,
    reason = "the wire types have string keys only, so there is nothing that JSON could not hold"
)]
pub fn write_json<T: Serialize>(value: &T) -> Outgoing {
    let bytes = serde_json::to_vec(value).expect("wire types are JSON");
    Outgoing { query: Vec::new(), body: Some((JSON_TYPE.into(), bytes)) }
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// 202 without a body.
    Accepted,
    /// 200 without a body.
    Done,
    /// 201 without a body, with the place of the new record.
    Created,
    /// 200 with a JSON object, or with one bare value.
    Json,
    /// 200 with a JSON object, or 204 where there is none.
    JsonOrNone,
    /// 200 with a JSON array.
    List,
    /// 200 with a page envelope.
    Page,
    /// 200 with the bytes of an image.
    Image,
    /// 200 with a text.
    Text,
    /// 200 with the bytes of a file.
    File,
}

/// An answer as table data.
#[derive(Debug, Clone, Copy)]
pub struct AnswerShape {
    /// What it is.
    pub kind: AnswerKind,
    /// Its JSON schema.
    pub schema: fn() -> Option<Value>,
}

/// What an endpoint answers when it succeeds.
pub trait Answer: 'static {
    /// The answer as table data.
    const SHAPE: AnswerShape;
}

/// 202 without a body: the change is complete, durable and visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted;

impl Answer for Accepted {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Accepted, schema: || None };
}

/// 200 without a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done;
impl Answer for Done {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Done, schema: || None };
}

/// 200 with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainText;
impl Answer for PlainText {
    const SHAPE: AnswerShape =
        AnswerShape { kind: AnswerKind::Text, schema: || Some(json!({ "type": "string" })) };
}

impl Answer for JsonFlag {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Json, schema: flag_schema };
}

impl<T: Object> Answer for Json<T> {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Json, schema: || Some(reference::<T>()) };
}

/// 200 with an object, or 204 where the record has none.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonOrNone<T>(pub Option<T>);

impl<T: Object> Answer for JsonOrNone<T> {
    const SHAPE: AnswerShape =
        AnswerShape { kind: AnswerKind::JsonOrNone, schema: || Some(reference::<T>()) };
}

/// 200 with a plain array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<T>(pub Vec<T>);

impl<T: Object> Answer for Array<T> {
    const SHAPE: AnswerShape =
        AnswerShape { kind: AnswerKind::List, schema: || Some(array_of(reference::<T>())) };
}

fn array_of(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// 200 with a plain array of identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Answer for Names {
    const SHAPE: AnswerShape =
        AnswerShape { kind: AnswerKind::List, schema: || Some(array_of(json!({ "type": "string" }))) };
}

/// 200 with a page envelope: the records under their plural, `totalPages`, `totalElements`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page<T>(PhantomData<fn() -> T>);

impl<T: Listed> Answer for Page<T> {
    const SHAPE: AnswerShape =
        AnswerShape { kind: AnswerKind::Page, schema: || Some(page_of(T::PLURAL, reference::<T>())) };
}

fn page_of(plural: &str, record: Value) -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "properties": { plural: array_of(record), "totalPages": count, "totalElements": count },
        "required": [plural, "totalPages", "totalElements"],
    })
}
