//! Errors that a provider reports, in the body of a response or inside a stream.

use std::time::Duration;

use amplifier_core::{Object, StatusKind};

use crate::json::Scanner;

mod body;
mod decode;

use body::Described;
pub use decode::decode_error;

/// How much of a body without a message is reported.
const MAX_MESSAGE_CHARS: usize = 500;

/// Types and codes of errors that may pass, where no HTTP status says so.
const PASSING: [&str; 14] = [
    "api_error",
    "internal_error",
    "internal_server_error",
    "overloaded_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "RateLimitReached",
    "requests",
    "server_error",
    "server_is_overloaded",
    "service_unavailable",
    "slow_down",
    "timeout_error",
    "tokens",
];

/// Codes of limits that waiting does not lift.
const SPENT: [&str; 3] = [
    "billing_hard_limit_reached",
    "enforced_spend_limit_reached",
    "insufficient_quota",
];

/// An error of the provider, or of its stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseError {
    /// The provider's type of the error, else what its status means; `invalid_stream` and
    /// `stream_limit` are ours.
    pub kind: String,
    /// A more specific code, if the provider sends one.
    pub code: Option<String>,
    /// The HTTP status; 200 for an error inside a stream.
    pub status: u16,
    /// What the provider says.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long to wait first.
    pub retry_after: Option<Duration>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// Whatever else the provider says, such as `param`, `details` or `innererror`.
    pub details: Object,
}

/// Decodes an error inside a stream whose HTTP status promised success.
pub(crate) fn in_stream(status: u16, data: &str) -> ResponseError {
    let described = read(data);
    let retryable = says_it_may_pass(&described);
    let kind = described
        .kind
        .or_else(|| described.status.map(|status| kind_of(status).to_owned()))
        .or_else(|| described.code.clone())
        .unwrap_or_else(|| "api_error".to_owned());
    let message = described
        .message
        .unwrap_or_else(|| data.trim().chars().take(MAX_MESSAGE_CHARS).collect());
    ResponseError {
        kind,
        code: described.code,
        status,
        message,
        retryable,
        retry_after: None,
        request_id: described.request_id,
        details: described.details,
    }
}

fn read(body: &str) -> Described {
    let document = Scanner::new(body).document();
    document.map(Described::read).unwrap_or_default()
}

/// If the HTTP status was a success, the error itself determines the type.
fn says_it_may_pass(described: &Described) -> bool {
    let said = [described.kind.as_deref(), described.code.as_deref()];
    let is_known = said.iter().flatten().any(|word| PASSING.contains(word));
    !is_spent(described)
        && match (described.status, said) {
            _ if is_known => true,
            (Some(status), _) => may_pass(status),
            (None, [None, None]) => true,
            (None, _) => false,
        }
}

fn is_spent(described: &Described) -> bool {
    let said = [&described.kind, &described.code];
    let mut said = said.into_iter().flatten();
    said.any(|word| SPENT.contains(&word.as_str()))
}

fn may_pass(status: u16) -> bool {
    StatusKind::of(status).is_some_and(StatusKind::may_pass)
}

fn kind_of(status: u16) -> &'static str {
    StatusKind::of(status)
        .unwrap_or(StatusKind::InvalidRequest)
        .as_str()
}
