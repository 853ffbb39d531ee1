//! Which kind a failure is, and which kinds may pass by themselves.

use amplifier_core::error::{
    AmplifierError, ApprovalError, ContextError, HookError, MountError, SessionError, ToolError,
};
use amplifier_core::{ProviderError, ProviderFailure};
use amplifier_guard::{ErrorKind, Failure};

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
        AmplifierError::Other {
            kind: "ConnectionError".to_owned(),
            message: text(),
        },
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
    for (name, make, retryable) in ProviderError::KINDS {
        let error = make(ProviderFailure::new("x").into());
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
