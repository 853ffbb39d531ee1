//! Token buckets are exact, whatever the clock does, and bounded in number without losing count.

use std::collections::HashMap;
use std::time::Duration;

use amplifier_guard::{Caller, CircuitOpen, Rate, RateLimited, RateLimiter, Scope};
use proptest::prelude::*;

fn user(name: &str) -> Caller<'_> {
    Caller {
        user: Some(name),
        ..Caller::default()
    }
}

fn ns(nanoseconds: u64) -> Duration {
    Duration::from_nanos(nanoseconds)
}

fn limiter(limit: u32, period: u64, burst: u32) -> RateLimiter {
    let rate = Rate::new(limit, ns(period), burst).unwrap();
    RateLimiter::new(Some(rate), None, None, 100).unwrap()
}

fn busy(wait: u64) -> Result<(), RateLimited> {
    Err(RateLimited::Busy {
        scope: Scope::User,
        wait: ns(wait),
    })
}

#[test]
fn a_burst_is_allowed_and_then_the_rate() {
    let mut limiter = limiter(2, 10, 3);
    let answers = [0, 0, 0, 0, 4, 5, 5].map(|now| limiter.take(user("ada"), ns(now)));

    assert_eq!(
        answers,
        [Ok(()), Ok(()), Ok(()), busy(5), busy(1), Ok(()), busy(5)]
    );
}

#[test]
fn each_user_tool_and_provider_counts_alone() {
    let one = Some(Rate::new(1, ns(100), 1).unwrap());
    let mut limiter = RateLimiter::new(one, one, one, 100).unwrap();
    let call = |user, tool, provider| Caller {
        user: Some(user),
        tool: Some(tool),
        provider: Some(provider),
    };
    let refused = |scope, wait| {
        let wait = ns(wait);
        Err(RateLimited::Busy { scope, wait })
    };

    assert_eq!(limiter.take(call("x", "x", "x"), ns(0)), Ok(()));
    assert_eq!(
        limiter.take(call("x", "y", "y"), ns(10)),
        refused(Scope::User, 90)
    );
    assert_eq!(
        limiter.take(call("y", "x", "y"), ns(10)),
        refused(Scope::Tool, 90)
    );
    assert_eq!(
        limiter.take(call("y", "y", "x"), ns(10)),
        refused(Scope::Provider, 90)
    );
    // Refused calls have taken nothing.
    assert_eq!(limiter.take(call("y", "y", "y"), ns(10)), Ok(()));
}

#[test]
fn of_several_that_are_too_many_the_one_that_waits_the_longest_is_named() {
    let rate = |period| Some(Rate::new(1, ns(period), 1).unwrap());
    let mut limiter = RateLimiter::new(rate(50), rate(100), rate(70), 100).unwrap();
    let caller = Caller {
        user: Some("x"),
        tool: Some("x"),
        provider: Some("x"),
    };
    assert_eq!(limiter.take(caller, ns(0)), Ok(()));

    let (scope, wait) = (Scope::Tool, ns(90));
    assert_eq!(
        limiter.take(caller, ns(10)),
        Err(RateLimited::Busy { scope, wait })
    );
}

#[test]
fn a_scope_without_a_rate_has_no_limit() {
    let mut limiter = RateLimiter::new(None, None, None, 3).unwrap();
    for _ in 0..1000 {
        assert_eq!(limiter.take(user("ada"), ns(0)), Ok(()));
    }
    assert_eq!(limiter.names(), 0);
}

#[test]
fn a_rest_of_centuries_fills_a_bucket_and_no_more() {
    let mut limiter = limiter(u32::MAX, u32::MAX.into(), 2);
    for now in [0, u64::MAX] {
        let answers = [now; 3].map(|now| limiter.take(user("ada"), ns(now)));
        assert_eq!(answers, [Ok(()), Ok(()), busy(1)]);
    }
}

#[test]
fn the_slowest_rate_waits_for_its_time_and_the_largest_bucket_is_exact() {
    let mut slow = limiter(1, u64::MAX, 1);
    assert_eq!(slow.take(user("ada"), ns(0)), Ok(()));
    assert_eq!(slow.take(user("ada"), ns(0)), busy(u64::MAX));
    assert_eq!(slow.take(user("ada"), ns(u64::MAX - 1)), busy(1));
    assert_eq!(slow.take(user("ada"), ns(u64::MAX)), Ok(()));

    let largest = Rate::new(u32::MAX, Duration::MAX, u32::MAX).unwrap();
    let mut large = RateLimiter::new(Some(largest), None, None, 3).unwrap();
    assert_eq!(large.take(user("ada"), Duration::ZERO), Ok(()));
    assert_eq!(large.take(user("ada"), Duration::MAX), Ok(()));
    assert_eq!(large.take(user("ada"), Duration::MAX), Ok(()));
}

#[test]
fn a_clock_that_jumps_back_brings_no_calls() {
    let mut limiter = limiter(1, 10, 1);
    assert_eq!(limiter.take(user("ada"), ns(100)), Ok(()));
    let answers = [0, 100, 3, 109, 110].map(|now| limiter.take(user("ada"), ns(now)));

    assert_eq!(answers, [busy(110), busy(10), busy(107), busy(1), Ok(())]);
}

#[test]
fn a_name_goes_when_it_rests_and_a_new_one_waits_while_none_does() {
    let rate = Rate::new(1, ns(10), 1).unwrap();
    let mut limiter = RateLimiter::new(Some(rate), None, None, 3).unwrap();
    for (name, now) in [("a", 0), ("b", 1), ("c", 2)] {
        assert_eq!(limiter.take(user(name), ns(now)), Ok(()));
    }
    let crowded = RateLimited::Crowded {
        scope: Scope::User,
        wait: ns(1),
    };

    assert_eq!(limiter.take(user("d"), ns(9)), Err(crowded));
    assert_eq!(limiter.take(user("d"), ns(10)), Ok(()));
    assert_eq!(limiter.names(), 3);
    assert_eq!(limiter.take(user("b"), ns(10)), busy(1));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let settings = [(0, 1, 1), (1, 0, 1), (1, 1, 0)];
    let errors = settings
        .map(|(limit, period, burst)| Rate::new(limit, ns(period), burst).unwrap_err().to_string());
    assert_eq!(
        errors,
        [
            "`limit` must be at least 1, found `0`",
            "`period` must be longer than 0 seconds, found `0`",
            "`burst` must be at least 1, found `0`",
        ]
    );
    assert_eq!(
        RateLimiter::new(None, None, None, 2)
            .unwrap_err()
            .to_string(),
        "`max_names` must be at least 3, found `2`"
    );

    assert_eq!(
        limiter(1, 1, 1).take(user(&"x".repeat(1024)), ns(0)),
        Ok(())
    );
    let answer = limiter(1, 1, 1).take(user(&"x".repeat(1025)), ns(0));
    assert_eq!(
        answer.unwrap_err().to_string(),
        "name of the user must have at most 1024 bytes, found 1025"
    );
}

/// A bucket that is filled nanosecond by nanosecond.
struct Bucket {
    level: u64,
    at: u64,
}

struct Model {
    limit: u64,
    period: u64,
    burst: u64,
    buckets: HashMap<u8, Bucket>,
    clock: u64,
}

impl Model {
    fn step(&mut self, now: u64) {
        self.clock = self.clock.max(now);
        for bucket in self.buckets.values_mut() {
            while bucket.at < self.clock {
                bucket.at += 1;
                bucket.level = (bucket.level + self.limit).min(self.burst * self.period);
            }
        }
    }

    fn take(&mut self, name: u8) -> bool {
        let full = self.burst * self.period;
        let bucket = self.buckets.entry(name).or_insert(Bucket {
            level: full,
            at: self.clock,
        });
        let has_call = bucket.level >= self.period;
        if has_call {
            bucket.level -= self.period;
        }
        has_call
    }

    fn busy_names(&self) -> usize {
        let full = self.burst * self.period;
        let busy = self.buckets.values().filter(|bucket| bucket.level < full);
        busy.count()
    }
}

proptest! {
    #[test]
    fn a_bounded_limiter_does_what_an_endless_slow_one_does(
        (limit, period, burst) in (1_u32..7, 1_u64..30, 1_u32..5),
        most_names in 3_usize..6,
        calls in proptest::collection::vec((0_u8..8, 0_u64..300), 0..80),
    ) {
        let rate = Rate::new(limit, ns(period), burst).unwrap();
        let mut limiter = RateLimiter::new(Some(rate), None, None, most_names).unwrap();
        let (limit, burst) = (limit.into(), burst.into());
        let mut model = Model { limit, period, burst, buckets: HashMap::new(), clock: 0 };
        for (name, now) in calls {
            model.step(now);
            match limiter.take(user(&name.to_string()), ns(now)) {
                Ok(()) => prop_assert!(model.take(name)),
                Err(RateLimited::Busy { wait, .. }) => {
                    let wait = u64::try_from(wait.as_nanos()).unwrap();
                    prop_assert!(!model.take(name));
                    model.step(now + wait - 1);
                    prop_assert!(!model.take(name), "the wait is too long");
                    prop_assert!(limiter.take(user(&name.to_string()), ns(now + wait - 1)).is_err());
                    model.step(now + wait);
                    prop_assert!(model.take(name), "the wait is too short");
                    prop_assert_eq!(limiter.take(user(&name.to_string()), ns(now + wait)), Ok(()));
                }
                Err(RateLimited::Crowded { .. }) => {
                    prop_assert_eq!(model.busy_names(), most_names);
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
            prop_assert!(limiter.names() <= most_names);
        }
    }

    #[test]
    fn no_span_of_time_sees_more_calls_than_its_rate(
        (limit, period, burst) in (1_u32.., 1_u64.., 1_u32..20),
        times in proptest::collection::vec(any::<u64>(), 1..60),
    ) {
        let mut limiter = limiter(limit, period, burst);
        let mut granted: Vec<u128> = Vec::new();
        let mut clock = 0;
        for now in times {
            clock = clock.max(now);
            if limiter.take(user("ada"), ns(now)).is_ok() {
                granted.push(u128::from(clock));
            }
        }
        for (first, start) in granted.iter().enumerate() {
            for (last, end) in granted.iter().enumerate().skip(first) {
                let calls = u128::try_from(last - first + 1).unwrap();
                let gained = (end - start) * u128::from(limit) / u128::from(period);
                prop_assert!(calls <= u128::from(burst) + gained);
            }
        }
    }
}

#[test]
fn a_refusal_says_in_seconds_when_to_retry() {
    for (wait, shown) in [
        (0, "0 s"),
        (5, "0.001 s"),
        (1_000_000, "0.001 s"),
        (250_000_000, "0.25 s"),
        (4_000_000_000, "4 s"),
        (60_000_000_001, "60.001 s"),
    ] {
        let (scope, wait) = (Scope::Provider, ns(wait));
        let refusals = [
            RateLimited::Busy { scope, wait }.to_string(),
            RateLimited::Crowded { scope, wait }.to_string(),
            CircuitOpen { wait }.to_string(),
        ];
        let expected = [
            format!("rate limit of this provider reached; retry in {shown}"),
            format!("too many providers tracked; retry in {shown}"),
            format!("circuit open after repeated failures; retry in {shown}"),
        ];
        assert_eq!(refusals, expected);
    }
}
