//! What an operation was doing when it failed.

use std::fmt;

use amplifier_core::Timestamp;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error_kind::ErrorKind;
use crate::shown::{escaped, without_secrets};

/// The most characters of the parts of a description, and of the whole.
const MAX_ID_CHARACTERS: usize = 8;
const MAX_VALUE_CHARACTERS: usize = 100;
const MAX_DESCRIPTION_CHARACTERS: usize = 500;

/// What an operation was doing when it failed; one JSON form in Rust and Python.
///
/// Whatever is assigned to a field, its JSON and its description contain nothing that looks like a
/// secret or is named like one.
///
/// # Examples
///
/// ```
/// use amplifier_core::Timestamp;
/// use amplifier_guard::{ErrorContext, ErrorKind};
///
/// let now = Timestamp::from_text("2026-01-02T03:04:05Z").unwrap();
/// let mut context = ErrorContext::builder("complete", now.clone(), |name, text| match name {
///     "api_key" => "[REDACTED]".to_owned(),
///     _ => text.to_owned(),
/// })
/// .metadata("model", "small")
/// .metadata("api_key", "hunter2")
/// .build();
/// context.retried(ErrorKind::RateLimit, now);
///
/// assert_eq!(
///     context.to_string(),
///     "operation `complete`, retry 1, model=small, api_key=[REDACTED], \
///      after `complete` (rate_limit)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorContext {
    /// What is being done.
    #[serde(serialize_with = "write_text")]
    pub operation: String,
    /// When it began.
    pub timestamp: Timestamp,
    /// The message it is about.
    #[serde(default, serialize_with = "write_id")]
    pub message_id: Option<String>,
    /// The tool call it is about.
    #[serde(default, serialize_with = "write_id")]
    pub tool_use_id: Option<String>,
    /// How often it was retried.
    #[serde(default)]
    pub retry_count: u32,
    /// Anything else that helps, without secrets.
    #[serde(default, serialize_with = "write_metadata")]
    pub metadata: IndexMap<String, String>,
    #[serde(default, deserialize_with = "latest")]
    history: Vec<PastOperation>,
}

/// An operation that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastOperation {
    /// What was done.
    #[serde(serialize_with = "write_text")]
    pub operation: String,
    /// When it ended.
    pub timestamp: Timestamp,
    /// The kind of failure it ended with, if it failed.
    #[serde(default)]
    pub error: Option<String>,
}

impl ErrorContext {
    /// The most past operations that are kept, the latest ones.
    pub const MOST_OPERATIONS: usize = 32;

    /// Begin a context. `redact` takes the name of a field or of metadata and its text, and returns
    /// the text without secrets.
    pub fn builder<R: Fn(&str, &str) -> String>(
        operation: &str,
        timestamp: Timestamp,
        redact: R,
    ) -> ErrorContextBuilder<R> {
        let operation = redact("operation", operation);
        ErrorContextBuilder {
            redact,
            context: Self {
                operation,
                timestamp,
                message_id: None,
                tool_use_id: None,
                retry_count: 0,
                metadata: IndexMap::new(),
                history: Vec::new(),
            },
        }
    }

    /// What was done before, the latest last; at most 32 operations.
    #[must_use]
    pub fn history(&self) -> &[PastOperation] {
        &self.history
    }

    /// Go on to another operation; the current one becomes history.
    pub fn entered(&mut self, operation: impl Into<String>, timestamp: Timestamp) {
        let past = std::mem::replace(&mut self.operation, operation.into());
        self.timestamp = timestamp.clone();
        self.remember(past, timestamp, None);
    }

    /// Record that the operation failed and is retried.
    pub fn retried(&mut self, kind: ErrorKind, timestamp: Timestamp) {
        self.retry_count = self.retry_count.saturating_add(1);
        let error = Some(kind.as_str().to_owned());
        self.remember(self.operation.clone(), timestamp, error);
    }

    /// The context of a JSON text; of a longer history the latest operations are kept.
    pub fn of_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The JSON text of the context.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    fn remember(&mut self, operation: String, timestamp: Timestamp, error: Option<String>) {
        self.history.push(PastOperation {
            operation,
            timestamp,
            error,
        });
        forget(&mut self.history);
    }
}

fn forget(history: &mut Vec<PastOperation>) {
    let surplus = history.len().saturating_sub(ErrorContext::MOST_OPERATIONS);
    history.drain(..surplus);
}

fn latest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PastOperation>, D::Error> {
    let mut history = Vec::deserialize(deserializer)?;
    forget(&mut history);
    Ok(history)
}

fn write_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    without_secrets("", text).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn write_id<S: Serializer>(id: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    id.as_deref()
        .map(|id| without_secrets("", id))
        .serialize(serializer)
}

fn write_metadata<S: Serializer>(
    metadata: &IndexMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let pairs = metadata.iter();
    serializer.collect_map(
        pairs.map(|(name, value)| (without_secrets("", name), without_secrets(name, value))),
    )
}

/// Makes an [`ErrorContext`] without secrets.
#[derive(Clone, Debug)]
pub struct ErrorContextBuilder<R> {
    redact: R,
    context: ErrorContext,
}

impl<R: Fn(&str, &str) -> String> ErrorContextBuilder<R> {
    /// Set the message id.
    #[must_use]
    pub fn message_id(mut self, id: &str) -> Self {
        self.context.message_id = Some((self.redact)("message_id", id));
        self
    }

    /// Set the id of the tool call.
    #[must_use]
    pub fn tool_use_id(mut self, id: &str) -> Self {
        self.context.tool_use_id = Some((self.redact)("tool_use_id", id));
        self
    }

    /// Set how often it was retried.
    #[must_use]
    pub fn retry_count(mut self, count: u32) -> Self {
        self.context.retry_count = count;
        self
    }

    /// Add metadata; its name is redacted, too.
    #[must_use]
    pub fn metadata(mut self, name: &str, value: &str) -> Self {
        let value = (self.redact)(name, value);
        let name = (self.redact)("metadata", name);
        self.context.metadata.insert(name, value);
        self
    }

    /// The context.
    #[must_use]
    pub fn build(self) -> ErrorContext {
        self.context
    }
}

/// The beginning of what is under a name, without what looks like a secret.
fn brief(name: &str, text: &str, most: usize) -> String {
    escaped(without_secrets(name, text).as_bytes(), most)
}

impl fmt::Display for ErrorContext {
    /// One line for logs and notes: identifiers and values are cut, control characters escaped.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |name, text| brief(name, text, MAX_VALUE_CHARACTERS);
        let mut parts = vec![format!("operation `{}`", value("", &self.operation))];
        if self.retry_count > 0 {
            parts.push(format!("retry {}", self.retry_count));
        }
        for (name, id) in [
            ("message", &self.message_id),
            ("tool use", &self.tool_use_id),
        ] {
            if let Some(id) = id {
                parts.push(format!("{name} `{}`", brief("", id, MAX_ID_CHARACTERS)));
            }
        }
        for (name, text) in &self.metadata {
            parts.push(format!("{}={}", value("", name), value(name, text)));
        }
        for past in self.history.iter().rev() {
            let operation = value("", &past.operation);
            parts.push(match &past.error {
                None => format!("after `{operation}`"),
                Some(error) => {
                    let error = escaped(error.as_bytes(), MAX_VALUE_CHARACTERS);
                    format!("after `{operation}` ({error})")
                }
            });
        }
        // Equal retries follow each other; their number is said above.
        parts.dedup();
        let line = parts.join(", ");
        formatter.write_str(&escaped(line.as_bytes(), MAX_DESCRIPTION_CHARACTERS))
    }
}
