//! Decisions at the sinks: what a path may reach and what a tool may read.

mod error;
mod lines;
mod path;
mod pattern;
mod redact;
mod search;
mod shell;
mod url;
mod walk;

pub use error::PathError;
pub use lines::{LineRange, LineWindow};
pub use path::{Entry, Kind, PathPolicy};
pub use pattern::{NamePattern, PatternError};
pub use redact::{Redactor, RedactorStream, SecretTooShort, hide_homes, shorten};
pub use search::{FileMatches, LineMatch, LineSearch, SearchReport};
pub use shell::{ShellError, ShellPolicy, read as read_command};
pub use url::{Checked, Destination, Network, UrlError, UrlPolicy};
pub use walk::{Walk, WalkedFile, Walker};
