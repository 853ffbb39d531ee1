//! Why a path was refused or could not be read.

use std::io;
use std::path::Path;

use super::entry::Kind;
use crate::shown::escaped;

/// A path that was refused or could not be read.
///
/// Paths in messages are shown as the caller gave them, control characters escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum PathError {
    /// The path has no characters.
    #[error("the path is empty (`.` names the root)")]
    Empty,
    /// The path holds a NUL, which would end it early for the operating system.
    #[error("path `{path}` contains a NUL character")]
    Nul { path: String },
    /// The path, or a link on its way, leads out of the root.
    #[error("path `{path}` leads outside the root `{root}`")]
    Outside { path: String, root: String },
    /// Nothing is there.
    #[error("no file or directory `{path}` in `{root}`")]
    Missing { path: String, root: String },
    /// Something other than a regular file is there.
    #[error("`{path}` is a {found}, not a regular file")]
    NotAFile { path: String, found: Kind },
    /// Something other than a directory is there.
    #[error("`{path}` is a {found}, not a directory")]
    NotADirectory { path: String, found: Kind },
    /// A file with a NUL byte was asked for as text.
    #[error("`{path}` is a binary file (NUL byte at {offset}), not text")]
    Binary {
        path: String,
        /// Where the first NUL byte is, counted from 0.
        offset: u64,
    },
    /// Links lead in a circle, or there are too many of them.
    #[error("path `{path}` goes through too many links (a loop?)")]
    Loop { path: String },
    /// The path, or a name in it, is longer than the operating system takes.
    #[error("path `{path}` is too long ({bytes} bytes)")]
    TooLong { path: String, bytes: usize },
    /// A file that decides what runs or holds secrets.
    #[error("`{path}` may not be written without approval: `{name}` {reason}")]
    Protected {
        path: String,
        name: String,
        reason: &'static str,
    },
    /// A file that holds secrets.
    #[error("`{path}` may not be read without approval: `{name}` holds secrets")]
    Secret { path: String, name: String },
    /// Other systems or layers would read the path as another one.
    #[error("path `{path}` is refused: {reason}")]
    Form { path: String, reason: &'static str },
    /// The file has other hard links, which may lie outside the root.
    #[error("`{path}` has {links} hard links, so a write may change a file elsewhere")]
    HardLinks { path: String, links: u64 },
    /// The file is not the one that the caller expects to change.
    #[error("`{path}` {how}, so it was not changed")]
    Changed { path: String, how: &'static str },
    /// What the file has besides its content cannot be given to the one that replaces it.
    #[error("cannot replace `{path}`: {what} cannot be kept: {source}")]
    NotKept {
        path: String,
        what: String,
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write `{path}`: {source}")]
    Unwritable { path: String, source: io::Error },
    /// The text takes more steps than a search may spend on it.
    #[error("the expression takes too many steps on `{path}` (repeat fewer times, or search less)")]
    Costly { path: String },
    /// The caller stopped the work.
    #[error("reading `{path}` was stopped before it was complete")]
    Stopped { path: String },
    /// The operating system refused.
    #[error("cannot read `{path}`: {source}")]
    Io { path: String, source: io::Error },
}

/// `path` as text for a message: what is not UTF-8 or cannot be seen escaped, and only its beginning.
pub(crate) fn shown(path: &Path) -> String {
    const MAX_SHOWN_CHARACTERS: usize = 200;
    escaped(path.as_os_str().as_encoded_bytes(), MAX_SHOWN_CHARACTERS)
}
