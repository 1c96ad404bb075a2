//! Dividends of share products. Contract: `interest.md` section 3.

use crate::amount::Amount;
use crate::object::nested;
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object};

object! {
    /// Last day of the period of a dividend; it must be over.
    pub struct DueDate then is_over {
        /// Year.
        year: i64 = required(integer(1000, 9999)),
        /// Month, 1 to 12.
        month: i64 = required(integer(1, 12)),
        /// Day, 1 to 31.
        day: i64 = required(integer(1, 31)),
    }

    /// A dividend that is to be distributed.
    pub struct NewDividend {
        /// Last day of the period; there is one dividend of a product for each.
        due_date: DueDate = required(nested()),
        /// Percent a year.
        dividend_rate: Amount = required(decimal(0, 1000).exclusive()),
    }

    /// A dividend that was distributed.
    pub struct Dividend {
        /// Last day of the period.
        due_date: PastDay = required(nested()),
        /// Percent a year.
        dividend_rate: Amount = required(decimal(0, 1000)),
        /// Accounts that got something.
        accounts: i64 = required(integer(0, i64::MAX)),
        /// What they got together.
        amount: Amount = required(decimal(i64::MIN, i64::MAX)),
        /// Who distributed it.
        created_by: String = required(line(256)),
        /// When.
        created_on: Timestamp = required(timestamp()),
    }

    /// A day as its parts.
    pub struct PastDay {
        /// Year.
        year: i64 = required(integer(1000, 9999)),
        /// Month, 1 to 12.
        month: i64 = required(integer(1, 12)),
        /// Day, 1 to 31.
        day: i64 = required(integer(1, 31)),
    }
}

impl DueDate {
    /// The day of the calendar.
    pub fn date(&self) -> Option<Date> {
        Date::new(self.year, self.month, self.day)
    }
}

impl From<Date> for PastDay {
    fn from(date: Date) -> Self {
        let (year, month, day) = date.parts();
        Self { year: year.into(), month: month.into(), day: day.into() }
    }
}

fn is_over(due: &DueDate, at: &mut Checks) -> Option<()> {
    let Some(day) = due.date() else {
        return at.refuse("impossible_date", "must be a date of the calendar");
    };
    if day >= at.today {
        return at.refuse("out_of_range", "must be a day that is over in UTC");
    }
    Some(())
}

endpoints! {
    application "deposit-v1";
    /// Distribute a dividend to the accounts of a share product.
    DistributeDividend { definition } Post "/definitions/{definition}/dividends" Json<NewDividend>
        => Accepted;
    /// List the dividends of a share product by due date.
    ListDividends { definition } Get "/definitions/{definition}/dividends" Nothing => Array<Dividend>;
}
