//! Rate limits of users, tools and providers, as token buckets.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use amplifier_core::words;

use crate::setting::{SettingError, in_seconds};
use crate::trace::refused;

/// The most bytes of a name.
const MAX_NAME_BYTES: usize = 1024;

/// The fewest names a limiter must have room for: those of one call.
const MIN_NAMES: usize = 3;

words! {
    /// Whose calls are counted.
    #[derive(PartialOrd, Ord)]
    pub enum Scope {
        /// Those of a user.
        User = "user",
        /// Those of a tool.
        Tool = "tool",
        /// Those to a provider.
        Provider = "provider",
    }
}

/// How many calls are allowed: `limit` in each `period`, and `burst` at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    limit: u32,
    period: Duration,
    burst: u32,
}

impl Rate {
    /// A rate, of which nothing may be zero.
    pub fn new(limit: u32, period: Duration, burst: u32) -> Result<Self, SettingError> {
        SettingError::unless_positive("limit", limit.into())?;
        if period.is_zero() {
            return Err(SettingError::new("period", "longer than 0 seconds", 0));
        }
        SettingError::unless_positive("burst", burst.into())?;
        Ok(Self {
            limit,
            period,
            burst,
        })
    }

    /// What a full bucket holds. A call takes the nanoseconds of `period` out and each nanosecond brings
    /// `limit`, so that everything is whole numbers, which are below 2^127 as a `Duration` is below 2^94 nanoseconds.
    fn capacity(self) -> u128 {
        u128::from(self.burst) * self.period.as_nanos()
    }

    /// The nanoseconds in which `amount` comes in, rounded up.
    fn time_for(self, amount: u128) -> u128 {
        amount.div_ceil(u128::from(self.limit))
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The user.
    pub user: Option<&'a str>,
    /// The tool.
    pub tool: Option<&'a str>,
    /// The provider.
    pub provider: Option<&'a str>,
}

/// A call beyond a rate limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimited {
    /// The limit is reached.
    #[error("rate limit of this {} reached; retry in {}", .scope.as_str(), in_seconds(*.wait))]
    Busy {
        /// Whose limit is reached; if there are several, the one with the longest wait.
        scope: Scope,
        /// Time until the call is allowed, unless another caller is faster.
        wait: Duration,
    },
    /// Too many names are tracked.
    #[error("too many {}s tracked; retry in {}", .scope.as_str(), in_seconds(*.wait))]
    Crowded {
        /// The kind of name that cannot be added.
        scope: Scope,
        /// Time until there is room, unless another caller is faster.
        wait: Duration,
    },
    /// A name is too long to keep.
    #[error("name of the {} must have at most {MAX_NAME_BYTES} bytes, found {bytes}", .scope.as_str())]
    LongName {
        /// What it is the name of.
        scope: Scope,
        /// How long it is.
        bytes: usize,
    },
}

type Key = (Scope, Arc<str>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: u128,
    at: Duration,
}

impl Bucket {
    fn refill(&mut self, rate: Rate, now: Duration) {
        let gained = now.saturating_sub(self.at).as_nanos() * u128::from(rate.limit);
        self.level = self.level.saturating_add(gained).min(rate.capacity());
        self.at = now;
    }

    fn full_at(&self, rate: Rate) -> u128 {
        self.at.as_nanos() + rate.time_for(rate.capacity() - self.level)
    }
}

/// Counts calls by user, tool and provider, each with a rate of its own.
///
/// Times are those of the caller's clock, since any moment; a time before the latest one counts as the latest.
/// The number of buckets is bounded: when there is no room, the bucket that has been full for the
/// longest time is dropped, which loses nothing; while none is full, new names have to wait.
#[doc = include_str!("../../docs/rate.md")]
#[derive(Clone, Debug)]
pub struct RateLimiter {
    rates: [Option<Rate>; MIN_NAMES],
    most_names: usize,
    buckets: HashMap<Key, Bucket>,
    /// Every bucket by the time at which it is full.
    by_rest: BTreeSet<(u128, Key)>,
    latest: Duration,
}

impl RateLimiter {
    /// A limiter with these rates (None for no limit) that tracks at most `most_names` names.
    pub fn new(
        user: Option<Rate>,
        tool: Option<Rate>,
        provider: Option<Rate>,
        most_names: usize,
    ) -> Result<Self, SettingError> {
        if most_names < MIN_NAMES {
            return Err(SettingError::new("max_names", "at least 3", most_names));
        }
        Ok(Self {
            rates: [user, tool, provider],
            most_names,
            buckets: HashMap::new(),
            by_rest: BTreeSet::new(),
            latest: Duration::ZERO,
        })
    }

    /// Number of names that are currently counted.
    #[must_use]
    pub fn names(&self) -> usize {
        self.buckets.len()
    }

    /// Count one call for each name of the caller, or for none of them.
    pub fn take(&mut self, caller: Caller<'_>, now: Duration) -> Result<(), RateLimited> {
        self.judge(caller, now)
            .inspect_err(|error| refused("rate", error))
    }

    fn judge(&mut self, caller: Caller<'_>, now: Duration) -> Result<(), RateLimited> {
        self.latest = self.latest.max(now);
        let mut wanted: Vec<(Key, Rate)> = Vec::with_capacity(MIN_NAMES);
        let names = [
            (Scope::User, caller.user, self.rates[0]),
            (Scope::Tool, caller.tool, self.rates[1]),
            (Scope::Provider, caller.provider, self.rates[2]),
        ];
        for (scope, name, rate) in names {
            let (Some(name), Some(rate)) = (name, rate) else {
                continue;
            };
            if name.len() > MAX_NAME_BYTES {
                let bytes = name.len();
                return Err(RateLimited::LongName { scope, bytes });
            }
            wanted.push(((scope, name.into()), rate));
        }
        self.make_room(&wanted, now)?;
        self.check(&wanted, now)?;
        for (key, rate) in wanted {
            self.spend(key, rate);
        }
        Ok(())
    }

    /// Let buckets go until those of the names that are not counted yet have a place.
    fn make_room(&mut self, wanted: &[(Key, Rate)], now: Duration) -> Result<(), RateLimited> {
        let is_new = |(key, _): &&(Key, Rate)| !self.buckets.contains_key(key);
        let Some(((scope, _), _)) = wanted.iter().find(is_new) else {
            return Ok(());
        };
        let needed = self.buckets.len() + wanted.iter().filter(is_new).count();
        let resting: Vec<_> = self
            .by_rest
            .iter()
            .filter(|(_, key)| wanted.iter().all(|(other, _)| other != key))
            .take(needed.saturating_sub(self.most_names))
            .cloned()
            .collect();
        if let Some((full_at, _)) = resting.last()
            && *full_at > self.latest.as_nanos()
        {
            return Err(RateLimited::Crowded {
                scope: *scope,
                wait: until(*full_at, now),
            });
        }
        for place in resting {
            self.buckets.remove(&place.1);
            self.by_rest.remove(&place);
        }
        Ok(())
    }

    /// Whether each bucket has a call in it.
    fn check(&self, wanted: &[(Key, Rate)], now: Duration) -> Result<(), RateLimited> {
        let waits = wanted.iter().filter_map(|(key, rate)| {
            let mut bucket = *self.buckets.get(key)?;
            bucket.refill(*rate, self.latest);
            let missing = rate.period.as_nanos().checked_sub(bucket.level)?;
            let ready_at = self.latest.as_nanos() + rate.time_for(missing);
            (missing > 0).then_some((ready_at, key.0))
        });
        match waits.max() {
            None => Ok(()),
            Some((ready_at, scope)) => Err(RateLimited::Busy {
                scope,
                wait: until(ready_at, now),
            }),
        }
    }

    fn spend(&mut self, key: Key, rate: Rate) {
        let mut bucket = match self.buckets.get(&key) {
            Some(bucket) => {
                self.by_rest.remove(&(bucket.full_at(rate), key.clone()));
                *bucket
            }
            None => Bucket {
                level: rate.capacity(),
                at: self.latest,
            },
        };
        bucket.refill(rate, self.latest);
        bucket.level -= rate.period.as_nanos();
        self.by_rest.insert((bucket.full_at(rate), key.clone()));
        self.buckets.insert(key, bucket);
    }
}

/// The time from `now` until so many nanoseconds, at least one of them; 584 years stand for more.
fn until(nanoseconds: u128, now: Duration) -> Duration {
    let wait = nanoseconds.saturating_sub(now.as_nanos()).max(1);
    Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
}
