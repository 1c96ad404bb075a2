//! The file of a day report. An existing file is never overwritten.

use super::report_paper;
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome, codes};
use crate::output::{cell_of_csv, text, views};
use crate::paper::Paper;
use crate::settings::files;
use crate::settings::report_dir;
use clap::{Args, ValueEnum};
use mfa_shared::amount::Amount;
use mfa_shared::identifier::is_identifier_char;
use mfa_shared::time::Date;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Columns of a sheet.
const SHEET_COLUMNS: u32 = 80;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FileFormat {
    /// A sheet for signatures
    Text,
    /// One row of values under their names
    Csv,
    /// The representation of the wire
    Json,
}

// Where and how a report is written.
#[derive(Args)]
pub struct FileFlags {
    /// Folder for the file of the report; by default in the user's data folder [env: MFA_REPORT_DIR]
    #[arg(long, value_name = "DIR")]
    report_dir: Option<String>,
    /// Format of the file
    #[arg(long, value_name = "text|csv|json", default_value = "text", hide_possible_values = true)]
    report_format: FileFormat,
}

impl FileFlags {
    /// The folder, which is created if missing and must be writable.
    pub fn folder(&self, cx: &Cx) -> Outcome<PathBuf> {
        let named = self.report_dir.as_deref().unwrap_or(cx.settings.get("report_dir").0);
        let folder = match named {
            // Numbers of two daemons may be the same, so each has a folder of its own.
            "" => report_dir()?.join(host(&cx.client.url)),
            named => PathBuf::from(named),
        };
        let failed = |error| {
            Failure::local(format!("reports cannot be written to {}: {error}", folder.display()))
                .hint("name another folder with --report-dir or MFA_REPORT_DIR")
        };
        if cx.client.dry_run {
            return Ok(folder);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        tempfile::tempfile_in(&folder).map_err(failed)?;
        Ok(folder)
    }

    /// Writes the report of a teller to a file that is named after the teller, the number and the day.
    pub async fn write(&self, cx: &Cx, folder: &Path, teller: &str, report: &Value) -> Outcome<PathBuf> {
        let name = name(teller, report).map_err(|why| Failure::unexpected(&cx.client.url, &why))?;
        let (content, ending) = match self.report_format {
            FileFormat::Text => (sheet(cx, report).await, "txt"),
            FileFormat::Csv => (csv(report)?, "csv"),
            FileFormat::Json => (format!("{report:#}\n"), "json"),
        };
        let path = folder.join(format!("{name}.{ending}"));
        match files::put_new(&path, content.as_bytes()) {
            // A report never changes, so an existing file has the same content.
            Err(failure) if failure.code == codes::FILE_EXISTS.code => {
                if !fs::read_to_string(&path).is_ok_and(|present| say_the_same(&present, &content)) {
                    let what = format!("{} is there already and holds something else", path.display());
                    let hint = "move it away, or name another folder with --report-dir";
                    return Err(Failure::local(what).hint(hint));
                }
            }
            written => written?,
        }
        Ok(path)
    }
}

/// The name of the file, without its ending. What the daemon answers becomes part of a path, so it must be
/// what was asked for, and nothing that leads into another folder.
fn name(teller: &str, report: &Value) -> Result<String, String> {
    let code = text(report, "/tellerCode");
    if code != teller || !code.chars().all(is_identifier_char) {
        return Err(format!("with a report of teller \"{code}\", and not of \"{teller}\""));
    }
    let (number, day) = (&report["number"], text(report, "/day"));
    match (number.as_u64(), Date::parse(&day)) {
        (Some(number), Some(day)) => Ok(format!("{teller}-{number:04}-{day}")),
        (None, _) => Err(format!("with a report whose number is {number}")),
        (_, None) => Err(format!("with a report whose day is \"{day}\"")),
    }
}

/// A report as a sheet. It has no letterhead, which may change while the report does not.
async fn sheet(cx: &Cx, report: &Value) -> String {
    report_paper::of(cx, report, Paper::plain("report", "Day report")).await.text(SHEET_COLUMNS)
}

/// Whether two texts differ in nothing but in the zeros at the end of amounts, of which a sheet has more when
/// the currency of the drawer is known, and in the time zone of their times.
fn say_the_same(one: &str, other: &str) -> bool {
    let same = |(one, other): (&str, &str)| {
        one == other || Amount::parse(one).is_ok_and(|amount| Amount::parse(other) == Ok(amount))
    };
    let (one, other) = (untimed(one), untimed(other));
    let words = || one.split_whitespace().zip(other.split_whitespace());
    one.split_whitespace().count() == other.split_whitespace().count() && words().all(same)
}

/// The lines of a sheet without the times at which its session began and ended; who did it stays.
fn untimed(sheet: &str) -> String {
    let line = |line: &str| match line.split_once(" by ") {
        Some((time, who)) if time.starts_with("Opened ") || time.starts_with("Closed ") => {
            format!("{} by {who}\n", &time[..6])
        }
        _ => format!("{line}\n"),
    };
    sheet.lines().map(line).collect()
}

/// The host and the port of an address as the name of a folder.
fn host(url: &str) -> String {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }).collect()
}

fn csv(report: &Value) -> Outcome<String> {
    let columns = views::DAY_REPORT.columns;
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.name))?;
    writer.write_record(columns.iter().map(|column| cell_of_csv(report, column)))?;
    let bytes = writer.into_inner().map_err(|error| Failure::local(format!("cannot write csv: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nouns::teller::report_paper::laid_out;
    use crate::paper::Paper;
    use serde_json::json;

    #[test]
    fn a_spreadsheet_takes_no_text_of_a_report_for_a_formula() {
        let report = json!({ "number": 7, "openedBy": "-ama", "difference": -3, "movements": [] });
        let csv = csv(&report).unwrap();
        let row: Vec<_> = csv.lines().last().unwrap().split(',').collect();
        assert!(row.contains(&"'-ama") && row.contains(&"-3") && row.contains(&"7"), "{csv}");
    }

    #[test]
    fn a_sheet_has_the_digits_of_its_currency_and_says_the_same_with_others() {
        let movement = json!({ "message": "CDPT", "count": 2, "received": 500, "disbursed": 0 });
        let report = json!({
            "number": 7, "openedBy": "ama", "closedBy": "ama", "movements": [movement], "cashReceivedTotal": 500, "cashDisbursedTotal": 0,
            "expectedTotal": 500, "countedTotal": null, "difference": -3, "cashOnHand": 500,
        });
        let sheet = |scale, zone: &str| {
            let paper = Paper::plain("report", "Day report");
            laid_out(paper, &report, scale, &|moment| format!("{moment}{zone}")).text(SHEET_COLUMNS)
        };
        let (plain, dollars) = (sheet(None, ""), sheet(Some(2), "+02:00"));
        let words: Vec<_> =
            dollars.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(words.contains(&"cash deposit 2 500.00 0.00".to_owned()), "{dollars}");
        assert!(dollars.contains(" -3.00\n") && dollars.contains(" not counted\n"), "{dollars}");
        assert!(dollars.starts_with("Day report 7\n"), "{dollars}");
        assert!(plain != dollars && say_the_same(&plain, &dollars));
        assert!(!say_the_same(&plain, &dollars.replace("-3.00", "-3.01")));
        assert!(!say_the_same(&plain, &dollars.replace("deposit", "payment")));
        assert!(!say_the_same("1", "1 2"));
    }
}
