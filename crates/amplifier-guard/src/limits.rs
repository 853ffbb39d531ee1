//! Limits on the size of messages and the duration of tool calls.

use amplifier_core::{Json, Object};

use crate::identifier::LONGEST_NAME;
use crate::shown::{shown, shown_under};

/// The limits of messages and tools, with the names and defaults of seed 001.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `MESSAGE_MAX_CHARS`: the most characters of a message, in Unicode code points.
    pub message_max_chars: u64,
    /// `TOOL_TIMEOUT`: the most seconds that a tool call may take.
    pub tool_timeout: f64,
    /// `MAX_CONTENT_BLOCKS`: the most blocks of a message.
    pub max_content_blocks: u64,
    /// `THINKING_MODE_ENABLED`: whether messages keep their thinking blocks.
    pub thinking_mode_enabled: bool,
    /// `NAME_MAX_CHARS`: the most characters of the name of a tool.
    pub name_max_chars: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_max_chars: 50_000,
            tool_timeout: 120.0,
            max_content_blocks: 1_000,
            thinking_mode_enabled: true,
            name_max_chars: LONGEST_NAME as u64,
        }
    }
}

/// The most of each count.
const MAX_COUNT: u64 = 1_000_000_000;
/// A week, in seconds.
const MAX_TIMEOUT_SECONDS: f64 = 604_800.0;

/// An invalid limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum LimitError {
    /// There is no such limit.
    #[error("unknown limit `{name}` in {source_name} (known: {})", Limits::NAMES.join(", "))]
    Unknown {
        name: String,
        source_name: &'static str,
    },
    /// A limit is given twice in one place.
    #[error("limit `{name}` is set twice in {source_name}, in lower case and in capitals")]
    Twice {
        name: &'static str,
        source_name: &'static str,
    },
    /// The value of a limit is invalid.
    #[error("limit `{name}` in {source_name} must be {expected}, found {found}")]
    Value {
        name: &'static str,
        source_name: &'static str,
        expected: String,
        found: String,
    },
}

/// Where limits are looked for.
const CODE: &str = "the code";
const CONFIGURATION: &str = "the configuration";
const ENVIRONMENT: &str = "the environment";

impl Limits {
    /// The names of the limits, in the order of the fields; in the environment in capitals.
    pub const NAMES: [&'static str; 5] = [
        "message_max_chars",
        "tool_timeout",
        "max_content_blocks",
        "thinking_mode_enabled",
        "name_max_chars",
    ];

    /// The limits of a program: what its code says, else its configuration, else the environment,
    /// else the default.
    ///
    /// In code and configuration the names may be in capitals, too, and `null` is as good as
    /// absent. Every value is checked, also where another one counts.
    pub fn resolve(
        code: &Object,
        configuration: &Object,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LimitError> {
        let mut limits = Self::default();
        for name in Self::NAMES {
            if let Some(text) = environment(&name.to_ascii_uppercase()) {
                limits.set(name, &of_text(&text), ENVIRONMENT)?;
            }
        }
        for (source_name, values) in [(CONFIGURATION, configuration), (CODE, code)] {
            let mut seen = Vec::new();
            for (key, value) in values {
                let is_it = |name: &&str| key == name || *key == name.to_ascii_uppercase();
                let Some(name) = Self::NAMES.into_iter().find(is_it) else {
                    let name = shown(key);
                    return Err(LimitError::Unknown { name, source_name });
                };
                if value.is_null() {
                    continue;
                }
                if seen.contains(&name) {
                    return Err(LimitError::Twice { name, source_name });
                }
                seen.push(name);
                limits.set(name, value, source_name)?;
            }
        }
        Ok(limits)
    }

    /// The limits by their names.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let count = |count: u64| Json::from(i64::try_from(count).unwrap_or(i64::MAX));
        let values = [
            count(self.message_max_chars),
            self.tool_timeout.into(),
            count(self.max_content_blocks),
            self.thinking_mode_enabled.into(),
            count(self.name_max_chars),
        ];
        let names = Self::NAMES.map(str::to_owned).into_iter();
        names.zip(values).collect()
    }

    fn set(
        &mut self,
        name: &'static str,
        value: &Json,
        source_name: &'static str,
    ) -> Result<(), LimitError> {
        let refuse = |expected: String| LimitError::Value {
            name,
            source_name,
            expected,
            found: describe(name, value),
        };
        let count = || {
            let count = value.as_i64().and_then(|count| u64::try_from(count).ok());
            count
                .filter(|count| (1..=MAX_COUNT).contains(count))
                .ok_or_else(|| refuse(format!("a whole number from 1 to {MAX_COUNT}")))
        };
        match name {
            "message_max_chars" => self.message_max_chars = count()?,
            "max_content_blocks" => self.max_content_blocks = count()?,
            "name_max_chars" => self.name_max_chars = count()?,
            "tool_timeout" => {
                let is_allowed = |seconds: &f64| *seconds > 0.0 && *seconds <= MAX_TIMEOUT_SECONDS;
                let expected = || format!("seconds above 0, at most {MAX_TIMEOUT_SECONDS}");
                let seconds = value.as_f64().filter(is_allowed);
                self.tool_timeout = seconds.ok_or_else(|| refuse(expected()))?;
            }
            _ => {
                let is_enabled = value.as_bool();
                self.thinking_mode_enabled =
                    is_enabled.ok_or_else(|| refuse("true or false".to_owned()))?;
            }
        }
        Ok(())
    }
}

/// The value that a variable of the environment means.
fn of_text(text: &str) -> Json {
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "true" | "yes" | "on" => Json::Bool(true),
        "false" | "no" | "off" => Json::Bool(false),
        _ => match Json::parse(word.as_bytes()) {
            Ok(number @ (Json::Int(_) | Json::Float(_))) => number,
            Ok(_) | Err(_) => Json::from(text),
        },
    }
}

fn describe(name: &str, value: &Json) -> String {
    match value {
        Json::Str(text) => format!("\"{}\"", shown_under(name, text)),
        Json::Array(_) | Json::Object(_) => value.kind().to_owned(),
        _ => format!("`{}`", shown(&value.to_string())),
    }
}
