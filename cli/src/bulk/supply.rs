//! All records of a kind, one after the other as they arrive.

use crate::client::{Client, Stream};
use crate::failure::{Failure, Outcome};
use mfa_shared::api::cards::ListCards;
use mfa_shared::api::customers::{CustomerQuery, ListCustomers};
use mfa_shared::api::definitions::{ListDefinitionInstances, ListDefinitions};
use mfa_shared::api::employees::{EmployeeQuery, ListEmployees};
use mfa_shared::api::gateways::{ListEmailConfigurations, ListSmsConfigurations};
use mfa_shared::api::groups::ListGroups;
use mfa_shared::api::offices::ListOffices;
use mfa_shared::api::roles::ListRoles;
use mfa_shared::api::tellers::ListTellers;
use mfa_shared::api::users::ListUsers;
use mfa_shared::query::Paging;
use mfa_shared::wire::{Nothing, Query};
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;

type Opening<'a> = Pin<Box<dyn Future<Output = Outcome<Stream>> + 'a>>;
/// Opens the list of all records.
type List = fn(&Client) -> Opening<'_>;
/// Opens the list of the records that belong to one other.
type Inner = for<'a> fn(&'a Client, &'a str) -> Opening<'a>;

/// Where the records come from.
#[derive(Clone, Copy)]
pub enum Supply {
    /// From one list.
    List(List),
    /// From a list of each record of another list.
    OfEach(List, Inner),
}

/// All customers, closed ones, too.
pub fn customers(client: &Client) -> Opening<'_> {
    let query = Query(CustomerQuery { paging: Paging::default(), include_closed: true });
    Box::pin(async move { client.stream(&ListCustomers {}, &query).await })
}

/// All offices.
pub fn offices(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListOffices {}, &Query(Paging::default())).await })
}

/// All employees.
pub fn employees(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListEmployees {}, &Query(EmployeeQuery::default())).await })
}

/// All users.
pub fn users(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListUsers {}, &Nothing).await })
}

/// All products.
pub fn definitions(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListDefinitions {}, &Nothing).await })
}

/// The accounts of a product.
pub fn instances<'a>(client: &'a Client, product: &'a str) -> Opening<'a> {
    let endpoint = ListDefinitionInstances { definition: product.to_owned() };
    Box::pin(async move { client.stream(&endpoint, &Nothing).await })
}

/// The identification cards of a customer.
pub fn cards<'a>(client: &'a Client, customer: &'a str) -> Opening<'a> {
    let endpoint = ListCards { customer: customer.to_owned() };
    Box::pin(async move { client.stream(&endpoint, &Nothing).await })
}

/// The tellers of an office.
pub fn tellers<'a>(client: &'a Client, office: &'a str) -> Opening<'a> {
    let endpoint = ListTellers { office: office.to_owned() };
    Box::pin(async move { client.stream(&endpoint, &Nothing).await })
}

/// All permittable groups.
pub fn groups(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListGroups {}, &Nothing).await })
}

/// All roles.
pub fn roles(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListRoles {}, &Nothing).await })
}

/// All gateways for e-mail, without their passwords.
pub fn email_gateways(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListEmailConfigurations {}, &Nothing).await })
}

/// All gateways for short messages, without their secrets.
pub fn sms_gateways(client: &Client) -> Opening<'_> {
    Box::pin(async move { client.stream(&ListSmsConfigurations {}, &Nothing).await })
}

impl Supply {
    /// Hands over every record. What belongs to another one gets that one's identifier as property `within`.
    pub async fn each(
        &self,
        client: &Client,
        within: Option<&str>,
        take: &mut dyn FnMut(Value) -> Outcome,
    ) -> Outcome {
        match self {
            Supply::List(list) => drain(list(client).await?, take).await,
            Supply::OfEach(list, inner) => {
                let mut outer = list(client).await?;
                while let Some(line) = outer.next().await? {
                    let owner = read(&line)?["identifier"].as_str().unwrap_or_default().to_owned();
                    let of_owner = &mut |mut record: Value| {
                        if let Some(within) = within {
                            record[within] = json!(owner);
                        }
                        take(record)
                    };
                    drain(inner(client, &owner).await?, of_owner).await?;
                }
                Ok(())
            }
        }
    }
}

async fn drain(mut stream: Stream, take: &mut dyn FnMut(Value) -> Outcome) -> Outcome {
    while let Some(line) = stream.next().await? {
        take(read(&line)?)?;
    }
    Ok(())
}

fn read(line: &str) -> Outcome<Value> {
    serde_json::from_str(line)
        .map_err(|error| Failure::local(format!("the daemon sent a record that is not JSON: {error}")))
}
