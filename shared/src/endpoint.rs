//! The endpoint table: every endpoint is one row, and everything else is derived from it.
//!
//! The rows are in `api/<noun>.rs` and read like the tables of the service document. A path is split at
//! `/` first; then each segment is percent-decoded once, here and nowhere else.

use crate::fault::{Fault, MALFORMED_BODY};
pub use crate::path::{path_params, percent_decode, percent_encode, render, segments, split};
use crate::wire::{Answer, AnswerKind, AnswerShape, Body, BodyShape, RawBody};
use std::fmt;

/// A request method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Reads; HEAD is a GET without the body.
    Get,
    /// Creates or commands.
    Post,
    /// Changes.
    Put,
    /// Removes.
    Delete,
}

impl Method {
    /// The word of the request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }

    /// Whether the method only reads.
    pub fn reads(self) -> bool {
        self == Method::Get
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Name of the endpoint's type, such as `CreateOffice`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path with `{name}` for each parameter.
    pub path: &'static str,
    /// What a request carries.
    pub body: BodyShape,
    /// What it answers.
    pub answer: AnswerShape,
    pub(crate) application: &'static str,
    pub(crate) public: bool,
    /// The endpoint whose representation carries the `ETag` and is compared with `If-Match`.
    pub tag: Option<&'static str>,
}

impl Meta {
    /// The application that the row belongs to, for access control (`identity.md` section 4).
    pub fn application(&self) -> &'static str {
        self.application
    }

    /// Whether no token is needed (`identity.md` section 3).
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// Whether the endpoint answers many records, which can be streamed.
    pub fn lists(&self) -> bool {
        matches!(self.answer.kind, AnswerKind::List | AnswerKind::Page)
    }
}

/// One endpoint: its row, its types, its path parameters.
pub trait Endpoint: Sized + Send + Sync + 'static {
    /// The row of the table.
    const META: Meta;
    /// What a request carries.
    type Body: Body;
    /// What it answers.
    type Answer: Answer;
    /// Takes the decoded parameters of a path, in the order of the path.
    fn from_params(params: Vec<String>) -> Self;
    /// The parameters in the order of the path.
    fn params(&self) -> Vec<&str>;

    /// Refuses a parameter of the path that breaks a rule of its own (most name nothing instead).
    fn check_path(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Refuses a field of the body that does not go with the path.
    fn check_body(&self, _: &Self::Body) -> Result<(), Fault> {
        Ok(())
    }

    /// Reads and checks what a request carries. A parameter of the path is judged with the fields: after
    /// the syntax of the body, before its fields.
    fn read(&self, raw: &RawBody<'_>) -> Result<Self::Body, Fault> {
        let body = Self::Body::read(raw);
        match &body {
            Err(fault) if fault.kind == MALFORMED_BODY => {}
            _ => self.check_path()?,
        }
        body.and_then(|body| self.check_body(&body).map(|()| body))
    }

    /// The path with every parameter percent-encoded.
    fn path(&self) -> String {
        render(Self::META.path, &self.params())
    }
}

/// 201 without a body, with the address of the record that was made in `Location`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedAt<E>(pub E);

impl<E: Endpoint> Answer for CreatedAt<E> {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Created, schema: || None };
}

/// 202 without a body, with the address of the record that was made in `Location`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedAt<E>(pub E);

impl<E: Endpoint> Answer for AcceptedAt<E> {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Accepted, schema: || None };
}

/// Declares the endpoints of an application, `application "office-v1";` and then a row each:
/// `Name { parameter } METHOD "/path/{parameter}" Body => Answer, tag ReadEndpoint, path check, body fits;`
/// where `check` is a function that refuses parameters of the path, and `fits` one that refuses a body that
/// does not go with them. A row with `public true` at its end needs no token.
#[macro_export]
macro_rules! endpoints {
    (application $application:literal; $(
        $(#[doc = $doc:literal])*
        $name:ident { $($param:ident),* } $method:ident $path:literal
            $body:ty => $answer:ty
            $(, tag $tag:ident)? $(, path $check:ident)? $(, body $fits:ident)? $(, public $public:literal)?;
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $name {
                $(
                    #[doc = concat!("The `{", stringify!($param), "}` of the path.")]
                    pub $param: String,
                )*
            }

            impl $crate::endpoint::Endpoint for $name {
                const META: $crate::endpoint::Meta = $crate::endpoint::Meta {
                    name: stringify!($name),
                    doc: concat!($($doc),*).trim_ascii(),
                    method: $crate::endpoint::Method::$method,
                    path: $path,
                    body: <$body as $crate::wire::Body>::SHAPE,
                    answer: <$answer as $crate::wire::Answer>::SHAPE,
                    application: $application,
                    public: false $(|| $public)?,
                    tag: $crate::endpoints!(@tag $($tag)?),
                };
                type Body = $body;
                type Answer = $answer;

                #[allow(unused_variables, unused_mut, reason = "a path may have no parameters")]
                #[allow(clippy::expect_used, reason = "the router gives exactly the parameters of the path")]
                fn from_params(params: Vec<String>) -> Self {
                    let mut params = params.into_iter();
                    Self { $($param: params.next().expect("a parameter of the path")),* }
                }

                fn params(&self) -> Vec<&str> {
                    vec![$(&self.$param),*]
                }

                $(fn check_path(&self) -> Result<(), $crate::fault::Fault> {
                    $check(self.params().as_slice())
                })?

                $(fn check_body(&self, body: &Self::Body) -> Result<(), $crate::fault::Fault> {
                    $fits(self, body)
                })?
            }
        )*

        /// The rows of this noun.
        pub const ROWS: &[$crate::endpoint::Meta] =
            &[$(<$name as $crate::endpoint::Endpoint>::META),*];
    };
    (@tag) => { None };
    (@tag $tag:ident) => { Some(stringify!($tag)) };
}
