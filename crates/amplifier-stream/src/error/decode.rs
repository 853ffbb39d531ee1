//! The body of a response that is not a success.

use std::time::SystemTime;

use super::{
    MAX_MESSAGE_CHARS, ResponseError, is_spent, kind_of, may_pass, read, says_it_may_pass,
};
use crate::dialect::Dialect;
use crate::headers::Headers;

/// Decodes the body of a response that is not a success, whatever it is.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use amplifier_stream::{Dialect, Headers, decode_error};
///
/// let headers = Headers::from_iter([("Retry-After", "7")]);
/// let body = br#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
/// let error = decode_error(Dialect::Anthropic, 529, &headers, body, SystemTime::now());
///
/// assert_eq!(error.kind, "overloaded_error");
/// assert!(error.retryable);
/// assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
/// ```
#[must_use]
pub fn decode_error(
    dialect: Dialect,
    status: u16,
    headers: &Headers,
    body: &[u8],
    now: SystemTime,
) -> ResponseError {
    let body = String::from_utf8_lossy(body);
    let described = read(&body);
    let retryable = headers.should_retry().unwrap_or_else(|| match status {
        400.. => may_pass(status) && !is_spent(&described),
        _ => says_it_may_pass(&described),
    });
    let message = described.message.unwrap_or_else(|| match body.trim() {
        "" => format!("HTTP status {status} without a body"),
        text => text.chars().take(MAX_MESSAGE_CHARS).collect(),
    });
    ResponseError {
        kind: described.kind.unwrap_or_else(|| kind_of(status).to_owned()),
        code: described.code,
        status,
        message,
        retryable,
        retry_after: headers.retry_after(now),
        request_id: dialect.request_id(headers).or(described.request_id),
        details: described.details,
    }
}
