//! What an operation on a change did, as its caller gets it.

use std::path::PathBuf;

use crate::plan::{Kind, PathType};

/// Where a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing of it is in the project.
    Open,
    /// It is in the project.
    Committed,
    /// It was, and the versions from before are there again.
    Undone,
    /// An operation was interrupted.
    Half,
}

impl State {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Committed => "committed",
            Self::Undone => "undone",
            Self::Half => "half",
        }
    }
}

/// One path that a change makes, modifies or deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// From the project.
    pub path: PathBuf,
    /// What becomes of it.
    pub kind: Kind,
    /// What it is.
    pub path_type: PathType,
    /// Where the version from before can be read now.
    pub before: Option<PathBuf>,
    /// Where the version of the change can be read now.
    pub after: Option<PathBuf>,
    /// Bytes of the version of the change; of a deleted path, those from before.
    pub size: u64,
}

/// A path that somebody else has changed, and that stays as they have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// From the project.
    pub path: PathBuf,
    /// Where the version lies that is not in the project.
    pub kept: Option<PathBuf>,
    /// Why it was not exchanged.
    pub reason: String,
}

/// Something that is never put into a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// From the project.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

/// What a commit, an undo or a redo did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What is now as it was asked for.
    pub done: Vec<ChangedPath>,
    /// What is not.
    pub conflicts: Vec<Conflict>,
    /// What never is.
    pub dropped: Vec<Dropped>,
}
