//! Which values of a record a table shows, in which order, and which of them matter most.

mod access;
mod audit;
mod bulk;
mod counter;
mod deposits;
mod gateways;
mod images;
mod interest;
mod reports;
mod stores;
mod system;
mod webhooks;

pub use access::*;
pub use audit::*;
pub use bulk::*;
pub use counter::*;
pub use deposits::*;
pub use gateways::*;
pub use images::*;
pub use interest::*;
pub use reports::*;
pub use stores::*;
pub use system::*;
pub use webhooks::*;

use crate::output::{escaped, text};
use serde_json::Value;

/// Priority of a column that only the wide formats show.
pub const WIDE: u8 = 9;

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    /// Pointer to its value in the record; `*` is every element of a list.
    pub pointer: &'static str,
    /// 0 is always shown; of the others, the highest is dropped first; [`WIDE`] is only in wide formats.
    pub priority: u8,
    /// Whether its values are aligned right: amounts.
    pub right: bool,
    /// For money: where its currency comes from.
    pub currency: Option<Currency>,
    /// What a table makes of the value for people.
    pub sense: Sense,
    /// Where a table shows the value in words of its own, line by line: what these are.
    pub lines: Option<fn(&Value) -> Vec<String>>,
}

impl Column {
    /// What a table shows of a record, as it may be shown on a terminal.
    pub fn shown(&self, record: &Value) -> String {
        match self.lines {
            Some(lines) => lines(record).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n"),
            None => escaped(&text(record, self.pointer)),
        }
    }
}

/// What a value is, where people read it in another form than programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Nothing of the kind.
    Plain,
    /// A moment: people read it in their own time zone.
    Moment,
    /// A type of transaction: people read words in place of its code.
    Transaction,
    /// A word of the command line, which a shell types as it is.
    Word,
}

/// Where the currency of a record's amounts comes from, and with it how many digits follow the point in a
/// table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Currency {
    /// The number of digits itself is at this pointer.
    Scale(&'static str),
    /// Its code does.
    Code(&'static str),
    /// The product does.
    Product(&'static str),
    /// Ledger accounts do, of which one at least has a currency once money has moved.
    Accounts(&'static str),
    /// The ledger account in the path of the request.
    PathAccount,
    /// The product of the customer's account in the path of the request.
    PathInstance,
    /// The drawer of the teller in the path of the request.
    PathTeller,
}

/// The columns of one kind of record.
#[derive(Debug)]
pub struct View {
    /// Several of these records, in words.
    pub plural: &'static str,
    /// Pointer to what names a record.
    pub id: &'static str,
    /// Pointer to its state; empty where it has none.
    pub state: &'static str,
    pub columns: &'static [Column],
}

impl View {
    /// The view of records that have no state, by what several of them are called.
    pub const fn of(plural: &'static str) -> Self {
        Self { plural, id: "", state: "", columns: &[] }
    }

    /// The same with a pointer to what names a record, where that is not the first column.
    pub const fn id(self, id: &'static str) -> Self {
        Self { id, ..self }
    }

    /// The same with a pointer to the state of a record.
    pub const fn state(self, state: &'static str) -> Self {
        Self { state, ..self }
    }

    pub const fn columns(self, columns: &'static [Column]) -> Self {
        let id = if self.id.is_empty() { columns[0].pointer } else { self.id };
        Self { id, columns, ..self }
    }

    /// The column of a name: its own, or that of the property on the wire, such as `address.city`.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        let same = |column: &&Column| {
            let property = column.pointer.trim_start_matches('/').replace('/', ".");
            column.name.eq_ignore_ascii_case(name) || property.eq_ignore_ascii_case(name)
        };
        self.columns.iter().find(same)
    }
}

pub const fn column(name: &'static str, pointer: &'static str, priority: u8) -> Column {
    Column { name, pointer, priority, right: false, currency: None, sense: Sense::Plain, lines: None }
}

pub const fn moment(name: &'static str, pointer: &'static str, priority: u8) -> Column {
    Column { sense: Sense::Moment, ..column(name, pointer, priority) }
}

/// A column of words of the command line.
pub const fn word(name: &'static str, pointer: &'static str, priority: u8) -> Column {
    Column { sense: Sense::Word, ..column(name, pointer, priority) }
}

/// A column of types of transaction.
pub const fn transaction(name: &'static str, pointer: &'static str, priority: u8) -> Column {
    Column { sense: Sense::Transaction, ..column(name, pointer, priority) }
}

pub const fn amount(name: &'static str, pointer: &'static str, priority: u8) -> Column {
    Column { right: true, ..column(name, pointer, priority) }
}

pub const fn money(name: &'static str, pointer: &'static str, priority: u8, currency: Currency) -> Column {
    Column { currency: Some(currency), ..amount(name, pointer, priority) }
}

pub const OFFICE: View = View::of("offices").columns(&[
    column("identifier", "/identifier", 0),
    column("name", "/name", 0),
    column("parent", "/parentIdentifier", 1),
    column("description", "/description", 3),
    column("city", "/address/city", 4),
    column("in-use", "/externalReferences", 2),
    column("street", "/address/street", WIDE),
    column("region", "/address/region", WIDE),
    column("postal-code", "/address/postalCode", WIDE),
    column("country-code", "/address/countryCode", WIDE),
    column("country", "/address/country", WIDE),
]);

pub const ADDRESS: View = View::of("addresses").id("/city").columns(&[
    column("street", "/street", 0),
    column("city", "/city", 0),
    column("region", "/region", 2),
    column("postal-code", "/postalCode", 1),
    column("country-code", "/countryCode", 0),
    column("country", "/country", 1),
]);

pub const REFERENCE: View = View::of("external references")
    .state("/state")
    .columns(&[column("type", "/type", 0), column("state", "/state", 0)]);

pub const CUSTOMER: View = View::of("customers").state("/currentState").columns(&[
    column("identifier", "/identifier", 0),
    column("type", "/type", 6),
    column("given-name", "/givenName", 1),
    column("middle-name", "/middleName", WIDE),
    column("surname", "/surname", 1),
    column("state", "/currentState", 0),
    column("office", "/assignedOffice", 2),
    column("employee", "/assignedEmployee", 5),
    column("city", "/address/city", 7),
    column("applied", "/applicationDate", 4),
    column("born", "/dateOfBirth", WIDE),
    column("member", "/member", WIDE),
    column("beneficiary", "/accountBeneficiary", WIDE),
    column("reference-customer", "/referenceCustomer", WIDE),
    column("street", "/address/street", WIDE),
    column("region", "/address/region", WIDE),
    column("postal-code", "/address/postalCode", WIDE),
    column("country-code", "/address/countryCode", WIDE),
    column("country", "/address/country", WIDE),
    column("contacts", "/contactDetails/*/value", WIDE),
    column("custom-values", "/customValues/*/value", WIDE),
    column("created-by", "/createdBy", WIDE),
    moment("created", "/createdOn", WIDE),
    column("modified-by", "/lastModifiedBy", WIDE),
    moment("modified", "/lastModifiedOn", WIDE),
]);

pub const CUSTOMER_COMMAND: View = View::of("commands").id("/createdOn").columns(&[
    column("action", "/action", 0),
    moment("created", "/createdOn", 0),
    column("created-by", "/createdBy", 1),
    column("comment", "/comment", 2),
]);

pub const EMPLOYEE: View = View::of("employees").columns(&[
    column("identifier", "/identifier", 0),
    column("given-name", "/givenName", 1),
    column("middle-name", "/middleName", WIDE),
    column("surname", "/surname", 1),
    column("office", "/assignedOffice", 2),
    column("contacts", "/contactDetails/*/value", 3),
]);

pub const CONTACT: View = View::of("contacts").id("/value").columns(&[
    column("type", "/type", 0),
    column("group", "/group", 0),
    column("value", "/value", 0),
    column("level", "/preferenceLevel", 1),
]);

pub const CARD: View = View::of("cards").columns(&[
    column("number", "/number", 0),
    column("type", "/type", 0),
    column("expires", "/expirationDate", 1),
    column("issuer", "/issuer", 2),
    column("created-by", "/createdBy", WIDE),
    moment("created", "/createdOn", WIDE),
    column("modified-by", "/lastModifiedBy", WIDE),
    moment("modified", "/lastModifiedOn", WIDE),
]);

/// The result of a change without a record.
pub const RESULT: View =
    View::of("results").columns(&[column("identifier", "/identifier", 0), column("result", "/result", 0)]);

/// The daemon that is spoken to.
pub const DAEMON: View = View::of("daemons").state("/status").columns(&[
    column("url", "/url", 0),
    column("status", "/status", 0),
    column("version", "/version", 1),
    column("interface", "/interface", 3),
    column("auth", "/auth", 2),
    column("instance", "/instance", 4),
    column("client", "/client", 5),
    amount("damaged-images", "/damagedImages", WIDE),
]);

/// The daemon in the background.
pub const SERVICE: View = View::of("daemons").state("/status").columns(&[
    column("url", "/url", 0),
    column("status", "/status", 0),
    column("auth", "/auth", 1),
    column("pid", "/pid", 2),
    column("data-dir", "/dataDir", 3),
    column("store", "/store", 3),
    column("log", "/log", 4),
]);

/// Settings and where they came from.
pub const SETTING: View = View::of("settings").columns(&[
    column("name", "/name", 0),
    column("value", "/value", 0),
    column("origin", "/origin", 1),
    column("variable", "/variable", WIDE),
    column("doc", "/doc", WIDE),
]);

pub const SETTING_VALUE: View = View::of("settings").columns(&[
    column("name", "/name", 0),
    column("value", "/value", 0),
    column("variable", "/variable", 1),
]);

pub const CONFIG_FILE: View =
    View::of("files").columns(&[column("path", "/path", 0), column("exists", "/exists", 0)]);

/// Versions of client and daemon.
pub const VERSION: View = View::of("versions").id("/version").columns(&[
    column("client", "/client", 0),
    column("daemon", "/version", 0),
    column("interface", "/interface", 1),
    column("auth", "/auth", 2),
    column("instance", "/instance", 3),
]);

pub const COMMAND: View = View::of("commands").columns(&[
    column("command", "/command", 0),
    column("about", "/about", 1),
    column("endpoint", "/endpoint", 2),
    column("method", "/method", WIDE),
    column("route", "/route", WIDE),
    column("permission", "/permission", WIDE),
]);

pub const FILE: View = View::of("files to write").columns(&[column("file", "/file", 0)]);

/// What may be typed next.
pub const CANDIDATE: View =
    View::of("words").columns(&[word("value", "/value", 0), word("help", "/help", 1)]);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_is_escaped_also_where_its_column_words_it() {
        let record = json!({ "born": "1990-03-05", "note": "red\u{1b}[31m\nend" });
        let note = column("note", "/note", 0);
        assert_eq!(note.shown(&record), "red\\u{1b}[31m\\nend");
        let lines =
            Column { lines: Some(|record| vec![text(record, "/born"), text(record, "/note")]), ..note };
        assert_eq!(lines.shown(&record), "1990-03-05\nred\\u{1b}[31m\\nend");
    }
}
