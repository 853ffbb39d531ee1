//! Errors that a provider reports, in the body of a response or inside a stream.

use std::time::{Duration, SystemTime};

use crate::dialect::{Dialect, anthropic};
use crate::headers::Headers;

/// An error of the provider, or of its stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderError {
    /// The provider's type of the error; `invalid_stream` and `stream_limit` are ours.
    pub kind: String,
    /// A finer code, where the provider gives one.
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
}

/// Decodes the body of a response that is not a success.
#[must_use]
pub fn decode_error(
    dialect: Dialect,
    status: u16,
    headers: &Headers,
    body: &[u8],
    now: SystemTime,
) -> ProviderError {
    match dialect {
        Dialect::Anthropic => anthropic::decode_error(status, headers, body, now),
    }
}
