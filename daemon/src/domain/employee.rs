//! How an employee is reached (`organisation.md` section 3.2).

use mfa_shared::api::employees::EmployeeContact;

/// The contacts in the order of preference: null comes last, equal levels keep their order.
pub fn by_preference(contacts: &[EmployeeContact]) -> Vec<EmployeeContact> {
    let mut ordered = contacts.to_vec();
    ordered.sort_by_key(|contact| contact.preference_level.unwrap_or(i64::MAX));
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::customers::{ContactGroup, ContactType};

    #[test]
    fn null_is_last_and_equal_levels_keep_their_order() {
        let contact = |(value, preference_level): &(&str, Option<i64>)| EmployeeContact {
            r#type: ContactType::Phone,
            group: ContactGroup::Business,
            value: (*value).to_owned(),
            preference_level: *preference_level,
        };
        let given = [("a", None), ("b", Some(127)), ("c", Some(1)), ("d", None), ("e", Some(1))];
        let ordered = by_preference(&given.iter().map(contact).collect::<Vec<_>>());
        assert_eq!(ordered.iter().map(|c| c.value.as_str()).collect::<String>(), "cebad");
    }
}
