//! When sessions were used last. A request only notes it in memory; once in a while it is written, since a
//! write for each request would cost more than the requests.

use crate::store::Tx;
use crate::store::record::{Record, key};
use crate::store::records::StoredSession;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

const MINUTE_MILLIS: i64 = 60_000;
/// A session that was not used for so long is remembered no more.
const REMEMBERED_SECONDS: i64 = 2 * 24 * 60 * 60;
/// Sessions that are written in one transaction.
const AT_ONCE: usize = 1_000;

/// The minute in which a moment is.
pub fn minute(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.millis() - moment.millis().rem_euclid(MINUTE_MILLIS))
}

/// The last uses of sessions by requests to this daemon.
#[derive(Debug, Default)]
pub struct LastUse {
    by_session: Mutex<HashMap<String, Used>>,
    /// Notified when a session is used in another minute than the one that is known.
    news: Notify,
    /// Whether other daemons may have seen later uses than are written.
    shared: bool,
}

#[derive(Debug, Clone)]
struct Used {
    /// The user; none for the token of an application, whose uses are not written.
    user: Option<String>,
    /// When the token of an application ends, and with it what is known of it: an application may have a new
    /// one for each of its requests.
    ends: Option<Timestamp>,
    at: Timestamp,
    /// The minute that was written last.
    written: Option<Timestamp>,
}

impl LastUse {
    /// Of a daemon that shares its store with others, or does not.
    pub fn new(shared: bool) -> Self {
        Self { shared, ..Self::default() }
    }

    /// Up to when a written use counts. Another daemon writes the first one in a minute, and keeps the later
    /// ones to itself.
    pub fn counts_to(&self, written: Timestamp) -> Timestamp {
        if self.shared { Timestamp::from_millis(minute(written).millis() + MINUTE_MILLIS) } else { written }
    }

    /// Notes that a session of a user is used.
    pub fn note(&self, user: &str, session: &str, now: Timestamp) {
        if self.note_use(Some(user), session, None, now) {
            self.news.notify_one();
        }
    }

    /// Notes that the token of an application is used, which ends at a moment.
    pub fn note_token(&self, hash: &str, ends: Timestamp, now: Timestamp) {
        self.note_use(None, hash, Some(ends), now);
    }

    /// Notes a use; whether it is the first one in its minute.
    fn note_use(&self, user: Option<&str>, session: &str, ends: Option<Timestamp>, now: Timestamp) -> bool {
        let mut all = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(session) {
            Some(used) => {
                let before = used.at;
                used.at = before.max(now);
                minute(before) != minute(used.at)
            }
            None => {
                let used = Used { user: user.map(str::to_owned), ends, at: now, written: None };
                all.insert(session.to_owned(), used).is_none()
            }
        }
    }

    /// Notified when there is something that other daemons may want to know.
    pub fn news(&self) -> &Notify {
        &self.news
    }

    /// When a session was used last, as far as this daemon has seen it.
    pub fn of(&self, session: &str) -> Option<Timestamp> {
        let all = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(session).map(|used| used.at)
    }

    /// Forgets a session that has ended.
    pub fn forget(&self, session: &str) {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    /// Uses that were not written yet, at most one for each session and minute: user, session, moment.
    pub fn unwritten(&self) -> Vec<(String, String, Timestamp)> {
        let mut all = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = all.values().map(|used| used.at).max() {
            let forgotten = |used: &Used| used.ends.unwrap_or(used.at.plus_seconds(REMEMBERED_SECONDS));
            all.retain(|_, used| forgotten(used) > last);
        }
        let new = all.iter().filter(|(_, used)| used.written != Some(minute(used.at)));
        new.filter_map(|(session, used)| Some((used.user.clone()?, session.clone(), used.at)))
            .take(AT_ONCE)
            .collect()
    }

    /// Notes what was written, and forgets the sessions that are no more.
    pub fn written(&self, uses: &[(String, String, Timestamp)], gone: &[String]) {
        let mut all = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, session, at) in uses {
            if let Some(used) = all.get_mut(session) {
                used.written = Some(minute(*at));
            }
        }
        for session in gone {
            all.remove(session);
        }
    }
}

/// Writes uses of sessions; which of these sessions are there no more.
pub fn write(tx: &mut Tx<'_>, uses: &[(String, String, Timestamp)]) -> Result<Vec<String>, Fault> {
    let mut gone = Vec::new();
    let keys: Vec<_> = uses.iter().map(|(user, session, _)| key(&[user, session])).collect();
    tx.expect(StoredSession::SPACE, &keys)?;
    for (user, session, at) in uses {
        match tx.get::<StoredSession>(&[user, session])? {
            Some(stored) if stored.last_used.is_none_or(|last| last < *at) => {
                tx.replace(&stored, &StoredSession { last_used: Some(*at), ..stored.clone() });
            }
            Some(_) => {}
            None => gone.push(session.clone()),
        }
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;

    #[test]
    fn a_token_of_an_application_is_known_until_it_ends_and_a_session_for_two_days() {
        let (uses, at) = (LastUse::default(), |seconds: i64| Timestamp::from_millis(seconds * 1_000));
        uses.note("ama", "session", at(0));
        for second in 0..100 {
            uses.note_token(&format!("token-{second}"), at(second + 20), at(second));
        }
        assert_eq!(uses.unwritten(), [("ama".to_owned(), "session".to_owned(), at(0))]);
        assert_eq!((uses.of("token-79"), uses.of("token-80")), (None, Some(at(80))));
        uses.note("kofi", "other", at(REMEMBERED_SECONDS));
        let (user, ..) = &uses.unwritten()[0];
        assert_eq!((user.as_str(), uses.of("session"), uses.of("token-99")), ("kofi", None, None));
    }

    #[test]
    fn uses_are_written_with_one_look_at_all_their_sessions() {
        let (mut store, at) = (Memory::new(), |seconds: i64| Timestamp::from_millis(seconds * 1_000));
        let session = |name: &str, last_used: Option<i64>| StoredSession {
            user: "ama".to_owned(),
            name: name.to_owned(),
            began: at(0),
            ends: at(9),
            rotation: 0,
            origin: None,
            last_used: last_used.map(at),
        };
        let before = [session("first", None), session("later", Some(5)), session("third", Some(1))];
        store.write(|tx| before.iter().try_for_each(|session| tx.put(session))).unwrap();
        let uses = ["first", "gone", "later", "third"].map(|name| ("ama".to_owned(), name.to_owned(), at(3)));
        store.unannounced = 0;
        assert_eq!(store.write(|tx| write(tx, &uses)).unwrap(), ["gone"]);
        assert_eq!(store.unannounced, 0);
        let used = |name| store.read(|tx| tx.get::<StoredSession>(&["ama", name])).and_then(|s| s.last_used);
        assert_eq!(["first", "later", "third"].map(used), [Some(at(3)), Some(at(5)), Some(at(3))]);
    }
}
