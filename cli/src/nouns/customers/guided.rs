//! Guided input of a customer, required fields first.

use crate::command::cx::Cx;
use crate::command::guide::{Guide, Need, Reading, as_text};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::nouns::{employees, offices};
use crate::output::views;
use mfa_shared::api::customers::{CreateCustomer, GetCustomer};
use mfa_shared::wire::Nothing;
use serde_json::Value;

pub async fn ask(cx: &Cx) -> Outcome<Draft> {
    let last = ("create this customer?", &views::CUSTOMER);
    let asked =
        Guide::through(cx, ("mfa customers create", "ID"), async |guide| questions(cx, guide).await, last);
    Ok(Draft::from_record(asked.await?))
}

async fn questions(cx: &Cx, guide: &mut Guide<'_, CreateCustomer>) -> Outcome {
    let offices = offices::NOUN.identifiers(&cx.client, "", "").await;
    let employees = employees::NOUN.identifiers(&cx.client, "", "").await;
    guide.ask_identifier(|id| GetCustomer { customer: id.to_owned() }).await?;
    guide.choose(("--type", "/type"), "Type", &["PERSON", "BUSINESS"], Need::Required)?;
    loop {
        let given = guide.ask(("--given-name", "/givenName"), "Given name", Need::Optional, as_text)?;
        let place = ("--surname", "/surname");
        let surname = guide.ask(place, "Surname, or name of the business", Need::Optional, as_text)?;
        if given || surname || guide.wants("A customer without a name is hard to find. Leave it out?")? {
            break;
        }
    }
    let day: Reading = |text| input::date_parts(text).map(Value::from);
    guide.ask(("--date-of-birth", "/dateOfBirth"), "Born on (YYYY-MM-DD)", Need::Optional, day)?;
    guide.choose(("--assigned-office", "/assignedOffice"), "Office", &offices, Need::Optional)?;
    guide.choose(("--assigned-employee", "/assignedEmployee"), "Employee", &employees, Need::Optional)?;
    if guide.wants("Add an address?")? {
        guide.ask(("--address", "/address/street"), "Street", Need::Required, as_text)?;
        guide.ask(("--address", "/address/city"), "City", Need::Required, as_text)?;
        guide.ask(("--address", "/address/region"), "Region", Need::Optional, as_text)?;
        guide.ask(("--address", "/address/postalCode"), "Postal code", Need::Optional, as_text)?;
        guide.ask(
            ("--address", "/address/countryCode"),
            "Country code, such as GH",
            Need::Required,
            as_text,
        )?;
        guide.ask(("--address", "/address/country"), "Country", Need::Required, as_text)?;
    }
    let mut question = "Add a contact?";
    let mut number = 0;
    while guide.wants(question)? {
        let at = |name: &str| format!("/contactDetails/{number}/{name}");
        let kinds = ["MOBILE", "PHONE", "EMAIL"];
        guide.choose(("--contact", &at("type")), "Kind", &kinds, Need::Required)?;
        let groups = ["PRIVATE", "BUSINESS"];
        guide.choose(("--contact", &at("group")), "Used for", &groups, Need::Required)?;
        guide.ask(("--contact", &at("value")), "Number or address", Need::Required, as_text)?;
        (question, number) = ("Add another contact?", number + 1);
    }
    show_duplicates(cx, guide).await;
    Ok(())
}

/// Shows who may be the same person, before the last question.
async fn show_duplicates(cx: &Cx, guide: &Guide<'_, CreateCustomer>) {
    // A refusal is reported when the record is sent.
    let Ok(body) = Draft::from_record(guide.body().clone()).body::<CreateCustomer>() else { return };
    let _ = cx.client.try_out(&CreateCustomer {}, &body).await;
    cx.client.take_dangling();
    for other in cx.client.take_duplicates().into_iter().flat_map(|new| new.others) {
        let read = GetCustomer { customer: other.clone() };
        let Ok(reply) = cx.client.send(&read, &Nothing).await else { continue };
        let name = super::name(&reply.value);
        let state = reply.value["currentState"].as_str().unwrap_or_default();
        cx.out.warn(&format!("there is a similar customer already: {other} {name} ({state})"));
    }
}
