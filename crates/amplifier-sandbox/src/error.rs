//! What can go wrong while a sandbox is made.

use std::io;
use std::path::{Path, PathBuf};

/// A step of a launch that the kernel refused.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A step that is about no file.
    #[error("cannot {step}: {source}")]
    Step {
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A step that is about a file or a folder.
    #[error("cannot {step} `{}`: {source}", path.display())]
    Path {
        /// What was tried.
        step: &'static str,
        /// With what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The rules of Landlock could not be made.
    #[error("cannot restrict the access to files: {0}")]
    Landlock(String),
    /// The filter of system calls could not be made.
    #[error("cannot filter system calls: {0}")]
    Filter(String),
}

impl SandboxError {
    /// Returns what turns an error of the kernel into one of such a step.
    pub(crate) fn step<Source: Into<io::Error>>(step: &'static str) -> impl Fn(Source) -> Self {
        move |source| Self::Step {
            step,
            source: source.into(),
        }
    }

    /// Returns what turns an error of the kernel into one of such a step on `path`.
    pub(crate) fn path<Source: Into<io::Error>>(
        step: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(Source) -> Self {
        move |source| Self::Path {
            step,
            path: path.as_ref().into(),
            source: source.into(),
        }
    }

    /// Returns what turns errors of the kernel into ones of such a step on `path`.
    pub(crate) fn step_on(step: &'static str, path: &Path) -> impl Fn(rustix::io::Errno) -> Self {
        move |source| Self::Path {
            step,
            path: path.into(),
            source: source.into(),
        }
    }
}
