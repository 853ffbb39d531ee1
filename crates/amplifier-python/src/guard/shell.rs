//! `ShellPolicy`: which command lines may run without a person.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::path::PathBuf;

use amplifier_guard as guard;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;

/// Decides which command lines may run without a person; safe to share.
///
/// Args:
///     allow_prefixes: Lines of plain shell that an allowed command begins with, such as `git log`.
///     root: Folder in which commands run; absolute paths must be beneath it. None to refuse them.
///     loopback: Whether curl may read from the servers of this machine, on any port.
///
/// Raises:
///     ValueError: A prefix cannot be used.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct ShellPolicy {
    policy: guard::ShellPolicy,
}

#[pymethods]
impl ShellPolicy {
    #[new]
    #[pyo3(signature = (allow_prefixes, *, root = None, loopback = false))]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments from Python are extracted by value"
    )]
    fn new(allow_prefixes: Vec<String>, root: Option<PathBuf>, loopback: bool) -> PyResult<Self> {
        let prefixes = allow_prefixes.iter().map(String::as_str);
        let policy = guard::ShellPolicy::new(prefixes, root)
            .map_err(|error| PyValueError::new_err(format!("invalid prefix: {error}")))?;
        let policy = if loopback {
            policy.with_loopback()
        } else {
            policy
        };
        Ok(Self { policy })
    }

    /// Return the words of `command` to run.
    ///
    /// Raises:
    ///     ShellDenied: A person must be asked about it.
    fn check(&self, command: &str) -> Result<Vec<String>, Error> {
        Ok(self.policy.check(command)?)
    }

    /// Return the commands that `|` and `&&` join in `line`, each after its joiner.
    ///
    /// The joiner of the first is empty.
    ///
    /// Raises:
    ///     ShellDenied: A person must be asked about one of them.
    fn check_line(&self, line: &str) -> Result<Vec<(&'static str, Vec<String>)>, Error> {
        let steps = self.policy.check_line(line)?.into_iter();
        let pairs = steps.map(|step| match step.joiner {
            None => ("", step.words),
            Some(guard::ShellJoiner::Pipe) => ("|", step.words),
            Some(guard::ShellJoiner::And) => ("&&", step.words),
        });
        Ok(pairs.collect())
    }
}

/// Return the words of one plain command, as every POSIX shell reads it.
///
/// Raises:
///     ShellDenied: It is more than one plain command, or shells may read it in different ways.
#[pyfunction]
pub(crate) fn read_command(command: &str) -> Result<Vec<String>, Error> {
    Ok(guard::read_command(command)?)
}
