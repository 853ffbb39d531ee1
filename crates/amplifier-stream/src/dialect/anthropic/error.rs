//! Errors of the Anthropic API.

use std::time::SystemTime;

use amplifier_core::Json;

use crate::error::ProviderError;
use crate::headers::Headers;
use crate::json::Scanner;

/// How much of a body without a message is told.
const MAX_MESSAGE_CHARS: usize = 500;

/// Decodes the body of a response that is not a success.
pub(crate) fn decode_error(
    status: u16,
    headers: &Headers,
    body: &[u8],
    now: SystemTime,
) -> ProviderError {
    let body = String::from_utf8_lossy(body);
    let described = read(&body);
    let is_spent = described.code.as_deref() == Some("enforced_spend_limit_reached");
    let retryable = headers
        .should_retry()
        .unwrap_or((matches!(status, 408 | 409 | 429) && !is_spent) || status >= 500);
    let message = described.message.unwrap_or_else(|| match body.trim() {
        "" => format!("HTTP status {status} without a body"),
        text => text.chars().take(MAX_MESSAGE_CHARS).collect(),
    });
    ProviderError {
        kind: described.kind.unwrap_or_else(|| kind_of(status).to_owned()),
        code: described.code,
        status,
        message,
        retryable,
        retry_after: headers.retry_after(now),
        request_id: headers
            .get("request-id")
            .map(str::to_owned)
            .or(described.request_id),
    }
}

/// Decodes an error inside a stream whose HTTP status promised success.
pub(super) fn in_stream(status: u16, data: &str) -> ProviderError {
    let described = read(data);
    let kind = described.kind.unwrap_or_else(|| "api_error".to_owned());
    let is_spent = described.code.as_deref() == Some("enforced_spend_limit_reached");
    let retryable = !is_spent
        && matches!(
            kind.as_str(),
            "rate_limit_error" | "api_error" | "timeout_error" | "overloaded_error"
        );
    let message = described
        .message
        .unwrap_or_else(|| data.trim().chars().take(MAX_MESSAGE_CHARS).collect());
    let request_id = described.request_id;
    ProviderError {
        kind,
        code: described.code,
        status,
        message,
        retryable,
        retry_after: None,
        request_id,
    }
}

#[derive(Default)]
struct Described {
    kind: Option<String>,
    code: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
}

/// Reads `{"error": {"type", "message", "details"}, "request_id"}` and what proxies make of it.
fn read(body: &str) -> Described {
    let Ok(body) = Scanner::new(body).document() else {
        return Described::default();
    };
    let text = |value: Option<&Json>| value.and_then(Json::as_str).map(str::to_owned);
    let error = body.get("error").unwrap_or(&body);
    let details = error.get("details");
    let code = error.get("code").or_else(|| details?.get("error_code"));
    Described {
        kind: text(error.get("type")).filter(|kind| kind != "error"),
        code: code.filter(|code| !code.is_null()).map(|code| match code {
            Json::Str(code) => code.clone(),
            code => code.to_string(),
        }),
        message: text(error.get("message"))
            .or_else(|| text(Some(error)))
            .or_else(|| text(body.get("message"))),
        request_id: text(body.get("request_id")),
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        408 | 504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
