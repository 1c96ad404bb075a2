//! Values that people read in another form than programs: times in their own time zone, words in place of
//! codes.

use super::{Output, cell, escaped};
use crate::failure::{Failure, Outcome};
use crate::moment::now_seconds;
use crate::output::views::{Column, Sense};
use crate::settings::Settings;
use mfa_shared::time::{Date, Timestamp, Zone};
use serde_json::Value;
use std::cell::OnceCell;

/// The time zone of tables and printed reports, looked for when the first moment is shown.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    zone: OnceCell<Zone>,
}

impl Clock {
    /// The zone of the setting, else that of this machine.
    pub fn of(settings: &Settings) -> Outcome<Self> {
        let clock = Self::default();
        let (name, origin) = settings.get("time_zone");
        if name.is_empty() {
            return Ok(clock);
        }
        let Some(zone) = Zone::named(name) else {
            return Err(Failure::usage(format!("this machine knows no time zone \"{name}\", from {origin}"))
                .hint("zones have names such as Africa/Accra, in /usr/share/zoneinfo; UTC is always known"));
        };
        let _ = clock.zone.set(zone);
        Ok(clock)
    }
}

impl Output {
    /// What a table shows of a record in a column.
    pub(super) fn cell(&self, record: &Value, column: &Column) -> String {
        let shown = |form: &dyn Fn(&str) -> String| {
            let texts = cell::texts(record, column.pointer);
            let mut texts: Vec<_> = texts.iter().map(|text| form(text)).collect();
            if texts.len() > 1 {
                // Some messages are sentences, and these are the parts of one.
                texts.iter_mut().for_each(|text| text.truncate(text.trim_end_matches('.').len()));
            }
            escaped(&texts.join(", "))
        };
        match column.sense {
            Sense::Plain | Sense::Word => column.shown(record),
            Sense::Moment => shown(&|text| self.moment(text)),
            Sense::Transaction => shown(&|text| transaction(text).to_owned()),
        }
    }

    /// A timestamp of the wire in the reader's time zone; other text as it is.
    pub fn moment(&self, text: &str) -> String {
        let Some(moment) = Timestamp::parse(text) else { return text.to_owned() };
        self.zone().show(moment)
    }

    /// The present day, as the calendar on the wall shows it.
    pub fn today(&self) -> Date {
        self.day(Timestamp::from_millis(now_seconds().saturating_mul(1000)))
    }

    /// The day on which a moment falls in the reader's time zone.
    pub fn day(&self, moment: Timestamp) -> Date {
        self.zone().day(moment)
    }

    fn zone(&self) -> &Zone {
        self.clock.zone.get_or_init(|| {
            Zone::of_machine().unwrap_or_else(|| {
                self.tip(
                    "the time zone of this machine cannot be read, so that times are in UTC; name one: TZ",
                );
                Zone::UTC
            })
        })
    }
}

/// A type of transaction in words; a type that has none is its own.
pub fn transaction(code: &str) -> &str {
    match code {
        "ACCO" => "account opening",
        "ACCC" => "account closing",
        "ACCT" => "transfer",
        "CDPT" => "cash deposit",
        "CWDL" => "cash withdrawal",
        "DAJT" => "cash into drawer",
        "CAJT" => "cash out of drawer",
        "ADJT" => "drawer moved",
        "INTA" => "interest accrued",
        "INTP" => "interest",
        "INTF" => "interest given up",
        "DIVD" => "dividend",
        other => other,
    }
}
