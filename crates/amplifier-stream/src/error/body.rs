//! What the body of an error says, in the shapes that providers and proxies use.

use amplifier_core::{Json, Object};

/// The parts of an error.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) kind: Option<String>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) request_id: Option<String>,
    /// The HTTP status that the error names itself.
    pub(super) status: Option<u16>,
    pub(super) details: Object,
}

impl Described {
    /// Reads `{"error": {"type", "code", "message", …}, "request_id"}` and its variants: an error
    /// that is text, a flat object, a list of one, a gateway's `{"statusCode", "message"}`.
    pub(super) fn read(body: Json) -> Self {
        let mut body = match body {
            Json::Object(body) => body,
            Json::Array(items) => match items.into_iter().next() {
                Some(first @ Json::Object(_)) => return Self::read(first),
                _ => return Self::default(),
            },
            Json::Str(text) => {
                return Self {
                    message: Some(text),
                    ..Self::default()
                };
            }
            _ => return Self::default(),
        };
        let request_id = body.shift_remove("request_id").and_then(text);
        let status_of = |fields: &Object| {
            let statuses = ["status_code", "statusCode", "status"];
            statuses.iter().find_map(|key| status(fields.get(*key)?))
        };
        let outer_status = status_of(&body);
        let outer_message = ["message", "detail"].iter().find_map(|key| {
            let message = body.get(*key)?.clone();
            text(message.clone()).or_else(|| (!message.is_null()).then(|| message.to_string()))
        });
        let mut error = match body.shift_remove("error") {
            Some(Json::Object(error)) => error,
            Some(Json::Str(message)) => {
                body.insert("message".to_owned(), Json::Str(message));
                body
            }
            _ => body,
        };
        let kind = error.shift_remove("type").and_then(text);
        let message = error
            .shift_remove("message")
            .filter(|found| !found.is_null());
        let code = error.shift_remove("code");
        let status = code
            .as_ref()
            .and_then(status)
            .or_else(|| status_of(&error))
            .or(outer_status);
        let inner_code = || {
            let inner = |outer: &str, key: &str| error.get(outer)?.get(key).cloned();
            inner("details", "error_code").or_else(|| inner("innererror", "code"))
        };
        let code = code.filter(|code| !code.is_null()).or_else(inner_code);
        let details_text = || error.get("details").and_then(Json::as_str);
        let message = match message {
            Some(message) => Some(text(message.clone()).unwrap_or_else(|| message.to_string())),
            None => details_text().map(str::to_owned).or(outer_message),
        };
        error.retain(|key, value| !value.is_null() && key != "sequence_number");
        Self {
            kind: kind.filter(|kind| kind != "error"),
            code: code.map(|code| text(code.clone()).unwrap_or_else(|| code.to_string())),
            message,
            request_id,
            status,
            details: error,
        }
    }
}

fn text(value: Json) -> Option<String> {
    match value {
        Json::Str(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// An HTTP status of a failure, as a number or as digits.
fn status(value: &Json) -> Option<u16> {
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number)
        .ok()
        .filter(|status| (400..600).contains(status))
}
