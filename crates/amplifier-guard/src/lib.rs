//! Decisions at the sinks, and what is done about failures.

mod backoff;
mod breaker;
pub mod claude;
mod error;
mod error_context;
mod error_frequency;
mod error_handler;
mod error_kind;
mod finding;
mod identifier;
mod limits;
mod lines;
mod log_path;
mod path;
mod pattern;
mod pointer;
mod processor;
mod protected;
mod rate;
mod redact;
mod search;
mod setting;
mod shell;
mod shown;
mod stems;
mod terminal;
mod tool_input;
mod trace;
mod url;
mod walk;
mod write;

#[cfg(not(feature = "steps"))]
use amplifier_core::steps;
#[cfg(feature = "steps")]
pub use amplifier_core::steps;

pub use backoff::{Backoff, asked_wait, asked_wait_of_text};
pub use breaker::{BreakerState, CircuitBreaker, CircuitOpen, Permit};
pub use claude::ClaudeMessage;
pub use error::PathError;
pub use error_context::{ErrorContext, ErrorContextBuilder, PastOperation};
pub use error_frequency::ErrorFrequency;
pub use error_handler::{Decision, ErrorHandler, Failure, GiveUpReason, Moment, RetrySettings};
pub use error_kind::ErrorKind;
pub use finding::{Finding, FindingKind, OnFinding};
pub use identifier::{LONGEST_NAME, NameError, check_call_id, check_tool_name};
pub use limits::{LimitError, Limits};
pub use lines::{LineRange, LineWindow};
pub use log_path::log_path;
pub use path::{Entry, Kind, PathPolicy};
pub use pattern::{NamePattern, PatternError};
pub use processor::{
    CanBeEmpty, ContentStatistics, MessageError, MessageProcessor, ProcessedMessage, ToolUseError,
};
pub use rate::{Caller, Rate, RateLimited, RateLimiter, Scope};
pub use redact::{Redactor, RedactorStream, SecretTooShort, hide_homes, shorten};
pub use search::{FileMatches, LineMatch, LineSearch, SearchReport};
pub use setting::{SettingError, nanoseconds};
pub use shell::{ShellError, ShellPolicy, read as read_command};
pub use terminal::{TerminalLine, TerminalText, Untrusted};
pub use tool_input::{ToolInputError, ToolInputPolicy, ToolSchemaError};
pub use url::{Checked, Destination, Network, UrlError, UrlPolicy};
pub use walk::{Walk, WalkedFile, Walker};
