//! Decisions at the sinks, and what is done about failures.

mod backoff;
mod breaker;
mod error;
mod error_context;
mod error_frequency;
mod error_handler;
mod error_kind;
mod lines;
mod path;
mod pattern;
mod rate;
mod redact;
mod search;
mod setting;
mod shell;
mod url;
mod walk;

pub use backoff::{Backoff, asked_wait, asked_wait_of_text};
pub use breaker::{BreakerState, CircuitBreaker, CircuitOpen, Permit};
pub use error::PathError;
pub use error_context::{ErrorContext, ErrorContextBuilder, PastOperation};
pub use error_frequency::ErrorFrequency;
pub use error_handler::{Decision, ErrorHandler, Failure, GiveUpReason, Moment, RetrySettings};
pub use error_kind::ErrorKind;
pub use lines::{LineRange, LineWindow};
pub use path::{Entry, Kind, PathPolicy};
pub use pattern::{NamePattern, PatternError};
pub use rate::{Caller, Rate, RateLimited, RateLimiter, Scope};
pub use redact::{Redactor, RedactorStream, SecretTooShort, hide_homes, shorten};
pub use search::{FileMatches, LineMatch, LineSearch, SearchReport};
pub use setting::{SettingError, nanoseconds};
pub use shell::{ShellError, ShellPolicy, read as read_command};
pub use url::{Checked, Destination, Network, UrlError, UrlPolicy};
pub use walk::{Walk, WalkedFile, Walker};
