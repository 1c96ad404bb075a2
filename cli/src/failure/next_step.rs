//! What to type next after a refusal: from the state that the daemon reports and the names in the request.

use crate::words::quoted;
use mfa_shared::endpoint::path_params;

/// Placeholders in hints that mean an identifier, with the parameter of the path that is meant.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("CUSTOMER", "customer"),
    ("CARD", "card"),
    ("CODE", "teller"),
    ("OFFICE", "office"),
    ("ACCOUNT", "account"),
    ("APPLICATION", "application"),
    ("USER", "user"),
];
/// Placeholders that are taken from the message of a refusal, with the words before them there.
const FROM_MESSAGE: &[(&str, &str)] = &[
    ("PRODUCT", "product definition "),
    ("TELLER", "works at teller "),
    ("OFFICE", " of office "),
    ("LOGIN", ""),
];
/// Where a command names an office that neither the request nor the refusal does.
const AT_OFFICE: &str = " --office OFFICE";

/// Uses that a refusal counts, by the noun of the record and the end of their own, with what lists them.
const USES: &[(&str, &[&str], &str)] = &[
    ("office", &["branch", "branches"], "mfa offices list --filter parentIdentifier="),
    ("office", &["employee", "employees"], "mfa employees list --office "),
    ("office", &["teller", "tellers"], "mfa teller list --office "),
    ("office", &["reference", "references"], "mfa offices references list "),
    ("office", &["customer", "customers"], "mfa customers list --include-closed --filter assignedOffice="),
    (
        "employee",
        &["customer", "customers"],
        "mfa customers list --include-closed --filter assignedEmployee=",
    ),
    ("customer", &["CLOSED"], "mfa accounts list --customer "),
];

/// A hint whose placeholders are replaced with the identifiers of the request and of the refusal.
pub fn filled(hint: &str, message: &str, path: &str, params: &[&str]) -> String {
    let given: Vec<_> = path_params(path).zip(params.iter().copied()).collect();
    let of_path = |word: &str| {
        let (_, name) = PLACEHOLDERS.iter().find(|(placeholder, _)| *placeholder == word)?;
        let own = given.iter().find(|(own, _)| own == name).map(|(_, id)| *id);
        // The identifier of an account begins with that of its customer.
        let account = || given.iter().find(|(own, _)| *own == "account" && word == "CUSTOMER");
        own.or_else(|| account()?.1.rsplitn(3, '.').nth(2))
    };
    let of_error = |word: &str| {
        let (_, before) = FROM_MESSAGE.iter().find(|(placeholder, _)| *placeholder == word)?;
        message.split_once(before)?.1.split([' ', ',']).next()
    };
    let fill = |word: &str| {
        let name = word.trim_end_matches(';');
        let found = of_error(name).or_else(|| of_path(name)).filter(|id| !id.is_empty());
        found.map_or_else(|| word.to_owned(), |id| quoted(id) + &word[name.len()..])
    };
    hint.split(' ').map(fill).collect::<Vec<_>>().join(" ")
}

/// A hint on a machine of this office, or of none: there commands need not name it.
pub fn at_office(hint: &str, office: &str) -> String {
    if office.is_empty() { hint.to_owned() } else { hint.replace(AT_OFFICE, "") }
}

/// The next step from a state in a message: `teller T1 is CLOSED, so PAUSE is not possible`.
pub fn from_state(message: &str) -> Option<String> {
    let words: Vec<_> = message.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    let [noun, name, "is", state, rest @ ..] = words.as_slice() else { return None };
    let name = &quoted(name);
    Some(match (*noun, *state, rest) {
        ("customer", _, [.., "only", first]) => verb(name, first),
        ("customer", _, [.., "only", first, "or", second]) => {
            format!("{}; or {}", verb(name, first), verb(name, second))
        }
        ("teller", "CLOSED", ["so", "CLOSE", ..]) => {
            format!("its day is over; look at it: mfa teller reports list {name}{AT_OFFICE}")
        }
        ("teller", "CLOSED", _) => format!("open it first: mfa teller open {name}{AT_OFFICE}"),
        ("teller", _, ["so", "OPEN" | "nobody", ..]) => {
            format!("close it first: mfa teller close {name}{AT_OFFICE}")
        }
        ("teller", _, _) => format!("unlock its drawer first: mfa teller unlock {name}"),
        ("transaction", _, _) => "only pending ones change; list them: mfa teller transactions list CODE \
                                  --status pending"
            .to_owned(),
        ("account", "PENDING", _) => {
            format!("open it first: mfa teller open-account CODE --account {name} --amount AMOUNT")
        }
        ("account", "ACTIVE", _) => {
            format!(
                "it is open already; pay into it: mfa teller deposit CODE --account {name} --amount AMOUNT"
            )
        }
        ("account", _, _) => format!("it stays closed; look at it: mfa accounts get {name}"),
        _ => return None,
    })
}

/// The next step from the uses that a message counts: `office north has 1 branch, 3 employees`.
pub fn from_uses(message: &str) -> Option<String> {
    let (record, counted) = message.split_once(" has ")?;
    let (noun, name) = record.split_once(' ')?;
    let listing = |uses: &str| {
        let last = uses.rsplit(' ').next()?;
        let (_, _, list) = USES.iter().find(|(of, words, _)| *of == noun && words.contains(&last))?;
        Some(format!("{list}{}", quoted(name)))
    };
    let lists: Vec<_> = counted.split(", ").filter_map(listing).collect();
    (!lists.is_empty()).then(|| format!("end these uses first; list them: {}", lists.join(", ")))
}

fn verb(customer: &str, action: &str) -> String {
    let action = action.to_lowercase();
    format!("{action} it: mfa customers {} {customer}", quoted(&action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_state_has_a_next_step() {
        for (message, expected) in [
            ("customer c-1 is CLOSED, so LOCK is not possible, only REOPEN", "mfa customers reopen c-1"),
            (
                "customer c-1 is LOCKED, so ACTIVATE is not possible, only UNLOCK or CLOSE",
                "unlock it: mfa customers unlock c-1; or close it: mfa customers close c-1",
            ),
            ("customer c-1 is CLOSED, so LOCK is not possible, only $(x)", "mfa customers '$(x)' c-1"),
            ("account a.1 is CLOSED, so ACTIVATE is not possible", "mfa accounts get a.1"),
            ("account a.1 is CLOSED and does not change any more", "mfa accounts get a.1"),
            ("teller T1 is CLOSED, so PAUSE is not possible", "open it first: mfa teller open T1"),
            ("teller T1 is PAUSED, so a transaction is not possible", "mfa teller unlock T1"),
            ("teller T1 is OPEN, so CONFIRM is not possible", "mfa teller unlock T1"),
            ("teller T1 is ACTIVE, so OPEN is not possible", "mfa teller close T1"),
            ("teller T1 is OPEN, so nobody else can be assigned to it", "mfa teller close T1"),
            ("teller T1 is CLOSED, so CLOSE is not possible", "mfa teller reports list T1"),
            ("transaction 7f is CONFIRMED, so CANCEL is not possible", "--status pending"),
            (
                "account a.1 is PENDING; a cash deposit (CDPT) needs it ACTIVE",
                "mfa teller open-account CODE --account a.1",
            ),
            (
                "account a.1 is ACTIVE; an account opening (ACCO) needs it PENDING",
                "mfa teller deposit CODE --account a.1",
            ),
            ("account a.1 is CLOSED; CWDL needs it ACTIVE", "mfa accounts get a.1"),
        ] {
            let found = from_state(message).unwrap_or_default();
            assert!(found.contains(expected), "{message}: {found}");
        }
        assert_eq!(from_state("cash moved meanwhile"), None);
    }

    #[test]
    fn counted_uses_have_a_next_step() {
        for (message, expected) in [
            (
                "office north has 1 branch, 3 employees, 2 tellers",
                "list them: mfa offices list --filter parentIdentifier=north, mfa employees list --office north, \
                 mfa teller list --office north",
            ),
            ("office n*1 has 2 active external references", "list them: mfa offices references list 'n*1'"),
            ("customer c-1 has 1 account not CLOSED", "list them: mfa accounts list --customer c-1"),
            (
                "employee esi has 1 closed teller, more than 10000 customers",
                "list them: mfa customers list --include-closed --filter assignedEmployee=esi",
            ),
        ] {
            assert_eq!(from_uses(message), Some(format!("end these uses first; {expected}")), "{message}");
        }
        assert_eq!(from_uses("2 users with role clerk"), None);
        assert_eq!(from_uses("product definition p has 2 instances"), None);
    }

    #[test]
    fn an_office_is_left_out_where_it_is_known_to_this_machine() {
        let hint = "list them: mfa teller list --office OFFICE; or not";
        assert_eq!(at_office(hint, ""), hint);
        assert_eq!(at_office(hint, "accra"), "list them: mfa teller list; or not");
    }

    #[test]
    fn placeholders_are_the_identifiers_of_the_request() {
        for (hint, message, path, params, expected) in [
            ("mfa cards list CUSTOMER", "", "/customers/{customer}/x/{card}", &["c*1", "7"][..], "'c*1'"),
            ("mfa cards scans list CUSTOMER CARD", "", "/customers/{customer}/x/{card}", &["c", "7"], "c 7"),
            ("--customer CUSTOMER", "", "/instances/{account}", &["a.b.9100.00001"], "--customer a.b"),
            ("--customer CUSTOMER", "", "/instances/{account}", &["77"], "--customer CUSTOMER"),
            ("activate PRODUCT", "product definition s is not active", "/instances", &[], "activate s"),
            ("close TELLER", "ama works at teller T2, so not at T1", "/teller/{teller}", &["T1"], "close T2"),
            ("close it: --office OFFICE; or", "", "/offices/{office}/days", &["o"], "--office o; or"),
            ("--office OFFICE", "at teller T2 of office p, so", "/offices/{office}", &["o"], "--office p"),
            ("list --office OFFICE", "", "/teller/{teller}", &["T1"], "list --office OFFICE"),
            (
                "mfa users set-password LOGIN",
                "ama has to set a password",
                "/users/{user}",
                &["u"],
                "-password ama",
            ),
            ("no CODEC here", "", "/teller/{teller}", &["T1"], "no CODEC here"),
        ] {
            let found = filled(hint, message, path, params);
            assert!(found.ends_with(expected), "{hint}: {found}");
        }
    }
}
