//! What can go wrong with a change.

use std::io;
use std::path::{Path, PathBuf};

/// Something that could not be done with a change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The system refused a step.
    #[error("cannot {step} `{}`: {source}", path.display())]
    Refused {
        /// What was tried.
        step: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The change is not in a state for it.
    #[error("cannot {step} a change that is {state}")]
    State {
        /// What was tried.
        step: &'static str,
        /// Where the change is.
        state: &'static str,
    },
    /// A path leads out of the project, or names nothing in it.
    #[error("no path of a project: `{}`", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// The folder of a change is where it cannot be.
    #[error("changes of `{}` cannot be kept in `{}`: {reason}", project.display(), folder.display())]
    Folder {
        /// The project.
        project: PathBuf,
        /// The folder of the change.
        folder: PathBuf,
        /// Why not.
        reason: &'static str,
    },
}

impl ChangeError {
    /// Returns what turns an error of the system into one of such a step.
    pub(crate) fn refused<Source: Into<io::Error>>(
        step: &'static str,
        path: &Path,
    ) -> impl FnOnce(Source) -> Self {
        move |source| Self::Refused {
            step,
            path: path.into(),
            source: source.into(),
        }
    }
}
