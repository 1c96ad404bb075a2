//! Entity tags: `ETag`, `If-Match`, `If-None-Match`.

use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;
use warp::http::HeaderMap;

/// A moment as HTTP writes it, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn http_date(at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default();
    let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
    // It fails only for years of which HTTP cannot speak.
    printer.timestamp_to_rfc9110_string(&moment).unwrap_or_default()
}

/// Records without which a deletion is fine, so that no tag can match where they are missing.
const MAY_BE_MISSING: &[&fault::Kind] = &[fault::PORTRAIT_NOT_FOUND, fault::SCAN_NOT_FOUND];

/// The present tag for a comparison with `If-Match`; `makes` says that the request makes what is missing.
pub fn present(read: Result<String, Fault>, makes: bool) -> Result<String, Fault> {
    read.map_err(|fault| {
        if MAY_BE_MISSING.contains(&fault.kind) || makes && fault.kind.status == 404 {
            Fault::new(fault::PRECONDITION_FAILED, format!("{}, so no tag matches", fault.detail))
        } else {
            fault
        }
    })
}

/// The tags of a conditional header, all its lines joined; `None` where it was not sent.
pub fn listed(headers: &HeaderMap, name: &str) -> Option<Vec<String>> {
    let mut tags = Vec::new();
    let mut given = false;
    for line in headers.get_all(name) {
        given = true;
        tags.extend(String::from_utf8_lossy(line.as_bytes()).split(',').map(|tag| tag.trim().to_owned()));
    }
    given.then_some(tags)
}

/// Refuses a write that names none of the present tag; weak tags never match.
pub fn check_match(tags: &[String], present: &str) -> Result<(), Fault> {
    if tags.iter().any(|tag| tag == "*" || tag == present) {
        return Ok(());
    }
    let detail = "the record has changed since it was read: its tag is not the one in If-Match";
    Err(Fault::new(fault::PRECONDITION_FAILED, detail))
}

/// Whether a read may answer 304: for reads weak tags count like strong ones.
pub fn none_match(tags: &[String], present: &str) -> bool {
    tags.iter().any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_strong_tag_of_the_list_may_match_and_weak_ones_never_do() {
        let tag = "\"0123456789abcdef\"";
        let matches = |tags: &[&str]| {
            check_match(&tags.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>(), tag).is_ok()
        };
        assert!(matches(&["\"x\"", tag]) && matches(&["*"]));
        assert!(!matches(&[]) && !matches(&["\"x\""]) && !matches(&[&format!("W/{tag}")]));
        assert!(none_match(&[format!("W/{tag}")], tag));
    }
}
