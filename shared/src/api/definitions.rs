//! Product definitions. Contract: `deposits.md` section 2.

use super::instances::Instance;
use crate::amount::Amount;
use crate::kind::Kind;
use crate::node::Node;
use crate::object::Fields;
use crate::object::{Nested, nested};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object, words};

words! {
    /// What kind of product it is.
    pub enum ProductType {
        /// A current account.
        Checking = "CHECKING",
        /// A savings account.
        Savings = "SAVINGS",
        /// Shares of the members.
        Share = "SHARE",
    }

    /// The unit of a term.
    pub enum TimeUnit {
        /// Months.
        Month = "MONTH",
        /// Years.
        Year = "YEAR",
    }

    /// When interest is payable.
    pub enum InterestPayable {
        /// At the end of the term.
        Maturity = "MATURITY",
        /// Every year.
        Annually = "ANNUALLY",
        /// Every quarter.
        Quarterly = "QUARTERLY",
        /// Every month.
        Monthly = "MONTHLY",
    }

    /// What can be done to a product definition.
    pub enum DefinitionAction {
        /// Put the product on sale.
        Activate = "ACTIVATE",
        /// Take it off sale.
        Deactivate = "DEACTIVATE",
    }
}

/// Largest proportional charge, in percent.
const PERCENT_MAX: i64 = 100;
/// Most charges of a product.
const CHARGES_MAX: usize = 100;

/// An amount of 0 or more; its digits are the limit.
const fn not_negative() -> DecimalRule {
    decimal(0, 1_000_000_000_000_000)
}

object! {
    /// A currency.
    pub struct Currency {
        /// Code; accounts of two codes never meet in one posting.
        code: String = required(line(4).not_blank()),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Sign.
        sign: String = required(line(8).not_blank()),
        /// Fraction digits of the smallest amount.
        scale: i64 = required(integer(0, 5)),
    }

    /// For how long money is laid up, and when interest is payable.
    pub struct Term across both_or_neither {
        /// How many units; goes with timeUnit.
        period: Option<i64> = optional(integer(1, 1200)),
        /// The unit; goes with period.
        time_unit: Option<TimeUnit> = optional(word()),
        /// When interest is payable.
        interest_payable: InterestPayable = required(word()),
    }

    /// What a transaction of a certain type costs.
    pub struct Charge {
        /// The action that ties the charge to a type of transaction.
        action_identifier: String = required(id(32)),
        /// The account where the charge is booked.
        income_account_identifier: String = required(id(34)),
        /// Name, unique within the product.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// Whether the amount is percent of the amount of the transaction, and not money.
        proportional: bool = or(flag(), false),
        /// Money, or percent.
        amount: Amount = required(not_negative()),
    }

    /// A product definition as every read shows it.
    pub struct Definition {
        /// Kind of product; never changes.
        r#type as "type": ProductType = required(word()),
        /// Unique over all definitions; never changes.
        identifier: String = required(id(32)),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// Currency.
        currency: Currency = required(nested()),
        /// What must stay on an account.
        minimum_balance: Amount = required(not_negative()),
        /// The group of accounts to which those of the customers belong; part of their identifiers.
        equity_ledger_identifier: String = required(id(34)),
        /// Cash account; never changes.
        cash_account_identifier: String = required(id(34)),
        /// Expense account.
        expense_account_identifier: String = required(id(34)),
        /// Accrual account; never changes.
        accrue_account_identifier: Option<String> = optional(id(34)),
        /// Interest in percent a year.
        interest: Option<Amount> = optional(decimal(0, 1000)),
        /// Term.
        term: Term = required(nested()),
        /// Charges, in their order.
        charges: Vec<Charge> = required(list(nested(), CHARGES_MAX)),
        /// Whether the interest may be changed.
        flexible: bool = required(flag()),
        /// Whether the product is on sale; only commands change it.
        active: bool = required(flag()),
    }

    /// A new product definition.
    pub struct NewDefinition across new_definition {
        /// Kind of product; never changes.
        r#type as "type": ProductType = required(word()),
        /// Unique over all definitions; never changes.
        identifier: String = required(id(32)),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// Currency.
        currency: Currency = required(nested()),
        /// What must stay on an account.
        minimum_balance: Amount = or(not_negative(), Amount::ZERO),
        /// The group of accounts to which those of the customers belong; part of their identifiers.
        equity_ledger_identifier: String = required(id(34)),
        /// Cash account; never changes.
        cash_account_identifier: String = required(id(34)),
        /// Expense account.
        expense_account_identifier: String = required(id(34)),
        /// Accrual account; only a product of type SHARE needs none. Never changes.
        accrue_account_identifier: Option<String> = optional(id(34)),
        /// Interest in percent a year.
        interest: Option<Amount> = optional(decimal(0, 1000)),
        /// Term.
        term: Term = required(nested()),
        /// Charges, in their order.
        charges: Vec<Charge> = or(charges(), Vec::new()),
        /// Whether the interest may be changed.
        flexible: bool = or(flag(), false),
    }

    /// A changed product definition; null keeps what is stored.
    pub struct DefinitionChange across charges_fit {
        /// The present type; it never changes.
        r#type as "type": Option<ProductType> = optional(word()),
        /// The identifier of the path.
        identifier: String = required(id(32)),
        /// Name.
        name: Option<String> = optional(line(256).not_blank()),
        /// Description; the empty text empties it.
        description: Option<String> = optional(text(2048)),
        /// Currency, replaced as a whole; code and scale stay while there are instances.
        currency: Option<Currency> = optional(nested()),
        /// What must stay on an account.
        minimum_balance: Option<Amount> = optional(not_negative()),
        /// The group of accounts of later instances.
        equity_ledger_identifier: Option<String> = optional(id(34)),
        /// The present cash account; it never changes.
        cash_account_identifier: Option<String> = optional(id(34)),
        /// Expense account.
        expense_account_identifier: Option<String> = optional(id(34)),
        /// The present accrual account; it never changes.
        accrue_account_identifier: Option<String> = optional(id(34)),
        /// Interest in percent a year; changes only where the stored definition is flexible.
        interest: Option<Amount> = optional(decimal(0, 1000)),
        /// Term, replaced as a whole.
        term: Option<Term> = optional(nested()),
        /// Charges; a list replaces the whole list.
        charges: Option<Vec<Charge>> = optional(charges()),
        /// Whether the interest may be changed.
        flexible: Option<bool> = optional(flag()),
    }

    /// A command to a product definition.
    pub struct DefinitionCommand {
        /// What to do.
        action: DefinitionAction = required(word()),
        /// Why.
        note: Option<String> = optional(text(2048)),
    }

    /// A command that was carried out.
    pub struct DefinitionCommandRecord {
        /// What was done.
        action: DefinitionAction = required(word()),
        /// Why.
        note: Option<String> = optional(text(2048)),
        /// By whom.
        created_by: String = required(line(256)),
        /// When.
        created_on: Timestamp = required(timestamp()),
    }
}

fn charges() -> Distinct<Nested<Charge>> {
    list(nested::<Charge>(), CHARGES_MAX).distinct_in(&["name"])
}

fn given<'n>(fields: &Fields<'n>, name: &str) -> Option<&'n Node> {
    fields.peek(name).filter(|node| **node != Node::Null)
}

fn both_or_neither(fields: &mut Fields<'_>) {
    let missing = match (given(fields, "period"), given(fields, "timeUnit")) {
        (None, Some(_)) => "period",
        (Some(_), None) => "timeUnit",
        _ => return,
    };
    fields.checks().property(missing, |at| at.refuse::<()>("required", "is required beside the other"));
}

fn new_definition(fields: &mut Fields<'_>) {
    let share = match fields.peek("type") {
        Some(Node::Text(word)) => ProductType::find(word).is_none_or(|kind| kind == ProductType::Share),
        _ => true,
    };
    if !share && given(fields, "accrueAccountIdentifier").is_none() {
        let refuse = |at: &mut Checks| at.refuse::<()>("required", "is required unless the type is SHARE");
        fields.checks().property("accrueAccountIdentifier", refuse);
    }
    charges_fit(fields);
}

/// A fixed charge is no finer than the currency, where that is given, and a proportional one is at most
/// 100 percent.
fn charges_fit(fields: &mut Fields<'_>) {
    let scale = match property(fields.peek("currency"), "scale") {
        // Zero may have a sign.
        Some(Node::Number(digits)) => digits.parse().ok().and_then(|scale: i64| u32::try_from(scale).ok()),
        _ => None,
    };
    let Some(Node::List(charges)) = fields.peek("charges") else { return };
    for (i, charge) in charges.iter().enumerate() {
        let Some(Node::Number(digits)) = property(Some(charge), "amount") else { continue };
        let Ok(amount) = Amount::parse(digits) else { continue };
        let proportional = property(Some(charge), "proportional") == Some(&Node::Bool(true));
        let (code, what) = if proportional && amount.0 > PERCENT_MAX.into() {
            ("out_of_range", format!("must be at most {PERCENT_MAX} percent"))
        } else if !proportional
            && !amount.is_negative()
            && scale.is_some_and(|s| amount.fraction_digits() > s)
        {
            ("too_many_decimals", "must be no finer than the scale of the currency".to_owned())
        } else {
            continue;
        };
        fields.checks().property("charges", |at| {
            at.element(i, |at| at.property("amount", |at| at.refuse::<()>(code, what)));
        });
    }
}

fn property<'n>(node: Option<&'n Node>, name: &str) -> Option<&'n Node> {
    let Node::Object(properties) = node? else { return None };
    properties.iter().find(|(given, _)| given == name).map(|(_, value)| value)
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("product", "/definitions/{}", "identifier", "GetDefinition")];

endpoints! {
    application "deposit-v1";
    /// Create a product definition, not yet active.
    CreateDefinition {} Post "/definitions" Json<NewDefinition> => Accepted;
    /// List all product definitions.
    ListDefinitions {} Get "/definitions" Nothing => Array<Definition>;
    /// Read a product definition.
    GetDefinition { definition } Get "/definitions/{definition}" Nothing => Json<Definition>,
        tag GetDefinition;
    /// Change a product definition.
    UpdateDefinition { definition } Put "/definitions/{definition}" Json<DefinitionChange> => Accepted,
        tag GetDefinition;
    /// Delete a product definition that has no instances.
    DeleteDefinition { definition } Delete "/definitions/{definition}" Nothing => Accepted, tag GetDefinition;
    /// List the instances of a product, in every state.
    ListDefinitionInstances { definition } Get "/definitions/{definition}/instances" Nothing
        => Array<Instance>;
    /// Put a product on sale, or take it off.
    CommandDefinition { definition } Post "/definitions/{definition}/commands" Json<DefinitionCommand>
        => Accepted;
    /// List the commands that were given to a product definition.
    ListDefinitionCommands { definition } Get "/definitions/{definition}/commands" Nothing
        => Array<DefinitionCommandRecord>;
}
