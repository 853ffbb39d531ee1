#![doc = include_str!("../README.md")]

pub mod claude;
mod failure;
mod finding;
mod identifier;
mod limits;
mod path;
mod personal_data;
mod processor;
mod redact;
mod setting;
mod shell;
mod shown;
mod terminal;
mod text;
mod tool_input;
mod trace;
mod url;

#[cfg(feature = "steps")]
pub use amplifier_core::steps;

pub use claude::ClaudeMessage;
pub use failure::{
    Backoff, BreakerState, Caller, CircuitBreaker, CircuitOpen, Decision, ErrorContext,
    ErrorContextBuilder, ErrorFrequency, ErrorHandler, ErrorKind, Failure, GiveUpReason, Moment,
    PastOperation, Permit, Rate, RateLimited, RateLimiter, RetrySettings, Scope, asked_wait,
    asked_wait_of_text,
};
pub use finding::{Finding, FindingKind, OnFinding};
pub use identifier::{LONGEST_NAME, NameError, check_call_id, check_tool_name};
pub use limits::{LimitError, Limits};
pub use path::{
    Entry, FileMatches, Kind, LineMatch, LineRange, LineSearch, LineWindow, NamePattern, Order,
    PathError, PathPolicy, PatternError, SearchReport, Walk, WalkedFile, Walker, log_path,
    secret_places, with_slashes,
};
#[cfg(windows)]
pub use path::{WindowsCalls, provide_windows_calls};
pub use personal_data::{PERSONAL_DATA_TYPES, PersonalData, PersonalDataError, PersonalDataStream};
pub use processor::{
    CanBeEmpty, ContentStatistics, MessageError, MessageProcessor, ProcessedMessage, ToolUseError,
};
pub use redact::{Redactor, RedactorStream, SecretMapping, SecretTooShort, hide_homes, shorten};
pub use setting::{SettingError, duration};
pub use shell::{ShellError, ShellJoiner, ShellPolicy, ShellStep, read as read_command};
pub use terminal::{TerminalLine, TerminalText, Untrusted};
pub use tool_input::{ToolInputError, ToolInputPolicy, ToolSchemaError};
pub use url::{Checked, Destination, Network, UrlError, UrlPolicy};
