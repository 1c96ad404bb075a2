//! Papers as PDF: their pages, letters and pictures, and where papers go.

use super::papers::{ACCOUNT, command, counter, customer, mfa, pdf, poppler, statement, words};
use super::pictures::at_terminal;
use crate::support::counter::{Counter, plain_product};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

/// Dots of an inch in pictures that are kept.
const DOTS: &str = "50";
/// Of the dots of a picture so many in a thousand may look different, where another version of poppler draws.
const DIFFERENT_MAX: usize = 2;
/// What counts as different, of 255.
const SHADES: u8 = 96;

/// The width of a picture in dots, and their shades of each colour.
fn decoded(png: &[u8]) -> (usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut dots).unwrap();
    assert_eq!(frame.bit_depth, png::BitDepth::Eight);
    dots.truncate(frame.buffer_size());
    (frame.width as usize, dots)
}

/// Holds the first page of a PDF to the picture that is kept.
#[track_caller]
fn looks(name: &str, file: &str) {
    let drawn = poppler("pdftoppm", &["-png", "-r", DOTS, "-f", "1", "-l", "1", "-singlefile", file]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/papers").join(format!("{name}.png"));
    if std::env::var_os("MFA_TEST_ACCEPT").is_some() {
        fs::write(&kept, &drawn).unwrap();
    }
    let kept = fs::read(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
    let ((width, dots), (kept_width, kept_dots)) = (decoded(&drawn), decoded(&kept));
    assert_eq!((width, dots.len()), (kept_width, kept_dots.len()), "{name} has another size");
    let different = dots.iter().zip(&kept_dots).filter(|(one, other)| one.abs_diff(**other) > SHADES).count();
    assert!(different * 1000 <= dots.len() * DIFFERENT_MAX, "{name}: {different} of {} dots", dots.len());
    assert!(dots.iter().filter(|dot| **dot < SHADES).count() > 500, "{name} is empty");
}

#[test]
fn a_pdf_looks_as_it_is_kept() {
    let counter = counter();
    let world = &counter.world;
    for (paper, name) in [("a4", "statement-a4"), ("a5", "statement-a5"), ("80mm", "statement-80mm")] {
        let (file, _, pages) = pdf(world, &statement(&["--paper", paper]), name);
        assert_eq!(pages, 1);
        looks(name, &file);
    }
    counter.close("T1").is(202);
    let (file, ..) = pdf(world, &["teller", "reports", "print", "T1"], "report-a4");
    looks("report-a4", &file);
}

#[test]
fn the_text_of_a_pdf_can_be_read_and_the_same_paper_is_the_same_file() {
    let counter = counter();
    let (file, text, _) = pdf(&counter.world, &statement(&[]), "statement");
    for line in [
        "Ανατολή Microfinance",
        "Holder Ελένη Παπαδοπούλου-Χατζηγιαννάκη (eleni)",
        "Address Οδός Αθηνάς 4, Accra, Ghana",
        "Date Description Debit Credit Balance",
        "2031-05-07 cash deposit, charges 1.50 498.50",
        "Page 1 of 1",
    ] {
        assert!(words(&text).contains(&line.to_owned()), "{line}: {text}");
    }
    let bytes = fs::read(&file).unwrap();
    let again = command(&counter.world, &statement(&["--print", "pdf"])).output().unwrap();
    assert!(bytes == again.stdout, "{}", String::from_utf8_lossy(&again.stderr));
    let raw = String::from_utf8_lossy(&bytes);
    assert!(!raw.contains("CreationDate") && !raw.contains("/ID"), "a date or a number of its own");
    // Both weights are embedded, cut to what is used, and know their characters.
    let fonts = String::from_utf8(poppler("pdffonts", &[&file])).unwrap();
    assert_eq!(fonts.matches("CID TrueType      Identity-H       yes yes yes").count(), 2, "{fonts}");
    assert!(bytes.len() < 40_000, "{} bytes", bytes.len());
}

#[test]
fn two_hundred_lines_go_on_with_their_columns_on_each_page() {
    let counter = counter();
    for _ in 0..100 {
        counter.transact("CDPT", ACCOUNT, None, "10", "excluded").is(202);
    }
    let (_, text, pages) = pdf(&counter.world, &statement(&[]), "long");
    assert!(pages > 3, "{text}");
    let found: Vec<_> = text.split('\u{c}').filter(|page| !page.trim().is_empty()).collect();
    assert_eq!(found.len(), pages);
    for (i, page) in found.iter().enumerate() {
        let lines = words(page);
        assert!(lines.contains(&"Date Description Debit Credit Balance".to_owned()), "{page}");
        assert!(lines.contains(&format!("Page {} of {pages}", i + 1)), "{page}");
        assert!(lines.contains(&"Please report errors within 30 days.".to_owned()), "{page}");
        assert_eq!(i > 0, lines[0].starts_with("Account statement Ανατολή"), "{page}");
    }
    // No line is lost between two pages, and none is there twice.
    let days =
        |text: &str| words(text).into_iter().filter(|line| line.starts_with("2031-05-")).collect::<Vec<_>>();
    let lines = days(&text);
    assert_eq!(lines.len(), 1 + 1 + 2 + 2 + 2 + 200);
    assert_eq!(lines, days(&mfa(&counter.world, &statement(&[])).ok()));
    let (_, roll, pages) = pdf(&counter.world, &statement(&["--paper", "80mm"]), "roll");
    assert_eq!((pages, days(&roll).len()), (1, lines.len()));
}

#[test]
fn amounts_of_fifteen_digits_are_whole_on_every_paper() {
    let counter = Counter::active("1000");
    counter.define(&plain_product("great", "USD", 2));
    let account = counter.account_of("anna", "great");
    let mut request = Counter::request("ACCO", &account, "123456789012345.67");
    request["productIdentifier"] = json!("great");
    let quoted = counter.quote(&request);
    counter.finish("T1", &quoted, "command=CONFIRM").is(202);
    let line = ["statement", account.as_str(), "--from", "2031-05-06", "--to", "2031-05-31"];
    for paper in ["a4", "a5", "80mm"] {
        let line = [&line[..], &["--paper", paper]].concat();
        let (_, text, _) = pdf(&counter.world, &line, paper);
        let shown = mfa(&counter.world, &line).ok();
        let html = mfa(&counter.world, &[&line[..], &["--print", "html"]].concat()).ok();
        for text in [text, shown, html] {
            // Opened with it, its balance, the sum, and the balance at the end.
            assert_eq!(text.matches("123456789012345.67").count(), 4, "{text}");
        }
    }
}

#[test]
fn a_character_without_a_letter_is_named_and_has_a_replacement() {
    let counter = counter();
    customer(&counter.world, "boeki", "貿易", "Ltd", None);
    counter.account("boeki");
    let line = ["accounts", "list", "--customer", "boeki"];
    let (file, text, _) = pdf(&counter.world, &line, "boeki");
    assert!(words(&text).contains(&"Holder \u{fffd}\u{fffd} Ltd (boeki)".to_owned()), "{text}");
    let said = mfa(&counter.world, &[&line[..], &["--out", &file]].concat()).err;
    assert!(said.contains("has no letters for 易貿"), "{said}");
    let html = mfa(&counter.world, &[&line[..], &["--print", "html"]].concat()).ok();
    assert!(html.contains("貿易 Ltd"), "{html}");
}

#[test]
fn a_file_is_replaced_and_a_pipe_takes_the_bytes_as_they_come() {
    let counter = counter();
    let world = &counter.world;
    let place = world.dir.path().join("paper.pdf");
    fs::write(&place, "old").unwrap();
    let file = place.to_str().unwrap();
    let line = statement(&["--out", file, "-o", "json"]);
    let record = mfa(world, &line).json();
    let bytes = fs::read(&place).unwrap();
    let expected = json!({ "file": file, "form": "pdf", "paper": "a4", "bytes": bytes.len() });
    assert_eq!(record, expected);
    assert!(bytes.starts_with(b"%PDF-"));
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
    // A given form takes precedence over the one in a name.
    mfa(world, &statement(&["--out", file, "--print", "text"])).ok();
    assert!(fs::read_to_string(&place).unwrap().starts_with("Ανατολή Microfinance\n"));
    let pipe = world.dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let line = statement(&["--print", "pdf", "--out", pipe.to_str().unwrap()]);
    let writing = command(world, &line).stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(fs::read(&pipe).unwrap(), bytes);
    assert!(writing.wait_with_output().unwrap().status.success());
    let nowhere = world.dir.path().join("nowhere/paper.pdf");
    let said = mfa(world, &statement(&["--out", nowhere.to_str().unwrap()])).fails(1);
    assert!(said.contains("cannot write"), "{said}");
}

#[test]
fn a_pdf_is_refused_on_a_terminal_before_anything_is_read() {
    let counter = counter();
    let line = ["statement", "no-such-account", "--print", "pdf"];
    let ran = at_terminal(&counter.world, &line, &[]);
    assert_eq!(ran.exit, 2, "{}", ran.err);
    assert!(ran.err.contains("a PDF is not text") && ran.err.contains("--out FILE.pdf"), "{}", ran.err);
    // Nothing moves either where its receipt could not be printed.
    let line = ["teller", "deposit", "T1", "-a", ACCOUNT, "-m", "5", "--yes", "--print", "pdf"];
    assert_eq!(at_terminal(&counter.world, &line, &[]).exit, 2);
    let shown = at_terminal(&counter.world, &statement(&["--paper", "40", "--no-pager"]), &[]);
    assert!(shown.out.contains("Balance on 2031-05-31            1687.90"), "{}", shown.out);
}

#[test]
fn the_head_and_the_foot_of_papers_are_settings() {
    let counter = counter();
    let world = &counter.world;
    let config = world.dir.path().join("config.toml");
    let file = world.dir.path().join("head.txt");
    fs::write(&file, "1 High Street\n\nKumasi\n").unwrap();
    let text = format!(
        "institution = 'Kumasi Savings'\nletterhead_file = '{}'\npaper_footer = '''\nOne\nTwo'''\npaper = '40'\n",
        file.display()
    );
    fs::write(&config, text).unwrap();
    let with = |line: &[&str]| {
        let mut command = world.mfa(line);
        command.env("MFA_CONFIG", &config);
        command
    };
    let print = |variables: &[(&str, &str)]| {
        let mut command = with(&statement(&[]));
        command.envs(variables.iter().copied());
        crate::support::run::run(command)
    };
    let shown = print(&[]).ok();
    assert!(
        shown.starts_with("Kumasi Savings\n1 High Street\nKumasi\nAccra (accra)\n\nAccount statement\n"),
        "{shown}"
    );
    assert!(shown.ends_with(&format!("{}\nOne\nTwo\n", "-".repeat(40))), "{shown}");
    let shown = print(&[("MFA_LETTERHEAD", "2 Low Street"), ("MFA_PAPER", "80")]).ok();
    assert!(
        shown.starts_with("Kumasi Savings\n2 Low Street\nAccra") && shown.contains(&"-".repeat(80)),
        "{shown}"
    );
    let view = crate::support::run::run(with(&["config", "view", "--origin", "-o", "json"])).json();
    let setting =
        |name: &str| view.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!(setting("institution")["origin"], json!(format!("file {}", config.display())));
    assert_eq!(
        (&setting("receipt_paper")["value"], &setting("paper")["value"]),
        (&json!("80mm"), &json!("40"))
    );
    for (variable, value, said) in [
        ("MFA_PAPER", "a3", "\"a3\" is not a value of paper: it is one of a4, a5, 80mm, 80, 40"),
        ("MFA_LETTERHEAD_FILE", "/nowhere", "cannot read /nowhere"),
        ("MFA_PAPER_FOOTER", &"x\n".repeat(13), "paper_footer has 13 lines, and papers take 12"),
    ] {
        let refused = print(&[(variable, value)]).fails(2);
        assert!(refused.contains(said), "{refused}");
    }
    // Who prints nothing is not kept from work by the settings of papers.
    let mut list = with(&["accounts", "list", "--customer", "eleni"]);
    list.env("MFA_PAPER", "a3");
    crate::support::run::run(list).ok();
}
