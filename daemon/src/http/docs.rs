//! `GET /docs`: the interface as a page for people, from this program alone. It lists every operation without
//! scripts, and with them an operation can be filled in and sent. Contract: `audit.md` section 5.

use super::reply::Reply;
use super::table::table;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use mfa_shared::endpoint::{Meta, segments};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

const SCRIPT: &str = include_str!("docs/page.js");
const STYLE: &str = include_str!("docs/page.css");

/// The bytes of the page. All answers share them, however many clients ask and do not read.
fn shown() -> Bytes {
    static PAGE: OnceLock<Bytes> = OnceLock::new();
    PAGE.get_or_init(|| page().into()).clone()
}

/// The page, which runs only its own script and speaks only to the daemon that it came from.
pub(super) fn page_for_people() -> Reply {
    static POLICY: OnceLock<String> = OnceLock::new();
    let policy = POLICY.get_or_init(|| {
        format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            source(SCRIPT),
            source(STYLE)
        )
    });
    let headers = vec![("content-security-policy".to_owned(), policy.clone())];
    let mut reply = Reply { headers, ..Reply::json(shown()) };
    reply.content_type = Some("text/html;charset=UTF-8".to_owned());
    reply
}

/// How a policy names a script or a style.
fn source(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn page() -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Interface of mfa</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">\n\
         <style>{STYLE}</style></head><body>\n\
         <h1>Interface of mfa {}</h1>\n\
         <p>The same for programs: <a href=\"openapi.json\">openapi.json</a>. What is sent from here is \
         carried out: <code>Dry-Run: true</code> only tries it.</p>\n\
         <header><label>Token \
         <input id=\"token\" autocomplete=\"off\" spellcheck=\"false\" size=\"30\"></label>\n\
         <label>Find <input id=\"filter\" type=\"search\" size=\"24\"></label>\n\
         <div>Send <a href=\"#CreateToken\">POST /token</a> for a token, or take that of \
         <code>mfa auth token</code>. It is gone with this page.</div></header>\n",
        env!("CARGO_PKG_VERSION")
    );
    let table = table();
    let mut rows: Vec<&Meta> = table.iter().map(|route| &route.meta).collect();
    // Rows of one path follow each other, so that the page is one section for each first word.
    rows.sort_by_key(|row| noun(row));
    for of_noun in rows.chunk_by(|one, other| noun(one) == noun(other)) {
        page += &format!("<section><h2>{}</h2>\n", noun(of_noun[0]));
        for row in of_noun {
            // The rows are texts of this program and hold nothing that HTML would take for its own.
            let Meta { name, method, path, doc, .. } = row;
            page += &format!(
                "<details id=\"{name}\" data-method=\"{method}\" data-path=\"{path}\">\
                 <summary><b>{method}</b> <code>{path}</code> {doc}</summary><div></div></details>\n"
            );
        }
        page += "</section>\n";
    }
    page + "<script>" + SCRIPT + "</script></body></html>\n"
}

/// The first word of a path.
fn noun(row: &Meta) -> &'static str {
    segments(row.path).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_the_same_bytes_of_memory() {
        assert!(std::ptr::eq(shown().as_ptr(), shown().as_ptr()));
    }

    #[test]
    fn the_script_and_the_style_cannot_end_their_element() {
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
    }
}
