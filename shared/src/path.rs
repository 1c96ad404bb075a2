//! Paths of requests: split at `/` first, then each segment is percent-decoded once, here and nowhere else.

/// Fills the parameters of a path into their places, percent-encoded.
pub fn render(path: &str, params: &[&str]) -> String {
    let mut params = params.iter();
    let mut out = String::new();
    for segment in segments(path) {
        out.push('/');
        let value = if segment.starts_with('{') { params.next() } else { None };
        match value {
            Some(value) => out.push_str(&percent_encode(value)),
            None => out.push_str(segment),
        }
    }
    out
}

/// The segments of a path of the table.
pub fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').skip(1)
}

/// The names of the parameters of a path of the table.
pub fn path_params(path: &str) -> impl Iterator<Item = &str> {
    segments(path).filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// Splits the path of a request: one slash at the end means nothing, an empty segment inside or text that
/// is no percent-encoded UTF-8 names nothing.
pub fn split(path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix('/')?;
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Some(Vec::new());
    }
    path.split('/').map(|segment| percent_decode(segment).filter(|s| !s.is_empty())).collect()
}

/// Decodes `%XX`; `None` for a broken one, or where the bytes are not UTF-8.
pub fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let value = digit(bytes.next())? * 16 + digit(bytes.next())?;
            out.push(u8::try_from(value).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Encodes all but the unreserved characters of RFC 3986; `.` and `..` whole, because a segment of that
/// text would be taken for a step.
pub fn percent_encode(text: &str) -> String {
    let dots = matches!(text, "." | "..");
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') || (byte == b'.' && !dots) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_is_split_first_and_decoded_once() {
        assert_eq!(split("/a%2Fb/c%2520/").unwrap(), ["a/b", "c%20"]);
        assert_eq!(split("/").unwrap(), Vec::<String>::new());
        for nothing in ["/a//b", "/a%", "/a%2", "/a%zz", "/%ff", "a"] {
            assert_eq!(split(nothing), None, "{nothing}");
        }
        assert_eq!(render("/offices/{office}/address", &["a/b é"]), "/offices/a%2Fb%20%C3%A9/address");
    }

    proptest! {
        #[test]
        fn every_parameter_comes_back_from_its_path(value in "\\PC{1,40}") {
            let path = render("/customers/{customer}/portrait", &[&value]);
            let segments = vec!["customers".to_owned(), value, "portrait".to_owned()];
            prop_assert_eq!(split(&path).unwrap(), segments);
        }
    }
}
