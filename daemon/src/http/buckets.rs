//! The buckets of tokens and addresses, from which each request is taken. How large they are:
//! `domain/rate.rs`.

use crate::domain::rate::{Bucket, Limit, Standing};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Parts of the table of buckets, each with a lock of its own.
const SHARDS: usize = 16;
/// Buckets of a shard. Beyond, those that are full again go, and all of them where that is not enough.
const BUCKETS_MAX: usize = 8_192;
/// The buckets. Each is stored as the moment at which it will be full again, so a full one takes no space.
#[derive(Debug, Default)]
pub struct Buckets {
    shards: [Mutex<HashMap<u64, u64>>; SHARDS],
    /// Keyed at random, so that no one can choose whose bucket to share.
    names: RandomState,
}

impl Buckets {
    fn shard(&self, name: u64) -> MutexGuard<'_, HashMap<u64, u64>> {
        self.shards[(name % SHARDS as u64) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, bucket: Bucket, key: &impl Hash) -> u64 {
        self.names.hash_one((bucket, key))
    }

    /// Takes one request out of a bucket, if there is one.
    pub fn take(
        &self,
        bucket: Bucket,
        key: &impl Hash,
        limit: Limit,
        now: Duration,
    ) -> Result<Standing, Standing> {
        let interval = limit.interval();
        let now = nanos(now);
        let size = interval.saturating_mul(limit.quota());
        let name = self.name(bucket, key);
        let mut shard = self.shard(name);
        let missing = shard.get(&name).map_or(0, |full_at| full_at.saturating_sub(now));
        let over = missing.saturating_add(interval).saturating_sub(size);
        if over > 0 {
            return Err(Standing { bucket, limit, left: 0, reset: Duration::from_nanos(over) });
        }
        let missing = missing + interval;
        make_room(&mut shard, now);
        shard.insert(name, now.saturating_add(missing));
        let left = (size - missing) / interval;
        Ok(Standing { bucket, limit, left, reset: Duration::from_nanos(missing) })
    }

    /// Takes more requests out of a bucket than it may hold; later callers wait for them.
    pub fn owe(&self, bucket: Bucket, key: &impl Hash, limit: Limit, requests: u64, now: Duration) {
        let now = nanos(now);
        let name = self.name(bucket, key);
        let mut shard = self.shard(name);
        let full_at = shard.get(&name).map_or(now, |full_at| now.max(*full_at));
        make_room(&mut shard, now);
        shard.insert(name, full_at.saturating_add(limit.interval().saturating_mul(requests)));
    }

    /// Whether there is a bucket.
    pub fn has(&self, bucket: Bucket, key: &impl Hash) -> bool {
        let name = self.name(bucket, key);
        self.shard(name).contains_key(&name)
    }

    /// Takes the bucket of a token away that is not live any more.
    pub fn forget(&self, token: &str) {
        let name = self.name(Bucket::Token, &token);
        self.shard(name).remove(&name);
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }
}

fn make_room(shard: &mut HashMap<u64, u64>, now: u64) {
    if shard.len() < BUCKETS_MAX {
        return;
    }
    shard.retain(|_, full_at| *full_at > now);
    // To look through all of them for each new one would cost more than to begin anew.
    if shard.len() > BUCKETS_MAX / 2 {
        shard.clear();
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "buckets_tests.rs"]
mod tests;
