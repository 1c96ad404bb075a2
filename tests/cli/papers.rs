//! Papers: statements, day reports, trial balances, lists and receipts as text, HTML and PDF. What is kept of
//! them is in `tests/papers`; `MFA_TEST_ACCEPT=1 cargo test --test mfa papers` writes it anew, to be read
//! before a commit.

use crate::support::counter::{Counter, plain_product};
use crate::support::run::{Ran, run};
use crate::support::world::World;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const ACCOUNT: &str = "eleni.9100.00001";
/// A holder whose name wants to be more than a name.
const MARKUP: &str = "<script>alert('x')</script> & Sons";

/// A counter at which Eleni has an account with movements.
pub fn counter() -> Counter {
    let counter = Counter::active("1000");
    let address =
        json!({ "street": "Οδός Αθηνάς 4", "city": "Accra", "countryCode": "GH", "country": "Ghana" });
    customer(&counter.world, "eleni", "Ελένη", "Παπαδοπούλου-Χατζηγιαννάκη", Some(address));
    customer(&counter.world, "olena", "Олена", "Ґудзь", None);
    assert_eq!(counter.account("eleni"), ACCOUNT);
    let other = counter.account("olena");
    let transact = |kind: &str, account: &str, to: Option<&str>, amount: &str, charges: &str| {
        counter.transact(kind, account, to, amount, charges).is(202);
    };
    transact("ACCO", ACCOUNT, None, "500", "included");
    transact("ACCO", &other, None, "200", "included");
    counter.world.clock.advance(86_400);
    transact("CDPT", ACCOUNT, None, "1250.50", "excluded");
    transact("CWDL", ACCOUNT, None, "20", "excluded");
    transact("ACCT", ACCOUNT, Some(&other), "40", "excluded");
    counter
}

pub fn customer(
    world: &World,
    identifier: &str,
    given: &str,
    surname: &str,
    address: Option<serde_json::Value>,
) {
    let body = json!({
        "identifier": identifier, "givenName": given, "surname": surname, "address": address,
        "assignedOffice": "accra", "applicationDate": "2031-05-01",
    });
    world.post("/customers", body.to_string()).is(202);
}

/// `mfa` with the settings of an institution.
pub fn command(world: &World, line: &[&str]) -> Command {
    let mut command = world.mfa(line);
    command.env("MFA_INSTITUTION", "Ανατολή Microfinance").env("MFA_OFFICE", "accra");
    command.env("MFA_LETTERHEAD", "12 Market Road, Accra\nTel. +233 30 123 4567");
    command.env("MFA_PAPER_FOOTER", "Please report errors within 30 days.");
    command
}

pub fn mfa(world: &World, line: &[&str]) -> Ran {
    run(command(world, line))
}

/// The line of a statement of the first days, and more.
pub fn statement<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["statement", ACCOUNT, "--from", "2031-05-06", "--to", "2031-05-31"], more].concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/papers")
}

/// Holds a text to the one that is kept.
#[track_caller]
fn same(name: &str, text: &str) {
    let file = folder().join(name);
    if std::env::var_os("MFA_TEST_ACCEPT").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(text == kept, "{name} was\n{kept}\nand is\n{text}");
}

/// A program of Debian's poppler-utils on a file; what it prints.
pub fn poppler(program: &str, arguments: &[&str]) -> Vec<u8> {
    let ran = Command::new(program).args(arguments).output();
    let ran =
        ran.unwrap_or_else(|error| panic!("{program} of poppler-utils is needed for this test: {error}"));
    assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

/// Prints a paper as a PDF; its file, its text as it is laid out, and its number of pages.
#[track_caller]
pub fn pdf(world: &World, line: &[&str], name: &str) -> (String, String, usize) {
    let file = world.dir.path().join(format!("{name}.pdf")).to_str().unwrap().to_owned();
    mfa(world, &[line, &["--out", &file]].concat()).ok();
    let text = String::from_utf8(poppler("pdftotext", &["-layout", &file, "-"])).unwrap();
    let facts = String::from_utf8(poppler("pdfinfo", &[&file])).unwrap();
    let pages = facts.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap();
    (file, text, pages.trim().parse().unwrap())
}

/// The words of each line that has some.
pub fn words(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_paper_on_stdout_is_alone_there_by_whatever_name() {
    let counter = counter();
    let printed = mfa(&counter.world, &statement(&["--print", "text"])).ok();
    for place in ["-", "/dev/stdout"] {
        assert_eq!(mfa(&counter.world, &statement(&["--print", "text", "--out", place])).ok(), printed);
    }
}

#[test]
fn a_statement_fits_80_60_and_40_columns() {
    let counter = counter();
    for (paper, columns) in [("80", 80), ("a5", 60), ("40", 40)] {
        let text = mfa(&counter.world, &statement(&["--paper", paper])).ok();
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        same(&format!("statement-{columns}"), &text);
    }
    let usual = mfa(&counter.world, &statement(&[])).ok();
    assert_eq!(usual, mfa(&counter.world, &statement(&["--paper", "a4", "--print", "text"])).ok());
}

#[test]
fn the_other_papers_are_text_as_well() {
    let counter = counter();
    let world = &counter.world;
    let text = |line: &[&str], paper: &str| mfa(world, &[line, &["--paper", paper]].concat()).ok();
    let balance = ["ledger", "trial-balance", "--as-of", "2031-05-31"];
    same("trial-balance-80", &text(&balance, "80"));
    same("trial-balance-40", &text(&balance, "40"));
    let accounts = ["accounts", "list", "--customer", "eleni"];
    same("accounts-80", &text(&accounts, "80"));
    same("accounts-40", &text(&accounts, "40"));
    counter.close("T1").is(202);
    let report = ["teller", "reports", "print", "T1"];
    same("report-80", &text(&report, "80"));
    same("report-40", &text(&report, "40"));
    // Without a flag of papers, a command shows its records as ever.
    assert!(mfa(world, &balance).ok().starts_with("account\tkind\tdebit\tcredit\n"));
}

#[test]
fn a_receipt_fits_a_roll_and_a_sheet() {
    let counter = counter();
    let listed = counter.world.get("/teller/T1/transactions").is(200).json();
    let withdrawal = listed.as_array().unwrap().iter().find(|one| one["transactionType"] == "CWDL").unwrap();
    let identifier = withdrawal["identifier"].as_str().unwrap();
    // Its identifier differs each time, and continues in a second line of a roll.
    let (head, tail) = identifier.split_at(27);
    let gap = format!("\n{}", " ".repeat(13));
    let receipt = |more: &[&str]| {
        let line = [&["teller", "receipt", "--teller", "T1", identifier], more].concat();
        let text = mfa(&counter.world, &line).ok();
        let text = text.replace(&format!("{head}{gap}{tail}"), &format!("{}{gap}xxxxx", "x".repeat(27)));
        text.replace(identifier, &"x".repeat(32))
    };
    same("receipt-40", &receipt(&[]));
    same("receipt-copy-80", &receipt(&["--paper", "a4"]));
}

#[test]
fn a_statement_of_quiet_days_has_two_balances_and_no_lines() {
    let counter = counter();
    let line = ["statement", ACCOUNT, "--from", "2031-06-01", "--to", "2031-06-30"];
    let text = mfa(&counter.world, &line).ok();
    let found = words(&text);
    assert!(found.contains(&"2031-06-01 opening balance 1687.90".to_owned()), "{text}");
    assert!(found.contains(&"total 0.00 0.00".to_owned()), "{text}");
    assert!(found.contains(&"Balance on 2031-06-30 1687.90".to_owned()), "{text}");
}

#[test]
fn a_printed_statement_has_the_days_of_the_time_zone_of_its_reader() {
    let counter = counter();
    let printed = |zone: &str| {
        let mut command = command(&counter.world, &["statement", ACCOUNT, "--to", "2031-05-31"]);
        command.env("TZ", zone);
        run(command).ok()
    };
    let opened = |zone: &str| {
        let text = printed(zone);
        let has =
            |day: &str| text.lines().any(|line| line.starts_with(day) && line.contains("account opening"));
        let period = text.lines().find(|line| line.starts_with("Period")).unwrap_or_default().to_owned();
        (["2031-05-05", "2031-05-06", "2031-05-07"].map(has), period)
    };
    let (days, period) = opened("WEST+13");
    assert_eq!(days, [true, false, false], "{period}");
    assert!(period.ends_with("2031-05-05 to 2031-05-31"), "{period}");
    assert_eq!(opened("UTC").0, [false, true, false]);
    assert_eq!(opened("EAST-20").0, [false, false, true]);
}

#[test]
fn a_statement_in_another_format_is_the_record_of_accounts_statement() {
    let counter = counter();
    for format in ["json", "csv", "yaml"] {
        let paper = mfa(&counter.world, &statement(&["-o", format])).ok();
        let own = [&["accounts"], &statement(&["-o", format])[..]].concat();
        assert_eq!(paper, mfa(&counter.world, &own).ok());
    }
    let wrapped = mfa(&counter.world, &statement(&["-o", "json", "--print", "text"])).json();
    assert_eq!(wrapped["statement"], json!(mfa(&counter.world, &statement(&[])).ok()));
}

#[test]
fn interest_that_was_not_paid_is_at_the_end_of_a_statement() {
    let counter = Counter::active("1000");
    let mut earning = plain_product("earning", "USD", 2);
    earning["interest"] = json!(2.5);
    counter.define(&earning);
    counter.world.post("/definitions/earning/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    let account = counter.account_of("anna", "earning");
    let mut request = Counter::request("ACCO", &account, "1000");
    request["productIdentifier"] = json!("earning");
    let quoted = counter.quote(&request);
    counter.finish("T1", &quoted, "command=CONFIRM").is(202);
    counter.world.clock.advance(86_400);
    counter.world.post("/interest/runs", r#"{"date":"2031-05-06"}"#).is(202);
    let text = mfa(&counter.world, &["statement", &account, "--to", "2031-05-31"]).ok();
    let expected = "Interest accrued until 2031-05-06, not yet paid 0.06849";
    assert!(words(&text).contains(&expected.to_owned()), "{text}");

    // Once it is paid, the line says what it is, and the rest below a cent is no one's concern.
    counter.world.post(&format!("/instances/{account}/interest"), r#"{"action":"PAY"}"#).is(202);
    let text = mfa(&counter.world, &["statement", &account, "--to", "2031-05-31"]).ok();
    assert!(words(&text).contains(&"2031-05-07 interest 0.07 1000.07".to_owned()), "{text}");
    assert!(!text.contains("not yet paid"), "{text}");
}

#[test]
fn a_name_cannot_bring_markup_or_steer_a_terminal() {
    let counter = counter();
    let world = &counter.world;
    customer(world, "bold", MARKUP, "red\u{202e}turned", None);
    counter.account("bold");
    let line = ["accounts", "list", "--customer", "bold"];
    let html = mfa(world, &[&line[..], &["--print", "html"]].concat()).ok();
    assert!(!html.contains("<script"), "{html}");
    let written = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; Sons red\\u{202e}turned (bold)";
    assert!(html.contains(&format!("<dd>{written}</dd>")), "{html}");
    let text = mfa(world, &[&line[..], &["--print", "text"]].concat()).ok();
    assert!(text.contains(MARKUP) && text.contains("red\\u{202e}turned"), "{text}");
    let (_, text, _) = pdf(world, &line, "bold");
    assert!(text.contains(MARKUP) && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn html_is_complete_in_itself_and_knows_its_paper() {
    let counter = counter();
    let html = |paper: &str| mfa(&counter.world, &statement(&["--print", "html", "--paper", paper])).ok();
    for (paper, rule) in [("a4", "size: A4;"), ("a5", "size: A5;"), ("80mm", "size: 80mm ")] {
        let page = html(paper);
        assert!(page.contains(&format!("@page {{ {rule}")), "{page}");
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
        // Nothing is loaded from anywhere, and what is opened is closed.
        for word in ["http:", "https:", "url(", "src=", "href=", "<link", "@import"] {
            assert!(!page.contains(word), "{word}: {page}");
        }
        for tag in ["html", "head", "body", "header", "h1", "dl", "table", "thead", "tbody", "tr", "td"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}: {page}");
        }
    }
    let page = html("a4");
    let row = "<tr><td class=\"short\">2031-05-07</td><td>cash deposit, charges</td>\
        <td class=\"right\" data-name=\"Debit\">1.50</td><td class=\"right\" data-name=\"Credit\"></td>";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("<strong>Ανατολή Microfinance</strong><br>\n12 Market Road, Accra"), "{page}");
    assert!(!page.contains("stacked\">") && html("40").contains("<table class=\"stacked\">"), "{page}");
}
