//! Decisions at the sinks: what a path may reach and what a tool may read.

mod error;
mod lines;
mod path;
mod pattern;
mod search;
mod url;
mod walk;

pub use error::PathError;
pub use lines::{LineRange, LineWindow};
pub use path::{Entry, Kind, PathPolicy};
pub use pattern::{NamePattern, PatternError};
pub use search::{FileMatches, LineMatch, LineSearch, SearchReport};
pub use url::{Checked, Destination, Network, UrlError, UrlPolicy};
pub use walk::{Walk, WalkedFile, Walker};
