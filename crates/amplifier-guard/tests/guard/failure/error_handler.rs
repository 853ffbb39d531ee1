//! What is tried again, how often, and until when.

mod frequency;
mod kind;

use std::time::Duration;

use amplifier_guard::{
    Backoff, Decision, ErrorFrequency, ErrorHandler, ErrorKind, Failure, GiveUpReason, Moment,
    RetrySettings,
};
use proptest::prelude::*;

fn settings() -> RetrySettings {
    RetrySettings {
        max_retries: 3,
        backoff: Backoff::new(0.5, 2.0, 30.0).unwrap(),
        jitter: 0.1,
        budget: None,
    }
}

fn handler(settings: RetrySettings) -> ErrorHandler {
    ErrorHandler::new(settings, ErrorFrequency::new(100, Duration::from_secs(300))).unwrap()
}

fn failure(kind: ErrorKind) -> Failure {
    Failure {
        name: kind.as_str().to_owned(),
        kind,
        retryable: None,
        retry_after: None,
        delay_multiplier: None,
    }
}

fn moment(elapsed: f64, random: f64) -> Moment {
    Moment {
        now: Duration::ZERO,
        elapsed,
        random,
    }
}

fn give_up(reason: GiveUpReason) -> Decision {
    Decision::GiveUp { reason }
}

#[test]
fn waits_double_until_the_retries_are_exhausted() {
    let mut handler = handler(settings());
    let failure = failure(ErrorKind::Server);
    let decisions: Vec<_> = (0..4)
        .map(|retries| handler.handle(&failure, retries, moment(0.0, 0.5)))
        .collect();

    let retry = |delay, attempt| Decision::Retry { delay, attempt };
    assert_eq!(
        decisions,
        [
            retry(0.5, 1),
            retry(1.0, 2),
            retry(2.0, 3),
            give_up(GiveUpReason::RetriesExhausted)
        ]
    );
}

#[test]
fn the_error_itself_has_the_last_word_on_whether_it_is_tried_again() {
    let mut handler = handler(settings());
    let mut decide = |kind, retryable| {
        let failure = Failure {
            retryable,
            ..failure(kind)
        };
        matches!(
            handler.handle(&failure, 0, moment(0.0, 0.0)),
            Decision::Retry { .. }
        )
    };

    assert!(!decide(ErrorKind::RateLimit, Some(false)));
    assert!(decide(ErrorKind::Internal, Some(true)));
    assert!(decide(ErrorKind::RateLimit, None));
    assert!(!decide(ErrorKind::Authentication, None));
}

#[test]
fn each_failure_that_is_judged_is_counted() {
    let mut handler = handler(settings());
    for kind in [ErrorKind::Server, ErrorKind::Validation, ErrorKind::Server] {
        handler.handle(&failure(kind), 9, moment(0.0, 0.0));
    }

    let counts: Vec<_> = handler.frequency().counts(Duration::ZERO).collect();
    assert_eq!(counts, [("validation", 1), ("server", 2)]);
}

#[test]
fn no_retry_begins_beyond_the_budget() {
    let mut handler = handler(RetrySettings {
        budget: Some(10.0),
        jitter: 0.0,
        ..settings()
    });
    let failure = Failure {
        retry_after: Some(4.0),
        ..failure(ErrorKind::RateLimit)
    };

    let on_time = handler.handle(&failure, 0, moment(6.0, 0.0));
    let too_late = handler.handle(&failure, 0, moment(6.001, 0.0));
    assert_eq!(
        on_time,
        Decision::Retry {
            delay: 4.0,
            attempt: 1
        }
    );
    assert_eq!(too_late, give_up(GiveUpReason::BudgetSpent));
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_by_name() {
    let refusal = |settings| {
        ErrorHandler::new(settings, ErrorFrequency::new(1, Duration::from_nanos(1)))
            .unwrap_err()
            .to_string()
    };

    assert_eq!(
        refusal(RetrySettings {
            jitter: 1.5,
            ..settings()
        }),
        "`jitter` must be from 0 to 1, found `1.5`"
    );
    assert_eq!(
        refusal(RetrySettings {
            budget: Some(-1.0),
            ..settings()
        }),
        "`budget` must be a finite number from 0 on, found `-1`"
    );
}

#[test]
fn each_reason_to_give_up_has_its_word() {
    let reasons = [
        GiveUpReason::NotRetryable,
        GiveUpReason::RetriesExhausted,
        GiveUpReason::BudgetSpent,
    ];
    assert_eq!(
        reasons.map(GiveUpReason::as_str),
        ["not_retryable", "retries_exhausted", "budget_spent"]
    );
}

proptest! {
    #[test]
    fn a_decision_keeps_to_retries_budget_and_what_the_server_asks(
        retries: u32,
        kind in proptest::sample::select(&ErrorKind::ALL),
        (retry_after, multiplier) in (any::<Option<f64>>(), any::<Option<f64>>()),
        (elapsed, random) in (any::<f64>(), any::<f64>()),
        budget in proptest::option::of(0.0..1e6),
    ) {
        let mut handler = handler(RetrySettings { budget, ..settings() });
        let failure = Failure { retry_after, delay_multiplier: multiplier, ..failure(kind) };
        let moment = Moment { now: Duration::ZERO, elapsed, random };

        match handler.handle(&failure, retries, moment) {
            Decision::Retry { delay, attempt } => {
                prop_assert!(kind.is_retryable() && retries < 3 && attempt == retries + 1);
                prop_assert!((0.0..=86_400.0).contains(&delay));
                let asked = retry_after.filter(|seconds| (0.0..=86_400.0).contains(seconds));
                prop_assert!(asked.is_none_or(|asked| delay >= asked));
                prop_assert!(budget.is_none_or(|budget| elapsed.max(0.0) + delay <= budget));
            }
            Decision::GiveUp { reason: GiveUpReason::NotRetryable } => prop_assert!(!kind.is_retryable()),
            Decision::GiveUp { reason: GiveUpReason::RetriesExhausted } => prop_assert!(retries >= 3),
            Decision::GiveUp { reason: GiveUpReason::BudgetSpent } => prop_assert!(budget.is_some()),
        }
    }
}
