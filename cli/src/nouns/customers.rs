//! Customers and their lifecycle.

mod guided;
mod portraits;

use crate::command::cx::Cx;
use crate::command::flags::{AddressFlags, ContactFlags};
use crate::command::noun::{self, Commands, Drafts, Flags, IMPORT, Import, Noun, Samples, Section, command};
use crate::command::verb::{Verb, changes, group, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::cards::ListCards;
use mfa_shared::api::customers::*;
use mfa_shared::api::offices::Address;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::time::Date;
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::People,
    typed: "customers",
    alias: "customer",
    about: "Customers and their lifecycle",
    singular: "customer",
    history: "customer",
    list: Some(&ListCustomers::META),
    every: Some((&ListCustomers::META, &[("includeClosed", "true")])),
    read: Some(&GetCustomer::META),
    create: Some(Row::of::<CreateCustomer>()),
    change: Some(Row::of::<UpdateCustomer>()),
    updates: Some(Flags::of::<CustomerChange>(&[
        "mfa customers update c-001 --surname Owusu --member",
        "mfa customers update c-001 --assigned-office market --clear middleName",
    ])),
    commands: Some(Commands {
        row: Row::of::<CommandCustomer>(),
        property: "action",
        remark: "comment",
        verbs: &[
            command("activate", "activated", "Activate a pending customer").examples(&[
                "mfa customers activate c-002",
                "mfa customers activate c-002 --comment 'papers are complete'",
            ]),
            command("lock", "locked", "Lock an active customer").asking("lock customer {}").examples(&[
                "mfa customers lock c-001",
                "mfa customers lock c-001 --comment 'card reported stolen'",
            ]),
            command("unlock", "unlocked", "Unlock a locked customer").examples(&[
                "mfa customers unlock c-003",
                "mfa customers unlock c-003 --comment 'card found'",
            ]),
            command("close", "closed", "Close a customer that has no open accounts")
                .asking("close customer {}")
                .examples(&["mfa customers close c-001", "mfa customers close c-001 --comment 'moved away'"]),
            command("reopen", "reopened", "Open a closed customer again")
                .examples(&["mfa customers reopen c-004", "mfa customers reopen c-004 --comment 'is back'"]),
        ],
    }),
    edited: true,
    view: &views::CUSTOMER,
    arguments: &["reference_customer"],
    fields: &["customer"],
    free: &["customerIdentifier", "referenceCustomer"],
    searched: Some(HitKind::Customer),
    import: Some(Import {
        plural: "customers",
        computed: &["currentState"],
        example: &[
            ("identifier", "c-900"),
            ("type", "PERSON"),
            ("givenName", "Ama"),
            ("surname", "Mensah"),
            ("dateOfBirth", "1990-05-17"),
            ("member", "true"),
            ("assignedOffice", "head-office"),
            ("address.street", "12 Ring Road"),
            ("address.city", "Accra"),
            ("address.countryCode", "GH"),
            ("address.country", "Ghana"),
            ("contactDetails", r#"[{"type":"MOBILE","group":"PRIVATE","value":"+233201234567"}]"#),
            ("applicationDate", "2024-03-05"),
            ("customValues", r#"[{"catalogIdentifier":"kyc","fieldIdentifier":"source","value":"market"}]"#),
        ],
        examples: &[
            "mfa customers import --template > all.csv && mfa customers import all.csv --validate-only",
            "mfa customers import --template > new.csv && mfa customers import new.csv --mode upsert",
            "echo '{\"identifier\": \"c-901\", \"surname\": \"Addo\"}' |\n    \
             mfa customers import - --format jsonl",
        ],
        export_examples: &["mfa customers export", "mfa customers export --out customers.jsonl -o jsonl"],
        ..IMPORT
    }),
    samples: Samples { one: "c-001", deleted: "", edit: "s/Accra/Kumasi/" },
    verbs: &[
        verb::<List>("list"),
        verb::<Get>("get"),
        verb::<Create>("create"),
        shows("commands", &ListCustomerCommands::META, &views::CUSTOMER_COMMAND, "customer")
            .examples(&["mfa customers commands c-001", "mfa customers commands c-001 -o csv"]),
        group(
            "address",
            "",
            "The address of a customer",
            &[changes::<SetCustomerAddress, AddressFlags>("set", "customer", "given an address")
                .reading(&GetCustomer::META, &views::CUSTOMER)
                .examples(&[
                    "mfa customers address set c-001 --street '3 Hill Road' --city Accra \\\n    \
                     --country-code GH --country Ghana",
                    "mfa offices address get head-office -o json | mfa customers address set c-001 --from -",
                ])],
        ),
        group(
            "contacts",
            "contact",
            "How a customer is reached",
            &[changes::<SetCustomerContacts, ContactFlags>("set", "customer", "given contacts")
                .reading(&GetCustomer::META, &views::CUSTOMER)
                .examples(&[
        "mfa customers contacts set c-001 --contact type=email,group=private,value=ama@example.org",
        "mfa customers contacts set c-001 --none",
    ])],
        ),
    ],
    parts: &[&portraits::NOUN],
    ..noun::NOUN
};

#[derive(Args)]
pub struct List {
    /// List closed customers, too
    #[arg(long)]
    include_closed: bool,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListCustomers::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa customers list",
        "mfa customers list --term mensah --columns identifier,surname,state",
        "mfa customers list --include-closed --sort state,-created -o jsonl",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        // A filter for the state CLOSED includes closed customers.
        let is_closed = |(name, state): &(String, String)| {
            matches!(name.as_str(), "state" | "currentState") && state.eq_ignore_ascii_case("closed")
        };
        let include_closed = self.include_closed || cx.list.filter.iter().any(is_closed);
        cx.list(ListCustomers {}, &views::CUSTOMER, |paging| Query(CustomerQuery { paging, include_closed }))
            .await
    }
}

/// Warns of expired cards of a customer, if the caller may read them.
pub async fn warn_of_cards(cx: &Cx, customer: &str) {
    // A caller who may not read cards gets no warning about them.
    if let Ok(reply) = cx.client.send(&ListCards { customer: customer.to_owned() }, &Nothing).await {
        warn_of_expired(cx, customer, &reply.value);
    }
}

/// Warns people of expired cards. Programs have the date.
pub fn warn_of_expired(cx: &Cx, customer: &str, cards: &Value) {
    if !cx.out.is_read_by_people() {
        return;
    }
    let today = cx.out.today();
    for card in cards.as_array().into_iter().flatten() {
        let part = |name: &str| card["expirationDate"][name].as_i64().unwrap_or_default();
        let Some(last) = Date::new(part("year"), part("month"), part("day")) else { continue };
        if last < today {
            let number = card["number"].as_str().unwrap_or_default();
            cx.out.warn(&format!(
                "card {number} of customer {customer} expired on {last}; record the new one: \
                 mfa cards create {customer} NUMBER --type TYPE --expires DATE"
            ));
        }
    }
}

#[derive(Args)]
pub struct Get {
    /// Identifier of the customer
    #[arg(value_name = "ID")]
    customer: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetCustomer::META);
    const EXAMPLES: &'static [&'static str] = &["mfa customers get c-001", "mfa customer get c-001 -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(GetCustomer { customer: self.customer.clone() }, &views::CUSTOMER).await?;
        if cx.out.is_read_by_people() {
            warn_of_cards(cx, &self.customer).await;
        }
        Ok(())
    }
}

/// What a customer is called; empty where no name was given.
pub fn name(customer: &Value) -> String {
    let names =
        ["givenName", "middleName", "surname"].map(|part| customer[part].as_str().unwrap_or_default());
    names.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What a customer can be given when it is created and when it is changed.
#[derive(Args)]
struct CustomerFlags {
    /// PERSON or BUSINESS
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Given name
    #[arg(short, long, value_name = "TEXT")]
    given_name: Option<String>,
    /// Middle name
    #[arg(long, value_name = "TEXT")]
    middle_name: Option<String>,
    /// Surname
    #[arg(short, long, value_name = "TEXT")]
    surname: Option<String>,
    /// Day of birth
    #[arg(short, long, value_name = "YYYY-MM-DD", value_parser = input::date_parts)]
    date_of_birth: Option<Draft>,
    /// Whether the customer is a member of the institution
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    member: Option<bool>,
    /// Who benefits from the accounts
    #[arg(long, value_name = "TEXT")]
    account_beneficiary: Option<String>,
    /// The customer who vouches for this one
    #[arg(long, value_name = "ID")]
    reference_customer: Option<String>,
    /// The office that looks after the customer
    #[arg(long, value_name = "ID")]
    assigned_office: Option<String>,
    /// The employee who looks after the customer
    #[arg(long, value_name = "ID")]
    assigned_employee: Option<String>,
    /// Day of the application
    #[arg(long, value_name = "YYYY-MM-DD")]
    application_date: Option<String>,
    /// Address, such as street='3 Hill Road',city=Accra,country-code=GH,country=Ghana
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<Address>)]
    address: Option<Draft>,
    /// Contact, such as type=mobile,group=private,value=+233201234567; can be repeated
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<CustomerContact>)]
    contact: Vec<Draft>,
    /// A value beside the fields; can be repeated
    #[arg(long, value_name = "CATALOG/FIELD=VALUE", value_parser = input::custom_value)]
    custom_value: Vec<Draft>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Drafts for CustomerFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("type", self.kind)
            .set("givenName", self.given_name)
            .set("middleName", self.middle_name)
            .set("surname", self.surname)
            .set("dateOfBirth", self.date_of_birth)
            .set("member", self.member)
            .set("accountBeneficiary", self.account_beneficiary)
            .set("referenceCustomer", self.reference_customer)
            .set("assignedOffice", self.assigned_office)
            .set("assignedEmployee", self.assigned_employee)
            .set("applicationDate", self.application_date)
            .set("address", self.address)
            .set_list("contactDetails", &self.contact)
            .set_list("customValues", &self.custom_value))
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the new customer, 1 to 32 characters; without flags on a terminal, asks for every field
    #[arg(value_name = "ID")]
    identifier: Option<String>,
    #[command(flatten)]
    flags: CustomerFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateCustomer::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa customers create c-100 --given-name Ama --surname Mensah --assigned-office head-office",
        "mfa customers create c-101 --type business --surname 'Volta Crafts' \\\n    \
         --contact type=mobile,group=business,value=+233201234567 --custom-value kyc/source=market",
        "echo '{\"identifier\": \"c-102\", \"surname\": \"Addo\"}' | mfa customers create --from - -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let from_file = self.flags.from.is_some();
        // In a script or a file a missing name may be meant; at a keyboard it is a mistake.
        let asks_for_name = !from_file && self.identifier.is_some() && cx.prompt.can_ask();
        let mut draft = self.flags.draft()?.set("identifier", self.identifier);
        let mut is_guided = false;
        match draft.text("identifier") {
            None if !draft.given => {
                draft = guided::ask(cx).await?;
                is_guided = true;
            }
            None if !from_file => return Err(input::missing("ID")),
            _ => {}
        }
        let customer = draft.text("identifier").unwrap_or_default().to_owned();
        draft.clone().body_of(&NOUN.creating()?)?;
        if asks_for_name && draft.text("givenName").is_none() && draft.text("surname").is_none() {
            cx.prompt.confirm(&format!("customer {customer} has no name; create it anyway?"))?;
        }
        cx.create(&NOUN, &[], draft).await?;
        if is_guided {
            // They were shown before the last question.
            cx.client.take_duplicates();
        }
        Ok(())
    }
}

#[derive(Args)]
struct CustomerChange {
    #[command(flatten)]
    flags: CustomerFlags,
    /// Property to empty, such as middleName; can be repeated
    #[arg(long, value_name = "PROPERTY")]
    clear: Vec<String>,
}

impl Drafts for CustomerChange {
    fn draft(self) -> Outcome<Draft> {
        Ok(self.flags.draft()?.clear(&self.clear))
    }
}
