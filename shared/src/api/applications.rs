//! Applications: their keys, permissions, call endpoint sets and consents. Contract: `identity.md`
//! section 10.

use super::roles::Permission;
use crate::amount::BigInteger;
use crate::fault::{Fault, INVALID_APPLICATION_IDENTIFIER, INVALID_KEY_TIMESTAMP};
use crate::identifier::shown;
use crate::kind::{Kind, ShownBy};
use crate::rule::*;
use crate::time::Date;
use crate::wire::{Accepted, Array, Json, JsonFlag, Names, Nothing};
use crate::{endpoints, object};

/// The rule of an application identifier.
pub const APPLICATION_RULE: Text = id(64);

object! {
    /// A public RSA key with which an application signs its assertions.
    pub struct Signature {
        /// Modulus, returned digit for digit.
        public_key_mod: BigInteger = required(big_integer(5000)),
        /// Public exponent.
        public_key_exp: BigInteger = required(big_integer(5000)),
    }

    /// A named list of groups to which a token of the application can be narrowed.
    pub struct CallEndpointSet {
        /// Unique over the sets of the application.
        identifier: String = required(id(32)),
        /// The groups in their order; they need not exist yet.
        permittable_endpoint_group_identifiers: Vec<String> = required(list(id(32), 1000)),
    }
}

/// How a key timestamp is written. That its day is one of the calendar, no pattern says.
pub const KEY_TIMESTAMP_PATTERN: &str =
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(_[0-5]\d){2}(\.\d{1,9})?Z?$";

/// Whether a text is a key timestamp: `YYYY-MM-DDThh_mm_ss`, then optionally `.` and 1 to 9 digits, then
/// optionally `Z`; a date of the calendar and a time of the day.
pub fn is_key_timestamp(text: &str) -> bool {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (moment, fraction) = match text.split_once('.') {
        Some((moment, fraction)) => (moment, Some(fraction)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if fraction.is_some_and(|f| !(1..=9).contains(&f.len()) || !digits(f)) {
        return false;
    }
    let Some((day, time)) = moment.split_once('T') else { return false };
    let below = |part: &str, bound: u8| {
        part.len() == 2 && digits(part) && part.parse::<u8>().is_ok_and(|value| value < bound)
    };
    let parts: Vec<_> = time.split('_').collect();
    let timely = matches!(parts[..], [h, m, s] if below(h, 24) && below(m, 60) && below(s, 60));
    // `Date::parse` tolerates a `Z` behind the day, which a key timestamp does not have there.
    timely && day.len() == 10 && Date::parse(day).is_some()
}

fn key(params: &[&str]) -> Result<(), Fault> {
    let timestamp = params.get(1).copied().unwrap_or_default();
    if is_key_timestamp(timestamp) {
        return Ok(());
    }
    let detail = format!("\"{}\" is no key timestamp such as 2031-05-06T10_11_12", shown(timestamp));
    Err(Fault::new(INVALID_KEY_TIMESTAMP, detail))
}

fn application_and_key(params: &[&str]) -> Result<(), Fault> {
    let application = params.first().copied().unwrap_or_default();
    if let Err((_, what)) = APPLICATION_RULE.judge(application) {
        let detail = format!("the application identifier \"{}\" {what}", shown(application));
        return Err(Fault::new(INVALID_APPLICATION_IDENTIFIER, detail));
    }
    key(params)
}

/// Its kinds of records.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "application",
        path: "/applications/{}",
        named_by: "",
        shown_by: ShownBy::List("ListApplications"),
    },
    Kind::of("signature", "/applications/{}/signatures/{}", "", "GetSignature"),
    Kind::of(
        "permission",
        "/applications/{}/permissions/{}",
        "permittableEndpointGroupIdentifier",
        "GetApplicationPermission",
    ),
    Kind::of("consent", "/applications/{}/permissions/{}/users/{}/enabled", "", "GetConsent"),
    Kind::of("set", "/applications/{}/callendpointset/{}", "identifier", "GetCallEndpointSet"),
];

endpoints! {
    application "identity-v1";
    /// List the identifiers of all applications.
    ListApplications {} Get "/applications" Nothing => Names;
    /// Delete an application with its keys, permissions, sets, consents and tokens.
    DeleteApplication { application } Delete "/applications/{application}" Nothing => Accepted;
    /// Add a public key; the first one makes the application.
    SetSignature { application, timestamp } Put "/applications/{application}/signatures/{timestamp}"
        Json<Signature> => Accepted, tag GetSignature, path application_and_key;
    /// List the timestamps of the keys of an application.
    ListSignatures { application } Get "/applications/{application}/signatures" Nothing => Names;
    /// Read a public key of an application.
    GetSignature { application, timestamp } Get "/applications/{application}/signatures/{timestamp}"
        Nothing => Json<Signature>, tag GetSignature, path key;
    /// Remove a public key; the tokens that were obtained with it end.
    DeleteSignature { application, timestamp } Delete "/applications/{application}/signatures/{timestamp}"
        Nothing => Accepted, tag GetSignature, path key;
    /// Give an application a permission.
    CreateApplicationPermission { application } Post "/applications/{application}/permissions"
        Json<Permission> => Accepted;
    /// List the permissions of an application.
    ListApplicationPermissions { application } Get "/applications/{application}/permissions" Nothing
        => Array<Permission>;
    /// Read a permission of an application.
    GetApplicationPermission { application, group } Get "/applications/{application}/permissions/{group}"
        Nothing => Json<Permission>, tag GetApplicationPermission;
    /// Replace the operations of a permission; added ones clear its consents.
    UpdateApplicationPermission { application, group } Put "/applications/{application}/permissions/{group}"
        Json<Permission> => Accepted, tag GetApplicationPermission;
    /// Take a permission and its consents from an application.
    DeleteApplicationPermission { application, group }
        Delete "/applications/{application}/permissions/{group}" Nothing => Accepted,
        tag GetApplicationPermission;
    /// Create a call endpoint set.
    CreateCallEndpointSet { application } Post "/applications/{application}/callendpointset"
        Json<CallEndpointSet> => Accepted;
    /// List the call endpoint sets of an application.
    ListCallEndpointSets { application } Get "/applications/{application}/callendpointset" Nothing
        => Array<CallEndpointSet>;
    /// Read a call endpoint set.
    GetCallEndpointSet { application, set } Get "/applications/{application}/callendpointset/{set}"
        Nothing => Json<CallEndpointSet>, tag GetCallEndpointSet;
    /// Replace the groups of a call endpoint set.
    UpdateCallEndpointSet { application, set } Put "/applications/{application}/callendpointset/{set}"
        Json<CallEndpointSet> => Accepted, tag GetCallEndpointSet;
    /// Delete a call endpoint set.
    DeleteCallEndpointSet { application, set } Delete "/applications/{application}/callendpointset/{set}"
        Nothing => Accepted, tag GetCallEndpointSet;
    /// Show whether a user lets an application use a permission in the user's name.
    GetConsent { application, group, user }
        Get "/applications/{application}/permissions/{group}/users/{user}/enabled" Nothing => JsonFlag,
        tag GetConsent;
    /// Let an application use a permission in the own name, or no longer.
    SetConsent { application, group, user }
        Put "/applications/{application}/permissions/{group}/users/{user}/enabled" JsonFlag => Accepted,
        tag GetConsent;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_timestamp_is_a_real_moment_with_underscores() {
        for good in [
            "2031-05-06T10_11_12",
            "2031-05-06T10_11_12Z",
            "2031-05-06T10_11_12.1",
            "2032-02-29T23_59_59.123456789Z",
        ] {
            assert!(is_key_timestamp(good), "{good}");
        }
        let bad = "2031-02-30T10_11_12 2031-05-06T10:11:12 latest 2031-05-06T24_00_00 \
            2031-05-06T23_60_00 2031-05-06T23_59_60 2031-05-06 2031-05-06T10_11 2031-05-06T10_11_12. \
            2031-05-06T10_11_12.1234567890 2031-05-06T10_11_12ZZ 2031-05-06ZT10_11_12 \
            2031-05-06t10_11_12 2031-05-06T1_11_12 2031-05-06T+1_11_12 2031-05-06T10_11_12.5x \
            2031-05-06T10_11_12_13";
        for bad in bad.split_whitespace().chain([""]) {
            assert!(!is_key_timestamp(bad), "{bad}");
        }
    }
}
