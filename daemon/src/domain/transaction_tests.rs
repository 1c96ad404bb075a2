//! The tables of `tellers.md` sections 6, 7, 8, 12 and 13, number by number.

use super::*;
use mfa_shared::rule::Word;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

#[test]
fn a_proportional_charge_is_rounded_once_and_half_to_even() {
    for (transaction, percent, scale, expected) in [
        ("1234.56", "3", 2, "37.04"),
        ("1234.56", "3", 3, "37.037"),
        ("50.50", "3", 2, "1.52"),
        ("81.50", "3", 2, "2.44"),
        ("80.20", "12.5", 2, "10.02"),
        ("50", "3", 0, "2"),
        ("150", "3", 0, "4"),
        ("0.10", "3", 2, "0"),
        ("0.16667", "3", 2, "0.01"),
        ("999999999999999.99999", "100", 5, "999999999999999.99999"),
        ("999999999999999.99999", "99.99999", 5, "999999899999999.99999"),
    ] {
        let charged = charge(amount(transaction), amount(percent), true, scale);
        assert_eq!(charged, amount(expected), "{transaction} at {percent} % and scale {scale}");
    }
    assert_eq!(charge(amount("1234.56"), amount("1.50"), false, 2), amount("1.50"));
}

/// A situation as one line: type, amount, charges, `in` or `ex`, account, balance, minimum, limit, cash.
fn situation(text: &str) -> Situation {
    let cells: Vec<_> = text.split_whitespace().collect();
    let stage = |text| match text {
        "PENDING" => AccountStage::Pending,
        "ACTIVE" => AccountStage::Active,
        _ => AccountStage::Closed,
    };
    let (account, target) = cells[4].split_once('>').unwrap_or((cells[4], ""));
    Situation {
        transaction: TransactionType::find(cells[0]).unwrap(),
        amount: amount(cells[1]),
        charges: amount(cells[2]),
        included: cells[3] == "in",
        account: stage(account),
        target: (!target.is_empty()).then(|| stage(target)),
        balance: amount(cells[5]),
        minimum: amount(cells[6]),
        limit: amount(cells[7]),
        cash: amount(cells[8]),
    }
}

fn outcome(situation: &Situation) -> &'static str {
    match check(situation) {
        Ok(()) => "ok",
        Err(Refusal::AccountState { .. } | Refusal::TargetState(_)) => "wrong_state",
        Err(Refusal::OverLimit(_)) => "over_cashdraw_limit",
        Err(Refusal::Balance { .. }) => "insufficient_balance",
        Err(Refusal::Remaining(_)) => "remaining_balance",
        Err(Refusal::Minimum { .. }) => "below_minimum_balance",
        Err(Refusal::Cash { .. }) => "insufficient_cash",
    }
}

#[test]
fn the_refusals_of_the_contract() {
    for (text, expected) in [
        ("ACCO 99.99 5    in PENDING 0 100 1000 0", "below_minimum_balance"),
        ("ACCO 100   5    ex PENDING 0 100 1000 0", "ok"),
        ("CWDL 1000.01 30 ex ACTIVE 447.98 100 1000 2877.94", "over_cashdraw_limit"),
        ("CWDL 1000.00 30 ex ACTIVE 447.98 100 1000 2877.94", "insufficient_balance"),
        ("CWDL 440 13.20  ex ACTIVE 447.98 100 1000 2877.94", "insufficient_balance"),
        ("CWDL 340 10.20  ex ACTIVE 447.98 100 1000 2877.94", "below_minimum_balance"),
        ("CWDL 340 10.20  in ACTIVE 447.98 100 1000 2877.94", "ok"),
        ("ACCC 437.98 10  ex ACTIVE 447.98 100 1000 2877.94", "ok"),
        ("ACCC 447.98 10  ex ACTIVE 447.98 100 1000 2877.94", "insufficient_balance"),
        ("ACCC 400 10     ex ACTIVE 447.98 100 1000 2877.94", "remaining_balance"),
        ("CDPT 1 1.50     ex ACTIVE 0 100 1000 0", "insufficient_balance"),
        ("CDPT 1.50 1.50  ex ACTIVE 0 100 1000 0", "ok"),
        ("CWDL 60 1.80    in ACTIVE 500 100 1000 50", "insufficient_cash"),
        ("CWDL 51.50 1.54 in ACTIVE 500 100 1000 50", "ok"),
    ] {
        assert_eq!(outcome(&situation(text)), expected, "{text}");
    }
}

#[test]
fn the_checks_of_every_type_at_their_bounds() {
    for (text, expected) in [
        // Account states.
        ("ACCO 100 0 in ACTIVE  0 0 1000 0", "wrong_state"),
        ("ACCO 100 0 in CLOSED  0 0 1000 0", "wrong_state"),
        ("CDPT 100 0 in PENDING 0 0 1000 0", "wrong_state"),
        ("CWDL 100 0 in PENDING 0 0 1000 0", "wrong_state"),
        ("ACCC 0   0 in CLOSED  0 0 1000 0", "wrong_state"),
        ("ACCT 100 0 in ACTIVE>PENDING 500 0 1000 0", "wrong_state"),
        ("ACCT 100 0 in ACTIVE>CLOSED  500 0 1000 0", "wrong_state"),
        ("ACCT 100 0 in CLOSED>ACTIVE  500 0 1000 0", "wrong_state"),
        // The charges of a deposit may eat the deposit, not more.
        ("ACCO 5 5    ex PENDING 0 0 1000 0", "ok"),
        ("ACCO 5 5.01 ex PENDING 0 0 1000 0", "insufficient_balance"),
        ("ACCO 5 5.01 in PENDING 0 0 1000 0", "ok"),
        ("ACCO 0 0    ex PENDING 0 0 1000 0", "ok"),
        ("CDPT 5 9    ex ACTIVE  4 100 1000 0", "ok"),
        ("CDPT 5 9.01 ex ACTIVE  4 100 1000 0", "insufficient_balance"),
        ("CDPT 5 9.01 in ACTIVE  4 100 1000 0", "ok"),
        // The minimum holds after the charges, where the account pays them.
        ("CWDL 50 1 ex ACTIVE 151 100 1000 50", "ok"),
        ("CWDL 50 1 ex ACTIVE 150.99 100 1000 50", "below_minimum_balance"),
        ("CWDL 50 1 in ACTIVE 150 100 1000 49", "ok"),
        ("CWDL 50 1 in ACTIVE 150 100 1000 48.99", "insufficient_cash"),
        ("CWDL 50 1 ex ACTIVE 151 100 1000 49.99", "insufficient_cash"),
        ("CWDL 50 1 ex ACTIVE 50.99 0 1000 0", "insufficient_balance"),
        ("ACCT 50 1 ex ACTIVE>ACTIVE 151 100 0 0", "ok"),
        ("ACCT 50 1 ex ACTIVE>ACTIVE 150.99 100 0 0", "below_minimum_balance"),
        ("ACCT 50 1 ex ACTIVE>ACTIVE 50.99 0 0 0", "insufficient_balance"),
        ("ACCT 50 1 in ACTIVE>ACTIVE 50 0 0 0", "ok"),
        // Closing empties the account and looks at no minimum.
        ("ACCC 10 0 ex ACTIVE 10 100 1000 10", "ok"),
        ("ACCC 10 0 in ACTIVE 10 100 9.99 10", "over_cashdraw_limit"),
        ("ACCC 10 2 in ACTIVE 10 100 1000 8", "ok"),
        ("ACCC 10 2 in ACTIVE 10 100 1000 7.99", "insufficient_cash"),
        ("ACCC 0  0 ex ACTIVE 0 100 0 0", "ok"),
        // The first check that fails speaks.
        ("CWDL 50 0 ex PENDING 0 100 1 0", "wrong_state"),
        ("CWDL 50 0 ex ACTIVE 0 100 1 0", "over_cashdraw_limit"),
        ("CWDL 50 0 ex ACTIVE 0 100 50 0", "insufficient_balance"),
        ("CWDL 50 0 ex ACTIVE 50 100 50 0", "below_minimum_balance"),
        ("CWDL 50 0 ex ACTIVE 150 100 50 0", "insufficient_cash"),
    ] {
        assert_eq!(outcome(&situation(text)), expected, "{text}");
    }
}

fn shown(line: &Line) -> String {
    let side = if line.debit { "Dr" } else { "Cr" };
    let place = match line.place {
        Place::Drawer => "drawer",
        Place::Account => "account",
        Place::Target => "target",
        Place::Income(_) => "income",
    };
    format!("{side} {place} {}", line.amount)
}

#[test]
fn the_lines_of_each_type_in_their_order() {
    let kinds = [Cdpt, Acco, Cwdl, Accc, Acct];
    let expected = [
        (true, "Dr drawer 103; Cr account 100; Cr income 1; Cr income 2"),
        (true, "Dr drawer 103; Cr account 100; Cr income 1; Cr income 2"),
        (true, "Dr account 100; Dr drawer 3; Cr drawer 100; Cr income 1; Cr income 2"),
        (true, "Dr account 100; Dr drawer 3; Cr drawer 100; Cr income 1; Cr income 2"),
        (true, "Dr account 100; Dr drawer 3; Cr target 100; Cr income 1; Cr income 2"),
        (false, "Dr drawer 100; Dr account 3; Cr account 100; Cr income 1; Cr income 2"),
        (false, "Dr drawer 100; Dr account 3; Cr account 100; Cr income 1; Cr income 2"),
        (false, "Dr account 100; Dr account 3; Cr drawer 100; Cr income 1; Cr income 2"),
        (false, "Dr account 100; Dr account 3; Cr drawer 100; Cr income 1; Cr income 2"),
        (false, "Dr account 100; Dr account 3; Cr target 100; Cr income 1; Cr income 2"),
    ];
    let charges = [amount("1"), amount("2")];
    for (kind, (included, expected)) in kinds.iter().cycle().zip(expected) {
        let found = lines(*kind, amount("100"), &charges, included);
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>().join("; "), expected, "{kind} {included}");
        let side = |debit| Amount::sum(found.iter().filter(|l| l.debit == debit).map(|l| l.amount));
        assert_eq!(side(true), side(false), "{kind} {included}");
        assert!(lines(*kind, Amount::ZERO, &[], included).is_empty());
    }
    let only_charge = lines(Acco, Amount::ZERO, &charges[..1], true);
    assert_eq!(only_charge.iter().map(shown).collect::<Vec<_>>(), ["Dr drawer 1", "Cr income 1"]);
}

#[test]
fn the_worked_session() {
    // Type, amount, charges, included, lines; the balances of drawer, a, b and income afterwards.
    let steps = [
        ("ACCO a 100 5 in", "2105 100 0 5"),
        ("ACCO b 500 5 ex", "2605 100 495 10"),
        ("CDPT a 400 1.50 in", "3006.50 500 495 11.50"),
        ("CDPT b 1 1.50 ex", "3007.50 500 494.50 13.00"),
        ("CWDL a 50.50 1.52 ex", "2957.00 447.98 494.50 14.52"),
        ("CWDL b 81.50 2.44 in", "2877.94 447.98 413.00 16.96"),
        ("ACCT a 100 1.25 ex", "2877.94 346.73 513.00 18.21"),
        ("ACCT b 200 2.50 in", "2880.44 546.73 313.00 20.71"),
        ("ACCC a 536.73 10 ex", "2343.71 0.00 313.00 30.71"),
        ("ACCC b 313 10 in", "2040.71 0.00 0.00 40.71"),
    ];
    let mut drawer = amount("2000");
    let mut accounts = [Amount::ZERO; 2];
    let mut income = Amount::ZERO;
    let mut stages = [AccountStage::Pending; 2];
    for (step, after) in steps {
        let cells: Vec<_> = step.split(' ').collect();
        let kind = TransactionType::find(cells[0]).unwrap();
        let account = usize::from(cells[1] == "b");
        let value = amount(cells[2]);
        let charges = amount(cells[3]);
        let included = cells[4] == "in";
        let situation = Situation {
            transaction: kind,
            amount: value,
            charges,
            included,
            account: stages[account],
            target: Some(stages[1 - account]),
            balance: accounts[account],
            minimum: amount("100"),
            limit: amount("1000"),
            cash: drawer,
        };
        assert_eq!(check(&situation), Ok(()), "{step}");
        for line in lines(kind, value, &[charges], included) {
            let (balance, rises) = match line.place {
                Place::Drawer => (&mut drawer, line.debit),
                Place::Account => (&mut accounts[account], !line.debit),
                Place::Target => (&mut accounts[1 - account], !line.debit),
                Place::Income(_) => (&mut income, !line.debit),
            };
            *balance = if rises { balance.plus(line.amount) } else { balance.minus(line.amount) };
        }
        let expected: Vec<_> = after.split(' ').map(amount).collect();
        assert_eq!([drawer, accounts[0], accounts[1], income], expected[..], "{step}");
        stages[account] = if kind == Accc { AccountStage::Closed } else { AccountStage::Active };
    }
}
