//! Uploads: a multipart form with one image, and parameters beside it. Contract: `customers.md` sections
//! 4.1 and 7.
//!
//! A client has the bytes at hand. The daemon passes them on to its store while they arrive; what is left
//! of them here is their hash.

pub use crate::arrived::{Arrived, ArrivedImage, ArrivedPart};
use crate::fault::{
    Fault, IMAGE_EMPTY, IMAGE_PART, IMAGE_TOO_LARGE, IMAGE_TYPE, INVALID_PARAMETER, MALFORMED_BODY,
};
use crate::identifier::shown;
use crate::query::{Parameters, Params};
use crate::rule::Word;
use crate::wire::{Answer, AnswerKind, AnswerShape, Body, BodyKind, BodyShape, Outgoing, RawBody};
use crate::words;
use serde_json::{Value, json};

words! {
    /// The kinds of image that are taken.
    pub enum ImageType {
        /// JPEG.
        Jpeg = "image/jpeg",
        /// PNG.
        Png = "image/png",
    }
}

impl ImageType {
    /// Reads the content type of a part; letter case and parameters do not matter.
    pub fn of_part(content_type: &str) -> Option<Self> {
        Self::find(content_type.split(';').next().unwrap_or_default().trim())
    }
}

/// What a form holds beside its image: query parameters or fields of the form.
pub trait Form: Parameters {
    /// Name of the part with the image.
    const PART: &'static str;
}

/// An image of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload<F> {
    /// Its other fields.
    pub form: F,
    /// Its kind.
    pub content_type: ImageType,
    /// Its bytes.
    pub image: Image,
}

/// The bytes of an image, or how to find them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// With a client: all of them.
    Bytes(Vec<u8>),
    /// With the daemon: they lie in its store.
    Arrived(ArrivedImage),
}

impl<F: Form> Body for Upload<F> {
    const SHAPE: BodyShape =
        BodyShape { kind: BodyKind::Upload(F::PART), schema: schema::<F>, params: F::docs };

    /// The checks in the order of the contract.
    fn read(raw: &RawBody<'_>) -> Result<Self, Fault> {
        let no_form = || Fault::new(MALFORMED_BODY, "the body holds no form");
        let arrived = raw.form.ok_or_else(no_form)?;
        if let Some(why) = &arrived.broken {
            return Err(Fault::new(MALFORMED_BODY, why.clone()));
        }
        let form = F::read(&parameters::<F>(raw.params, &arrived.fields)?)?;
        let (content_type, image) = check_part(F::PART, arrived)?;
        Ok(Self { form, content_type, image: Image::Arrived(image) })
    }

    fn write(&self) -> Outgoing {
        let bytes = match &self.image {
            Image::Bytes(bytes) => bytes.as_slice(),
            Image::Arrived(_) => &[],
        };
        let fields = self.form.write();
        let boundary = boundary(bytes, &fields);
        let mut body = Vec::with_capacity(bytes.len() + 512);
        for (name, value) in &fields {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(value.as_bytes());
            body.extend_from_slice(b"\r\n");
        }
        let part = F::PART;
        let kind = self.content_type;
        let disposition = format!("Content-Disposition: form-data; name=\"{part}\"; filename=\"{part}\"");
        let head = format!("--{boundary}\r\n{disposition}\r\nContent-Type: {kind}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={boundary}");
        Outgoing { query: Vec::new(), body: Some((content_type.into(), body)) }
    }
}

fn schema<F: Form>() -> Option<Value> {
    let mut properties = serde_json::Map::new();
    for field in F::docs() {
        properties.insert(field.name.to_owned(), field.schema);
    }
    let types: Vec<_> = ImageType::WORDS.iter().map(|(word, _)| *word).collect();
    let image = json!({ "type": "string", "format": "binary", "contentMediaType": types.join(", ") });
    properties.insert(F::PART.to_owned(), image);
    Some(json!({ "type": "object", "properties": properties, "required": [F::PART] }))
}

/// The parameters of the query string, and the fields of the form where the query string has none.
fn parameters<F: Form>(query: &Params, fields: &[(String, Option<String>)]) -> Result<Params, Fault> {
    let mut params = query.clone();
    for doc in F::docs() {
        let mut given = fields.iter().filter(|(name, _)| name == doc.name);
        let field = given.next();
        if given.next().is_some() {
            let detail = format!("the form field {} is given twice", doc.name);
            return Err(Fault::new(INVALID_PARAMETER, detail));
        }
        let Some((name, text)) = field.filter(|_| query.pairs().iter().all(|(n, _)| n != doc.name)) else {
            continue;
        };
        match text {
            Some(text) => params.push(name, text),
            None => return Err(Fault::new(INVALID_PARAMETER, format!("the form field {name} is not UTF-8"))),
        }
    }
    Ok(params)
}

fn check_part(name: &str, arrived: &Arrived) -> Result<(ImageType, ArrivedImage), Fault> {
    let part = arrived.part.as_ref().filter(|_| arrived.parts_count == 1);
    let Some(part) = part else {
        let count = arrived.parts_count;
        let detail = format!("the form must have one part named \"{name}\", and it has {count}");
        return Err(Fault::new(IMAGE_PART, detail));
    };
    let Some(kind) = part.content_type.as_deref().and_then(ImageType::of_part) else {
        let sent = match &part.content_type {
            Some(sent) => format!("not \"{}\"", shown(sent)),
            None => "and it is missing".to_owned(),
        };
        let detail = format!("the content type of part {name} must be image/jpeg or image/png, {sent}");
        return Err(Fault::new(IMAGE_TYPE, detail));
    };
    match part.image.length {
        0 => Err(Fault::new(IMAGE_EMPTY, format!("part {name} has no bytes"))),
        length if length > arrived.image_bytes_max => {
            let max = arrived.image_bytes_max;
            let detail = format!("part {name} has {length} bytes, and an image may have {max}");
            Err(Fault::new(IMAGE_TOO_LARGE, detail))
        }
        _ => Ok((kind, part.image.clone())),
    }
}

/// A boundary that does not occur in what it divides.
#[expect(clippy::expect_used, reason = "some number is not in a text of finite length")]
fn boundary(bytes: &[u8], fields: &[(&'static str, String)]) -> String {
    (0_u64..)
        .map(|n| format!("mfa-boundary-{n}"))
        .find(|boundary| {
            let found =
                |text: &[u8]| text.windows(boundary.len()).any(|window| window == boundary.as_bytes());
            !found(bytes) && !fields.iter().any(|(_, value)| found(value.as_bytes()))
        })
        .expect("a free boundary")
}

/// 200 with the bytes of an image, as they were uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageBytes;

impl Answer for ImageBytes {
    const SHAPE: AnswerShape = AnswerShape {
        kind: AnswerKind::Image,
        schema: || Some(json!({ "type": "string", "format": "binary" })),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::ParamDoc;
    use crate::time::Timestamp;

    #[derive(Debug, Clone, PartialEq)]
    struct Note(String);

    impl Parameters for Note {
        fn read(params: &Params) -> Result<Self, Fault> {
            Ok(Self(params.one("note")?.unwrap_or("none").to_owned()))
        }
        fn write(&self) -> Vec<(&'static str, String)> {
            vec![("note", self.0.clone())]
        }
        fn docs() -> Vec<ParamDoc> {
            vec![ParamDoc { name: "note", doc: "Any.", required: false, schema: json!({}) }]
        }
    }

    impl Form for Note {
        const PART: &'static str = "image";
    }

    /// A form that breaks no rule.
    fn good() -> Arrived {
        let image = ArrivedImage { sha256: "ab".to_owned(), length: 10 };
        let part = ArrivedPart { content_type: Some("IMAGE/png; q=1".to_owned()), image };
        Arrived { part: Some(part), parts_count: 1, image_bytes_max: 10, ..Arrived::default() }
    }

    fn read(query: &str, arrived: &Arrived) -> Result<Upload<Note>, &'static str> {
        let today = Timestamp::from_millis(0).day();
        let params = Params::parse(query);
        let raw = RawBody::new(&params, &[], today).with_form(Some(arrived));
        Upload::read(&raw).map_err(|fault| fault.kind.code)
    }

    #[test]
    fn the_checks_come_in_their_order() {
        let mut arrived = good();
        arrived.broken = Some("cut off".to_owned());
        arrived.fields = vec![("note".to_owned(), None)];
        arrived.parts_count = 2;
        let part = arrived.part.as_mut().unwrap();
        part.content_type = Some("image/jpg".to_owned());
        part.image.length = 0;
        assert_eq!(read("", &arrived), Err("malformed_body"));
        arrived.broken = None;
        assert_eq!(read("", &arrived), Err("invalid_parameter"));
        arrived.fields.clear();
        assert_eq!(read("note=a&note=b", &arrived), Err("invalid_parameter"));
        assert_eq!(read("", &arrived), Err("image_part"));
        arrived.parts_count = 1;
        assert_eq!(read("", &arrived), Err("image_type"));
        arrived.part.as_mut().unwrap().content_type = Some("image/jpeg".to_owned());
        assert_eq!(read("", &arrived), Err("image_empty"));
        arrived.part.as_mut().unwrap().image.length = 11;
        assert_eq!(read("", &arrived), Err("image_too_large"));
        arrived.part.as_mut().unwrap().image.length = 10;
        assert!(read("", &arrived).is_ok());
    }

    #[test]
    fn a_query_parameter_counts_before_a_field_of_the_form() {
        let mut arrived = good();
        arrived.fields = vec![("note".to_owned(), Some("field".to_owned()))];
        assert_eq!(read("", &arrived).unwrap().form, Note("field".to_owned()));
        assert_eq!(read("note=query", &arrived).unwrap().form, Note("query".to_owned()));
        assert_eq!(read("note=", &arrived).unwrap().form, Note(String::new()));
        arrived.fields[0].1 = None;
        assert_eq!(read("note=query", &arrived).unwrap().form, Note("query".to_owned()));
        arrived.fields.push(arrived.fields[0].clone());
        assert_eq!(read("note=query", &arrived), Err("invalid_parameter"), "twice in the form");
    }

    #[test]
    fn the_kinds_of_image() {
        for good in ["image/jpeg", "Image/JPEG", "image/png;x=y", " image/png ; a"] {
            assert!(ImageType::of_part(good).is_some(), "{good}");
        }
        for bad in ["", "image/jpg", "image/*", "image/gif", "text/plain", "image/jpegs", "jpeg"] {
            assert_eq!(ImageType::of_part(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_boundary_does_not_occur_in_what_it_divides() {
        assert_eq!(boundary(b"mfa-boundary-0", &[("note", "mfa-boundary-1".to_owned())]), "mfa-boundary-2");
    }
}
