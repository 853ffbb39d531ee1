//! What is tried again, how often, until when, and what is counted of it.

use amplifier_core::error::{
    AmplifierError, ApprovalError, ContextError, HookError, MountError, SessionError, ToolError,
};
use amplifier_core::{ProviderError, ProviderFailure};
use amplifier_guard::{
    Backoff, Decision, ErrorFrequency, ErrorHandler, ErrorKind, Failure, GiveUpReason, Moment,
    RetrySettings,
};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn settings() -> RetrySettings {
    RetrySettings {
        max_retries: 3,
        backoff: Backoff::new(0.5, 2.0, 30.0).unwrap(),
        jitter: 0.1,
        budget: None,
    }
}

fn handler(settings: RetrySettings) -> ErrorHandler {
    ErrorHandler::new(settings, ErrorFrequency::new(100, 300 * SECOND)).unwrap()
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
        now: 0,
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

    let counts: Vec<_> = handler.frequency().counts(0).collect();
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
        ErrorHandler::new(settings, ErrorFrequency::new(1, 1))
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
fn each_error_of_the_kernel_has_its_kind() {
    let text = || "x".to_owned();
    let kinds: Vec<&str> = [
        AmplifierError::from(SessionError::ConfigMissing),
        SessionError::NotInitialized.into(),
        MountError::UnknownPoint(text()).into(),
        MountError::InjectionTooLong { limit: 1 }.into(),
        HookError::Timeout(text()).into(),
        HookError::HandlerFailed(text()).into(),
        ToolError::NotFound(text()).into(),
        ToolError::InvalidInput(text()).into(),
        ToolError::Timeout(text()).into(),
        ContextError::InvalidMessage(text()).into(),
        ContextError::StorageFailed(text()).into(),
        ContextError::Other(text()).into(),
        ApprovalError::Timeout(text()).into(),
        ApprovalError::Other(text()).into(),
        AmplifierError::other("x"),
        AmplifierError::from_python("ConnectionError", "x"),
    ]
    .iter()
    .map(|error| ErrorKind::from(error).as_str())
    .collect();

    assert_eq!(
        kinds,
        [
            "configuration",
            "internal",
            "configuration",
            "validation",
            "timeout",
            "internal",
            "not_found",
            "validation",
            "tool",
            "validation",
            "storage",
            "internal",
            "permission",
            "internal",
            "internal",
            "network",
        ]
    );
}

#[test]
fn an_error_of_a_provider_is_retryable_exactly_if_the_kernel_says_so() {
    for (_, name, retryable) in ProviderError::KINDS {
        let error = ProviderError::from_python(name, ProviderFailure::new("x")).unwrap();
        assert_eq!(
            Failure::from(&error.into()).is_retryable(),
            *retryable,
            "{name}"
        );
    }
}

#[test]
fn what_a_provider_says_of_its_failure_is_kept() {
    let mut known = ProviderFailure::new("x").retry_after(7.0).retryable(false);
    known.delay_multiplier = 3.0;

    assert_eq!(
        Failure::from(&ProviderError::RateLimit(known.into()).into()),
        Failure {
            name: "RateLimitError".to_owned(),
            kind: ErrorKind::RateLimit,
            retryable: Some(false),
            retry_after: Some(7.0),
            delay_multiplier: Some(3.0),
        }
    );
}

#[test]
fn the_status_decides_where_the_class_says_nothing() {
    let kind = |status| ErrorKind::of_exception(["LLMError", "Exception"], status);

    for status in [500, 502, 503, 529, 599] {
        assert_eq!(kind(Some(status)), ErrorKind::Server);
    }
    let kinds = [
        None,
        Some(200),
        Some(400),
        Some(401),
        Some(402),
        Some(403),
        Some(404),
        Some(408),
        Some(413),
        Some(429),
    ];
    assert_eq!(
        kinds.map(|status| kind(status).as_str()),
        [
            "internal",
            "internal",
            "validation",
            "authentication",
            "quota",
            "permission",
            "not_found",
            "timeout",
            "context_length",
            "rate_limit"
        ]
    );
    assert_eq!(
        ErrorKind::of_exception(["QuotaExceededError", "RateLimitError"], Some(429)),
        ErrorKind::Quota
    );
}

#[test]
fn the_class_of_an_exception_tells_its_kind() {
    for (kind, names) in [
        ("authentication", &["AuthenticationError"][..]),
        (
            "permission",
            &[
                "AccessDeniedError",
                "PermissionError",
                "ApprovalTimeoutError",
            ],
        ),
        ("rate_limit", &["RateLimitError"]),
        ("quota", &["QuotaExceededError"]),
        ("context_length", &["ContextLengthError"]),
        ("content_filter", &["ContentFilterError"]),
        (
            "validation",
            &[
                "InvalidRequestError",
                "ValidationError",
                "ValueError",
                "TypeError",
            ],
        ),
        ("server", &["ProviderUnavailableError"]),
        (
            "network",
            &["NetworkError", "ConnectionError", "RemoteProtocolError"],
        ),
        (
            "timeout",
            &["LLMTimeoutError", "TimeoutError", "TimeoutException"],
        ),
        (
            "not_found",
            &["NotFoundError", "FileNotFoundError", "ModuleNotFoundError"],
        ),
        ("stream", &["StreamError"]),
        (
            "cancelled",
            &[
                "AbortError",
                "CancelledError",
                "Cancelled",
                "KeyboardInterrupt",
            ],
        ),
        ("tool", &["InvalidToolCallError"]),
        ("configuration", &["ConfigurationError"]),
        ("storage", &["OSError"]),
        ("internal", &["LLMError", "Exception"]),
    ] {
        for name in names {
            // What stands below it in the order of classes, and the status, say less.
            let found = ErrorKind::of_exception([*name, "Exception"], None);
            assert_eq!(found.as_str(), kind, "{name}");
        }
    }
    assert_eq!(
        ErrorKind::of_exception(["Odd", "PermissionError", "OSError"], Some(500)),
        ErrorKind::Permission
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

#[test]
fn what_may_pass_by_itself_is_retryable_and_nothing_else() {
    let retryable: Vec<_> = ErrorKind::ALL
        .iter()
        .filter(|kind| kind.is_retryable())
        .map(|kind| kind.as_str())
        .collect();

    assert_eq!(
        retryable,
        ["rate_limit", "timeout", "network", "server", "stream"]
    );
}

#[test]
fn errors_are_counted_by_type_and_forgotten_in_time() {
    let mut frequency = ErrorFrequency::new(2, 300);
    frequency.record("a", 0);
    frequency.record("b", 10);
    frequency.record("a", 20);
    let counts = |frequency: &mut ErrorFrequency, now| -> Vec<(String, u64)> {
        frequency
            .counts(now)
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    };
    let named = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    };

    assert_eq!(counts(&mut frequency, 309), named(&[("b", 1), ("a", 2)]));
    frequency.record("c", 309);
    assert_eq!(counts(&mut frequency, 309), named(&[("a", 2), ("c", 1)]));
    assert_eq!(counts(&mut frequency, 320), named(&[("c", 1)]));
}

#[test]
fn the_name_of_a_type_is_cut_between_characters() {
    let mut frequency = ErrorFrequency::new(2, 300);
    frequency.record(&"é".repeat(101), 0);

    let names: Vec<_> = frequency
        .counts(0)
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(names, ["é".repeat(100)]);
}

proptest! {
    #[test]
    fn counts_are_those_of_a_list_of_all_errors(
        most_types in 0_usize..5,
        errors in proptest::collection::vec((0_u8..7, 0_u64..900), 0..60),
    ) {
        let mut frequency = ErrorFrequency::new(most_types, 300);
        // Each type with the times at which it was seen, the one seen last at the end.
        let mut model: Vec<(u8, Vec<u64>)> = Vec::new();
        let mut clock = 0;
        for (name, now) in errors {
            clock = clock.max(now);
            frequency.record(&name.to_string(), now);
            model.retain(|(_, times)| clock - times[times.len() - 1] < 300);
            let place = model.iter().position(|(other, _)| *other == name);
            let (_, mut times) = place.map_or((name, vec![]), |place| model.remove(place));
            times.push(clock);
            model.push((name, times));
            let surplus = model.len().saturating_sub(most_types);
            model.drain(..surplus);

            let counts: Vec<_> = frequency.counts(now).map(|(name, count)| (name.to_owned(), count)).collect();
            let expected: Vec<_> = model.iter().map(|(name, times)| (name.to_string(), times.len() as u64)).collect();
            prop_assert_eq!(counts, expected);
        }
    }

    #[test]
    fn a_decision_keeps_to_retries_budget_and_what_the_server_asks(
        retries: u32,
        kind in proptest::sample::select(ErrorKind::ALL),
        (retry_after, multiplier) in (any::<Option<f64>>(), any::<Option<f64>>()),
        (elapsed, random) in (any::<f64>(), any::<f64>()),
        budget in proptest::option::of(0.0..1e6),
    ) {
        let mut handler = handler(RetrySettings { budget, ..settings() });
        let failure = Failure { retry_after, delay_multiplier: multiplier, ..failure(kind) };
        let moment = Moment { now: 0, elapsed, random };

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
