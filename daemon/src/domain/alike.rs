//! Two records of one person (`decisions.md` section 7): by what a customer may be known already.

use crate::domain::customer::KnownCustomer;
use crate::domain::search::{digits, fold};
use mfa_shared::api::customers::{ContactType, CustomerContact, CustomerInput, DateOfBirth};
use std::collections::BTreeSet;

/// What a customer may have in common with another one: names together with the day of birth, and phone
/// numbers. (The number of a card belongs to one customer only; the daemon refuses it a second time.)
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alike {
    /// All names in their order, as they are compared; with the day of birth only.
    names: Option<String>,
    born: Option<(i64, i64, i64)>,
    /// The digits of each number.
    phones: BTreeSet<String>,
}

impl Alike {
    /// What a customer is known by.
    pub fn of(customer: &KnownCustomer) -> Self {
        let names = [&customer.given_name, &customer.middle_name, &customer.surname];
        Self::new(names, customer.date_of_birth.as_ref(), &customer.contact_details)
    }

    /// What a customer would be known by.
    pub fn of_input(input: &CustomerInput) -> Self {
        let contacts = input.contact_details.as_deref().unwrap_or_default();
        Self::new(
            [&input.given_name, &input.middle_name, &input.surname],
            input.date_of_birth.as_ref(),
            contacts,
        )
    }

    /// What a customer would be known by whose contacts are replaced, besides their name.
    pub fn of_contacts(contacts: &[CustomerContact]) -> Self {
        Self::new([&None; 3], None, contacts)
    }

    fn new(names: [&Option<String>; 3], born: Option<&DateOfBirth>, contacts: &[CustomerContact]) -> Self {
        let names: Vec<_> =
            names.into_iter().flatten().map(|name| fold(name)).filter(|n| !n.is_empty()).collect();
        let born = born.filter(|_| !names.is_empty()).map(|day| (day.year, day.month, day.day));
        let phones = contacts.iter().filter(|contact| contact.r#type != ContactType::Email);
        Self {
            names: born.map(|_| names.join(" ")),
            born,
            phones: phones
                .map(|contact| digits(&contact.value))
                .filter(|number| !number.is_empty())
                .collect(),
        }
    }

    /// A customer who is known by phone numbers only.
    #[cfg(test)]
    pub fn of_phones(phones: impl IntoIterator<Item = String>) -> Self {
        Self { phones: phones.into_iter().collect(), ..Self::default() }
    }

    /// Whether both may be one person.
    pub fn is_like(&self, other: &Self) -> bool {
        let same_name = self.names.is_some() && (&self.names, self.born) == (&other.names, other.born);
        same_name || !self.phones.is_disjoint(&other.phones)
    }

    /// A text for each thing by which a customer is known: two who are alike share one of them.
    pub fn marks(&self) -> Vec<String> {
        let name = self.names.iter().map(|names| format!("{names} {:?}", self.born));
        name.chain(self.phones.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alike(names: [&str; 3], born: Option<(i64, i64, i64)>, phones: &[&str]) -> Alike {
        let names = names.map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()));
        let born = born.map(|(year, month, day)| DateOfBirth { year, month, day });
        let contacts: Vec<CustomerContact> = phones
            .iter()
            .map(|value| {
                let text = format!(r#"{{"type":"MOBILE","group":"PRIVATE","value":"{value}"}}"#);
                serde_json::from_str(&text).unwrap()
            })
            .collect();
        Alike::new([&names[0], &names[1], &names[2]], born.as_ref(), &contacts)
    }

    #[test]
    fn who_has_the_same_names_and_day_of_birth_or_the_same_phone_is_alike() {
        let day = Some((1990, 2, 28));
        let ama = alike(["Ama", "", "Söhne"], day, &["+233 (24) 123-4567"]);
        for (other, expected) in [
            (alike(["AMA", "", "sohne"], day, &[]), true),
            (alike(["Ama", "Söhne", ""], day, &[]), true),
            (alike(["Ama", "", "Söhne"], Some((1990, 2, 27)), &[]), false),
            (alike(["Ama", "", "Söhne"], None, &[]), false),
            (alike(["Ama", "Efua", "Söhne"], day, &[]), false),
            (alike(["Kofi", "", ""], None, &["233241234567"]), true),
            (alike(["Kofi", "", ""], None, &["233241234568", "+233-24-1234567"]), true),
            (alike(["", "", ""], day, &["none"]), false),
        ] {
            assert_eq!(ama.is_like(&other), expected, "{other:?}");
            assert_eq!(other.is_like(&ama), expected, "{other:?}");
        }
        let nobody = alike(["", "", ""], day, &[]);
        assert!(!nobody.is_like(&nobody));
    }

    proptest! {
        #[test]
        fn those_who_are_alike_share_a_mark(
            one in ("[ab]{0,2}", "[ab]{0,1}", 1..3i64, "[12]{0,1}"),
            other in ("[ab]{0,2}", "[ab]{0,1}", 1..3i64, "[12]{0,1}"),
        ) {
            let make = |(given, surname, day, phone): &(String, String, i64, String)| {
                alike([given, "", surname], Some((1990, 1, *day)), &[phone])
            };
            let (one, other) = (make(&one), make(&other));
            let marks = other.marks();
            let shared = one.marks().iter().any(|mark| marks.contains(mark));
            prop_assert_eq!(one.is_like(&other), shared);
        }
    }
}
