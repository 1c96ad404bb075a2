//! The report of a day as a sheet for 80 columns.

use crate::command::cx::Cx;
use crate::command::money::{currency_scales, with_digits};
use crate::nouns::teller::as_amount;
use crate::output::{escaped, text, transaction};
use serde_json::Value;
use std::collections::HashMap;

/// A report as it is read, its amounts with the digits of their currencies.
pub async fn of(cx: &Cx, report: &Value) -> String {
    let scales = currency_scales(&cx.client).await;
    laid_out(report, &scales, &|moment| cx.out.moment(moment))
}

/// What a part of the sheet shows of each element: its title, its names and widths, and its cells.
struct Part {
    list: &'static str,
    titles: &'static [(&'static str, usize)],
    cells: fn(&Cells<'_>) -> Vec<String>,
}

const PARTS: &[Part] = &[
    Part {
        list: "tellers",
        titles: &[("Tellers", 20), ("state", 8), ("cash", 17), ("", 5), ("waiting", 8)],
        cells: |cells| {
            let cash = cells.money("/cashOnHand");
            vec![
                cells.text("/code"),
                cells.text("/state"),
                cash,
                cells.currency(),
                cells.text("/pendingTransactions"),
            ]
        },
    },
    Part {
        list: "sessions",
        titles: &[
            ("Sessions", 16),
            ("report", 7),
            ("received", 14),
            ("disbursed", 14),
            ("difference", 13),
            ("left", 14),
        ],
        cells: |cells| {
            let counted = match cells.text("/difference").as_str() {
                "" => "not counted".to_owned(),
                _ => cells.money("/difference"),
            };
            vec![
                cells.text("/tellerCode"),
                cells.text("/report"),
                cells.money("/cashReceivedTotal"),
                cells.money("/cashDisbursedTotal"),
                counted,
                cells.money("/cashOnHand"),
            ]
        },
    },
    Part {
        list: "vaults",
        titles: &[("Vaults", 28), ("balance", 17), ("", 5)],
        cells: |cells| vec![cells.text("/accountIdentifier"), cells.money("/balance"), cells.currency()],
    },
    Part {
        list: "totals",
        titles: &[
            ("Transactions", 20),
            ("count", 8),
            ("amount", 17),
            ("charges", 17),
            ("", 5),
            ("cancelled", 11),
        ],
        cells: |cells| {
            vec![
                transaction(&cells.text("/transactionType")).to_owned(),
                cells.text("/confirmed"),
                cells.money("/amount"),
                cells.money("/charges"),
                cells.currency(),
                cells.text("/canceled"),
            ]
        },
    },
];

/// The values of one element.
struct Cells<'a> {
    element: &'a Value,
    scales: &'a HashMap<String, u32>,
    /// The currencies of the tellers, for what names only the teller.
    currencies: &'a HashMap<String, String>,
}

impl Cells<'_> {
    fn text(&self, pointer: &str) -> String {
        escaped(&text(self.element, pointer))
    }

    fn currency(&self) -> String {
        let own = self.text("/currency");
        let of_teller = || self.currencies.get(&text(self.element, "/tellerCode")).cloned();
        if own.is_empty() { of_teller().unwrap_or_default() } else { own }
    }

    fn money(&self, pointer: &str) -> String {
        let value = self.element.pointer(pointer).cloned().unwrap_or_default();
        let scale = self.scales.get(&self.currency()).copied().or_else(|| only(self.scales));
        as_amount(&value).map(|amount| with_digits(amount, scale)).unwrap_or_default()
    }
}

/// The digits that all currencies have, if they do: for amounts without a currency.
fn only(scales: &HashMap<String, u32>) -> Option<u32> {
    scales.values().min().copied().filter(|scale| scales.values().all(|other| other == scale))
}

fn laid_out(report: &Value, scales: &HashMap<String, u32>, moment: &dyn Fn(&str) -> String) -> String {
    let shown = |pointer: &str| escaped(&text(report, pointer));
    let time = |pointer: &str| escaped(&moment(&text(report, pointer)));
    let (office, name) = (shown("/officeIdentifier"), shown("/officeName"));
    let mut sheet =
        format!("Day {} of office {office} ({name}), report {}\n\n", shown("/date"), shown("/number"));
    sheet += &format!("Ended     {} by {}\n", time("/endedOn"), shown("/endedBy"));
    sheet += &format!("Covers    {} to {}\n", time("/coversFrom"), time("/coversUntil"));
    sheet += &format!("Journal   up to entry {}\n", shown("/lastEntry"));
    let tellers = report["tellers"].as_array().into_iter().flatten();
    let currencies = tellers.map(|teller| (text(teller, "/code"), text(teller, "/currency"))).collect();
    for part in PARTS {
        let elements = report[part.list].as_array().cloned().unwrap_or_default();
        if elements.is_empty() {
            continue;
        }
        sheet.push('\n');
        sheet +=
            &line(part.titles, &part.titles.iter().map(|(title, _)| (*title).to_owned()).collect::<Vec<_>>());
        for element in &elements {
            sheet += &line(part.titles, &(part.cells)(&Cells { element, scales, currencies: &currencies }));
        }
    }
    let only = only(scales);
    let total = |name: &str| as_amount(&report[name]).map(|sum| with_digits(sum, only)).unwrap_or_default();
    sheet += &format!("\n{:<20}{:>25}\n", "Trial balance", "");
    sheet += &format!(
        "{:<20}{:>25}\n{:<20}{:>25}\n",
        "debit",
        total("totalDebit"),
        "credit",
        total("totalCredit")
    );
    sheet += "\nExceptions\n";
    let exceptions = report["exceptions"].as_array().cloned().unwrap_or_default();
    for exception in &exceptions {
        let teller = escaped(&text(exception, "/tellerCode"));
        sheet += &format!("{teller:<19} {}\n", escaped(&text(exception, "/detail")));
    }
    if exceptions.is_empty() {
        sheet += "none\n";
    }
    sheet.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The first cell on the left, words behind a number with a blank, and everything else on the right. What is
/// wider than its place still has a blank before it.
fn line(titles: &[(&str, usize)], cells: &[String]) -> String {
    let mut line = String::new();
    for (place, ((title, width), cell)) in titles.iter().zip(cells).enumerate() {
        line += &match (place, *title) {
            (0, _) => format!("{cell:<width$}"),
            (_, "") => format!(" {cell:<width$}", width = width - 1),
            _ => format!(" {cell:>width$}", width = width - 1),
        };
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sheet_shows_every_part_with_the_digits_of_its_currency() {
        let report = json!({
            "date": "2031-05-06", "officeIdentifier": "accra", "officeName": "Accra", "number": 3,
            "endedOn": "E", "endedBy": "olga", "coversFrom": "F", "coversUntil": "U", "lastEntry": 7,
            "tellers": [{ "code": "T1", "state": "CLOSED", "currency": "USD", "cashOnHand": 60,
                "pendingTransactions": 0 }],
            "sessions": [{ "tellerCode": "T1", "report": 1, "cashReceivedTotal": 100, "cashDisbursedTotal": 40,
                "difference": -0.5, "cashOnHand": 60 }],
            "vaults": [{ "accountIdentifier": "vault", "currency": null, "balance": -3000 }], "totals": [{ "transactionType": "CDPT", "currency": "USD", "confirmed": 2,
                "amount": 10, "charges": 1.5, "canceled": 1 }],
            "totalDebit": 99, "totalCredit": 99,
            "exceptions": [{ "kind": "DIFFERENCE", "tellerCode": "T1", "detail": "day report 1: 0.5 short" }],
        });
        let scales = HashMap::from([("USD".to_owned(), 2)]);
        let sheet = laid_out(&report, &scales, &str::to_owned);
        let expected = "Day 2031-05-06 of office accra (Accra), report 3

Ended     E by olga
Covers    F to U
Journal   up to entry 7

Tellers                state             cash      waiting
T1                    CLOSED            60.00 USD        0

Sessions         report      received     disbursed   difference          left
T1                    1        100.00         40.00        -0.50         60.00

Vaults                                balance
vault                                -3000.00

Transactions           count           amount          charges       cancelled
cash deposit               2            10.00             1.50 USD           1

Trial balance
debit                                   99.00
credit                                  99.00

Exceptions
T1                  day report 1: 0.5 short
";
        assert_eq!(sheet, expected);
    }

    #[test]
    fn what_is_wider_than_its_place_keeps_a_blank_before_it() {
        let code = "a-teller-of-the-head-office-0001";
        let report = json!({
            "tellers": [{ "code": code, "state": "ACTIVE", "currency": "IDR",
                "cashOnHand": 123_456_789_012_345_i64, "pendingTransactions": 0 }],
            "sessions": [{ "tellerCode": code, "report": 1, "cashReceivedTotal": 123_456_789_012_i64,
                "cashDisbursedTotal": 23_456_789_012_i64, "difference": 0, "cashOnHand": 1 }],
            "exceptions": [{ "kind": "OPEN_TELLER", "tellerCode": code, "detail": "is ACTIVE for e1" }],
        });
        let sheet = laid_out(&report, &HashMap::from([("IDR".to_owned(), 2)]), &str::to_owned);
        for words in [
            format!("{code}  ACTIVE 123456789012345.00 IDR"),
            " 123456789012.00 23456789012.00 ".to_owned(),
            format!("{code} is ACTIVE for e1"),
        ] {
            assert!(sheet.contains(&words), "{words}: {sheet}");
        }
    }
}
