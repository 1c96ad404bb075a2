//! A multipart form with an image, as far as it was read.

/// An image that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivedImage {
    /// SHA-256 of the bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Number of bytes.
    pub length: u64,
}

/// The part of a form that should hold the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivedPart {
    /// Its content type, as it was sent.
    pub content_type: Option<String>,
    /// Its bytes.
    pub image: ArrivedImage,
}

/// A multipart form that has arrived, as far as it is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrived {
    /// Why the rest of it could not be read.
    pub broken: Option<String>,
    /// The fields that the endpoint knows, each at most twice; no text where it was not UTF-8.
    pub fields: Vec<(String, Option<String>)>,
    /// The first part of the expected name.
    pub part: Option<ArrivedPart>,
    /// How many parts have the expected name.
    pub parts_count: u64,
    /// Most bytes of an image.
    pub image_bytes_max: u64,
}
