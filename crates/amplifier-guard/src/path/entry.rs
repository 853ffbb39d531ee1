//! What is in a directory.

use std::ffi::OsString;
use std::fmt;

use cap_std::fs::FileType;

/// What a directory entry is, links not followed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl Kind {
    /// The word the tools use: `file`, `directory`, `link` or `other`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Other => "special file (pipe, socket or device)",
            kind => kind.name(),
        })
    }
}

/// One name in a directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The name, without its directory.
    pub name: OsString,
    /// What it is; a link is a link, whatever it points to.
    pub kind: Kind,
    /// The size of a regular file, 0 for everything else.
    pub bytes: u64,
}
