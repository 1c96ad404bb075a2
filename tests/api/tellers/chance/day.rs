//! What the model does to tellers: make, change, open, unlock, pause, count, close.

use super::act::{At, Slip};
use super::model::*;

impl Model {
    pub fn make(&mut self, t: usize, at: At, pin: usize) -> Outcome {
        wrong(PINS[pin].len() < 4, "/password too_short")?;
        refuse(at == At::Nowhere, 404, "office_not_found")?;
        refuse(self.tellers[t].exists, 409, "identifier_taken")?;
        self.tellers[t] = Teller { exists: true, pin, ..Teller::new(t) };
        Ok(Facts::new())
    }

    pub fn delete(&mut self, t: usize, at: At) -> Outcome {
        self.managed(t, at)?;
        refuse(self.tellers[t].opened, 409, "teller_used")?;
        self.tellers[t].exists = false;
        Ok(Facts::new())
    }

    pub fn change(
        &mut self,
        who: usize,
        t: usize,
        at: At,
        (limit, drawer, pin, employee): (i64, &str, usize, Option<Option<usize>>),
        slip: Slip,
    ) -> Outcome {
        wrong(PINS[pin].len() < 4, "/password too_short")?;
        self.managed(t, at)?;
        refuse(slip == Slip::Other, 400, "identifier_mismatch")?;
        refuse(drawer.starts_with("anna."), 400, "account_kind_mismatch")?;
        let teller = &self.tellers[t];
        let is_new = employee.is_some_and(|employee| employee != teller.employee);
        refuse(teller.state != State::Closed && is_new, 409, "wrong_state")?;
        if drawer != teller.drawer {
            let (cash, before) = (teller.cash(), teller.drawer.clone());
            self.post(("ADJT", who, t), vec![(drawer.to_owned(), cash), (before, -cash)])?;
        }
        let teller = &mut self.tellers[t];
        (teller.limit, teller.drawer, teller.pin) = (limit, drawer.to_owned(), pin);
        teller.employee = employee.unwrap_or(teller.employee);
        teller.forget_failures();
        Ok(Facts::new())
    }

    /// Which way cash moves: into the drawer, or below 0 out of it.
    fn adjustment((word, amount): (&str, i64)) -> Result<i64, Refused> {
        wrong(amount < 0 || (word == "NONE" && amount != 0), "/amount out_of_range")?;
        Ok(if word == "CREDIT" { -amount } else { amount })
    }

    fn adjust(&mut self, who: usize, t: usize, amount: i64) -> Result<(), Refused> {
        let kind = if amount > 0 { "DAJT" } else { "CAJT" };
        let (drawer, vault) = ((self.tellers[t].drawer.clone(), amount), ("vault".to_owned(), -amount));
        // The debit comes first.
        let lines = if amount > 0 { vec![drawer, vault] } else { vec![vault, drawer] };
        refuse(self.tellers[t].cash() + amount < 0, 409, "insufficient_cash")?;
        self.post((kind, who, t), lines)
    }

    pub fn open(
        &mut self,
        who: usize,
        t: usize,
        at: At,
        employee: Option<usize>,
        moved: (&str, i64),
    ) -> Outcome {
        let amount = Self::adjustment(moved)?;
        self.managed(t, at)?;
        let employee = employee.or(self.tellers[t].employee);
        refuse(employee.is_none(), 400, "employee_required")?;
        refuse(self.tellers[t].state != State::Closed, 409, "wrong_state")?;
        let busy = self.tellers.iter().any(|o| o.state != State::Closed && o.employee == employee);
        refuse(busy, 409, "employee_has_open_teller")?;
        self.adjust(who, t, amount)?;
        let teller = &mut self.tellers[t];
        let carried = teller.cash();
        (teller.state, teller.employee, teller.opened, teller.count) = (State::Open, employee, true, None);
        teller.entries.clear();
        teller.moved(carried, "Cash carried over.");
        teller.moved(amount, "Teller adjustment.");
        Ok(Facts::new())
    }

    pub fn close(&mut self, who: usize, t: usize, at: At, moved: (&str, i64)) -> Outcome {
        let amount = Self::adjustment(moved)?;
        self.managed(t, at)?;
        let teller = &self.tellers[t];
        refuse(teller.state == State::Closed, 409, "wrong_state")?;
        refuse(teller.required && teller.count.is_none(), 409, "denomination_required")?;
        self.adjust(who, t, amount)?;
        let teller = &mut self.tellers[t];
        teller.moved(amount, "Teller adjustment.");
        let mut report = vec![
            fact("/number", Fact::Number(teller.reports.len() + 1)),
            fact("/tellerCode", Fact::Text(format!("T{t}"))),
            fact("/employeeIdentifier", or_null(teller.employee.map(employee_name))),
            fact("/cashReceivedTotal", Fact::Money(teller.total(true))),
            fact("/cashDisbursedTotal", Fact::Money(teller.total(false))),
            fact("/cashOnHand", Fact::Money(teller.cash())),
        ];
        let counted = teller.count.map(|(counted, sum)| [counted - sum, counted, sum]);
        for (place, name) in ["/expectedTotal", "/countedTotal", "/difference"].into_iter().enumerate() {
            report.push(fact(name, or_null(counted.map(|counted| Fact::Money(counted[place])))));
        }
        teller.reports.push(report);
        (teller.state, teller.employee) = (State::Closed, None);
        for pending in self.transactions.iter_mut().filter(|x| x.teller == t && x.state == 0) {
            pending.state = 2;
        }
        Ok(Facts::new())
    }

    pub fn unlock(&mut self, who: usize, t: usize, employee: usize, pin: usize) -> Outcome {
        self.works(who, t)?;
        refuse(self.tellers[t].state == State::Closed, 409, "wrong_state")?;
        let (now, teller) = (self.now, &mut self.tellers[t]);
        refuse(teller.employee != Some(employee), 403, "not_assigned_employee")?;
        refuse(now < teller.locked_until, 429, "too_many_attempts")?;
        if pin == teller.pin {
            teller.forget_failures();
            teller.state = State::Active;
            return Ok(vec![
                fact("/state", Fact::Text("OPEN".to_owned())),
                fact("/code", Fact::Text(format!("T{t}"))),
                fact("/password", Fact::Null),
                fact("/assignedEmployee", employee_name(employee)),
                fact("/cashdrawLimit", Fact::Money(teller.limit)),
            ]);
        }
        if now - teller.last_failure >= 24 * 3600 {
            teller.forget_failures();
        }
        teller.failures.retain(|at| now - at <= 900);
        teller.failures.push(now);
        teller.last_failure = now;
        if teller.failures.len() == 5 {
            teller.failures.clear();
            teller.locked_until = now + 60 * [1, 2, 4, 8, 16, 32, 60][teller.locks.min(6)];
            teller.locks += 1;
        }
        Err(refuse(true, 403, "wrong_drawer_password").unwrap_err())
    }

    pub fn pause(&mut self, who: usize, t: usize, slip: Slip) -> Outcome {
        refuse(slip == Slip::Word, 400, "invalid_parameter")?;
        self.works(who, t)?;
        self.is_active(t)?;
        self.tellers[t].state = State::Paused;
        Ok(Facts::new())
    }

    pub fn count(&mut self, who: usize, t: usize, at: At, total: i64) -> Outcome {
        wrong(total < 0, "/countedTotal out_of_range")?;
        self.managed(t, at)?;
        let teller = &self.tellers[t];
        refuse(teller.state != State::Paused, 400, "teller_not_paused")?;
        let (more, drawer, short) = (total - teller.cash(), teller.drawer.clone(), "over-short".to_owned());
        if more > 0 {
            self.post(("DAJT", who, t), vec![(drawer, more), (short, -more)])?
        } else {
            self.post(("CAJT", who, t), vec![(short, -more), (drawer, more)])?
        }
        let teller = &mut self.tellers[t];
        teller.moved(more, "Teller denomination adjustment.");
        teller.counts.push(total);
        teller.count = Some((total, teller.count.map_or(0, |(_, sum)| sum) + more));
        Ok(Facts::new())
    }
}
