//! Forged assertions, each with the words with which it is refused.

use super::*;
use crate::domain::rsa::mersenne::Key;

const NOW: i64 = 1_900_000_000;
const HEADER: &str = r#"{"alg":"RS256","kid":"2031-05-06T10_11_12"}"#;
const INVALID: &str = "";

fn key() -> Key {
    Key::new(&[1279, 2203])
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn signed(key: &Key, header: &str, claims: &str) -> String {
    let algorithm = if header.contains("RS512") { Algorithm::Rs512 } else { Algorithm::Rs256 };
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = key.sign(algorithm, signed.as_bytes());
    format!("{signed}.{}", encode(signature))
}

fn judge(assertion: &str, registered: &Key) -> Result<Claims, String> {
    let judged = Unverified::parse(assertion).and_then(|unverified| {
        // The store knows one application with one key.
        if (unverified.issuer.as_str(), unverified.key.as_str()) != ("crm-v1", "2031-05-06T10_11_12") {
            return Err(Invalid);
        }
        let audiences = ["urn:mfa:instance:x1".to_owned(), "https://mfi.example".to_owned()];
        unverified.verify(&registered.public())?.claims(Timestamp::from_millis(NOW * 1000), &audiences)
    });
    judged.map_err(|refusal| match refusal {
        Invalid => INVALID.to_owned(),
        Claim(why) => why.to_owned(),
    })
}

/// Claims with one member replaced, removed (`""`) or added; the value is JSON text.
fn claims(changes: &[(&str, &str)]) -> String {
    let mut members = vec![
        ("iss", r#""crm-v1""#.to_owned()),
        ("aud", r#""urn:mfa:instance:x1""#.to_owned()),
        ("exp", (NOW + 300).to_string()),
        ("jti", r#""j1""#.to_owned()),
    ];
    for (name, value) in changes {
        members.retain(|(member, _)| member != name);
        if !value.is_empty() {
            members.push((name, (*value).to_owned()));
        }
    }
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn a_good_assertion_says_who_for_whom_and_where() {
    for header in
        [HEADER, &HEADER.replace("RS256", "RS512"), &HEADER.replace('{', r#"{"typ":"JWT","jku":"x","#)]
    {
        let expected = Claims {
            subject: None,
            intended: Vec::new(),
            jti: "j1".to_owned(),
            ends: Timestamp::from_millis((NOW + 300) * 1000),
        };
        assert_eq!(judge(&signed(&key(), header, &claims(&[])), &key()).unwrap(), expected);
    }
    let soon = (NOW + 29).to_string();
    for (changes, subject, intended) in [
        (&[("sub", "null")][..], None, &[][..]),
        (&[("sub", r#""crm-v1""#)], None, &[]),
        (&[("sub", r#""anna""#)], Some("anna"), &[]),
        (&[("aud", r#"["office-v1","https://mfi.example"]"#)], None, &["office-v1"]),
        (&[("aud", r#"["urn:mfa:instance:x1","https://mfi.example"]"#)], None, &[]),
        (&[("nbf", &soon), ("iat", &soon)], None, &[]),
        (&[("nbf", "null"), ("iat", "1.5")], None, &[]),
    ] {
        let judged = judge(&signed(&key(), HEADER, &claims(changes)), &key()).unwrap();
        assert_eq!(
            (judged.subject.as_deref(), judged.intended),
            (subject, intended.iter().map(|s| (*s).to_owned()).collect())
        );
    }
}

#[test]
fn claims_that_break_a_rule_are_refused_with_it() {
    let (expired, far) = ((NOW - 30).to_string(), (NOW + 331).to_string());
    let long = format!("\"{}\"", "j".repeat(256));
    let many: Vec<_> = (0..17).map(|i| format!("\"app-{i}\"")).collect();
    let many = format!("[\"urn:mfa:instance:x1\",{}]", many.join(","));
    let later = (NOW + 31).to_string();
    let not_own = "aud does not name this daemon";
    let no_text = "aud must be a string or an array of strings";
    let no_jti = "jti must be a string of 1 to 255 characters";
    for (changes, expected) in [
        (("aud", ""), no_text),
        (("aud", "7"), no_text),
        (("aud", r#"["urn:mfa:instance:x1",7]"#), no_text),
        (("aud", "[]"), not_own),
        (("aud", r#""urn:mfa:instance:x2""#), not_own),
        (("aud", r#"["office-v1"]"#), not_own),
        (("aud", &many), "aud names more than 16 applications"),
        (
            ("aud", r#"["urn:mfa:instance:x1","a b"]"#),
            "aud names something that is not an application identifier",
        ),
        (("exp", ""), "exp is missing"),
        (("exp", "null"), "exp is missing"),
        (("exp", r#""1900000300""#), "exp, nbf and iat must be numbers"),
        (("exp", "19e8"), "exp, nbf and iat must be plain seconds"),
        (("exp", "99999999999999999999"), "exp, nbf and iat must be plain seconds"),
        (("exp", &expired), "the assertion has expired"),
        (("exp", "-1"), "the assertion has expired"),
        (("exp", &far), "exp is more than 300 seconds ahead"),
        (("nbf", &later), "nbf is in the future"),
        (("iat", &later), "iat is in the future"),
        (("iat", "true"), "exp, nbf and iat must be numbers"),
        (("jti", ""), no_jti),
        (("jti", r#""""#), no_jti),
        (("jti", "7"), no_jti),
        (("jti", &long), no_jti),
        (("sub", "[]"), "sub must be a string"),
    ] {
        let assertion = signed(&key(), HEADER, &claims(&[changes]));
        assert_eq!(judge(&assertion, &key()).unwrap_err(), expected, "{changes:?}");
    }
}

/// HMAC-SHA256 with the public modulus as its secret: the forgery that trusts the header's algorithm.
fn hmac_signed(header: &str, claims: &str) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let signed = format!("{}.{}", encode(header), encode(claims));
    let secret = key().public().public_key_mod.as_str().to_owned();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", encode(mac.finalize().into_bytes()))
}

#[test]
fn forged_assertions_are_refused_without_a_reason() {
    let good = signed(&key(), HEADER, &claims(&[]));
    let parts: Vec<_> = good.split('.').collect();
    let [header, body, signature] = parts[..] else { panic!("three parts") };
    let with_header = |text: &str| signed(&key(), text, &claims(&[]));
    let with_claims = |text: &str| signed(&key(), HEADER, text);
    let none = HEADER.replace("RS256", "none");
    let hmac = HEADER.replace("RS256", "HS256");
    let other = encode(claims(&[("sub", r#""bert""#)]));
    let repeated = claims(&[]).replace("\"jti\"", "\"iss\":\"pay-v1\",\"jti\"");
    let long = claims(&[("jti", &format!("\"{}\"", "j".repeat(13_000)))]);
    let forged = [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        format!("{header}.{body}"),
        format!("{header}.{body}."),
        format!("{header}..{signature}"),
        format!(".{body}.{signature}"),
        format!("{good}.x"),
        format!("{header}.{other}.{signature}"),
        format!("{header}.{body}.{}", encode([0; 436])),
        format!("{header}.{body}.{signature}="),
        format!("{header}.{body}.{signature}AAAA"),
        format!("{header}.{body}.{}", signature.replace(['A', 'B', 'C'], "+")),
        format!("{}.{body}.{signature}", encode(&none)),
        format!("{}.{body}.", encode(&none)),
        with_header(&none),
        with_header(&hmac),
        hmac_signed(&hmac, &claims(&[])),
        with_header(&HEADER.replace("RS256", "rs256")),
        with_header(&HEADER.replace("RS256", "PS256")),
        with_header(&HEADER.replace("RS256", "RS384")),
        with_header(r#"{"kid":"2031-05-06T10_11_12"}"#),
        with_header(r#"{"alg":"RS256"}"#),
        with_header(r#"{"alg":"RS256","kid":7}"#),
        with_header(r#"{"alg":"RS256","kid":"2031-05-06T10_11_12Z"}"#),
        with_header(&HEADER.replace('}', r#","crit":["exp"]}"#)),
        with_header(&HEADER.replace('}', r#","crit":null}"#)),
        with_header(&HEADER.replace('}', r#","alg":"RS256"}"#)),
        with_header("[]"),
        with_claims("[]"),
        with_claims("\"crm-v1\""),
        with_claims(&claims(&[("iss", "")])),
        with_claims(&claims(&[("iss", r#""pay-v1""#)])),
        with_claims(&repeated),
        with_claims(&long),
        signed(&Key::new(&[1279, 2281]), HEADER, &claims(&[])),
        format!("{good} "),
        format!(" {good}"),
        good.replace('.', ".\n"),
    ];
    assert!(judge(&good, &key()).is_ok());
    for assertion in &forged {
        assert_eq!(
            judge(assertion, &key()),
            Err(INVALID.to_owned()),
            "{}",
            &assertion[..assertion.len().min(200)]
        );
    }
    let weak = Key::new(&[1279, 607]);
    assert_eq!(judge(&signed(&weak, HEADER, &claims(&[])), &weak), Err(INVALID.to_owned()));
}
