//! `Change`: changes of a project that can be taken back, with the interpreter free meanwhile.

use std::ffi::OsString;
use std::path::PathBuf;

use amplifier_changes as changes;
use amplifier_changes::{ChangeError, Kind, Outcome, PathType};
use pyo3::prelude::*;

use crate::error::Error;

/// The fields of a path: path, kind, type, before, after, size.
type PathFields = (
    OsString,
    &'static str,
    &'static str,
    Option<OsString>,
    Option<OsString>,
    u64,
);
type ConflictFields = (OsString, Option<OsString>, String);
type OutcomeFields = (
    Vec<PathFields>,
    Vec<ConflictFields>,
    Vec<(OsString, String)>,
);

/// One change of a project, which can be taken back; outcomes are tuples of their fields.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct Change {
    change: changes::Change,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl Change {
    #[new]
    #[pyo3(signature = (project, folder, later = Vec::new()))]
    fn new(
        py: Python<'_>,
        project: PathBuf,
        folder: PathBuf,
        later: Vec<PathBuf>,
    ) -> Result<Self, Error> {
        let change = py.detach(|| changes::Change::open(project, folder))?;
        Ok(Self {
            change: change.before(later),
        })
    }

    /// Make the folder of a new change, and what is in it.
    #[staticmethod]
    fn begin(py: Python<'_>, project: PathBuf, folder: PathBuf) -> Result<Self, Error> {
        let change = py.detach(|| changes::Change::begin(project, folder))?;
        Ok(Self { change })
    }

    /// Where the change is.
    #[getter]
    fn state(&self, py: Python<'_>) -> Result<&'static str, Error> {
        Ok(py.detach(|| self.change.state())?.as_str())
    }

    /// The upper layer of an overlay; later the versions from before.
    #[getter]
    fn layer(&self) -> OsString {
        self.change.layer().into_os_string()
    }

    /// The work folder of an overlay.
    #[getter]
    fn work(&self) -> OsString {
        self.change.work().into_os_string()
    }

    /// Return what a commit would do, or what it did.
    fn list_paths(&self, py: Python<'_>) -> Result<Vec<PathFields>, Error> {
        let paths = py.detach(|| self.change.list_paths())?;
        Ok(paths.into_iter().map(path_fields).collect())
    }

    /// Put what the layer has into the project: `chosen` paths and what they need, or all.
    #[pyo3(signature = (chosen = None))]
    fn commit(&self, py: Python<'_>, chosen: Option<Vec<PathBuf>>) -> Result<OutcomeFields, Error> {
        let outcome = py.detach(|| self.change.commit(chosen.as_deref()))?;
        Ok(outcome_fields(outcome))
    }

    /// Put the versions from before into the project.
    #[pyo3(signature = (*, preview = false))]
    fn undo(&self, py: Python<'_>, preview: bool) -> Result<OutcomeFields, Error> {
        Ok(outcome_fields(py.detach(|| self.change.undo(preview))?))
    }

    /// Put the versions of the change into the project again.
    #[pyo3(signature = (*, preview = false))]
    fn redo(&self, py: Python<'_>, preview: bool) -> Result<OutcomeFields, Error> {
        Ok(outcome_fields(py.detach(|| self.change.redo(preview))?))
    }

    /// Finish or take back what a crash interrupted.
    fn recover(&self, py: Python<'_>) -> Result<(), Error> {
        Ok(py.detach(|| self.change.recover())?)
    }

    /// Delete the folder of the change, whatever modes are in it.
    fn remove(&self, py: Python<'_>) -> Result<(), Error> {
        Ok(py.detach(|| self.change.remove())?)
    }

    /// Keep what a file tool is about to write over, and a digest of what it will write.
    fn record_before(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        after: Vec<Option<Vec<u8>>>,
    ) -> Result<(), Error> {
        Ok(py.detach(|| self.change.record_before(&paths, &after))?)
    }

    /// Record what the file tool wrote.
    fn record_after(&self, py: Python<'_>) -> Result<OutcomeFields, Error> {
        Ok(outcome_fields(py.detach(|| self.change.record_after())?))
    }
}

fn path_fields(path: changes::ChangedPath) -> PathFields {
    let kind = match path.kind {
        Kind::Created => "created",
        Kind::Modified => "modified",
        Kind::Deleted => "deleted",
    };
    let path_type = match path.path_type {
        PathType::File => "file",
        PathType::Folder => "folder",
        PathType::Link => "link",
    };
    (
        path.path.into_os_string(),
        kind,
        path_type,
        path.before.map(PathBuf::into_os_string),
        path.after.map(PathBuf::into_os_string),
        path.size,
    )
}

fn outcome_fields(outcome: Outcome) -> OutcomeFields {
    let conflicts = outcome.conflicts.into_iter().map(|each| {
        let kept = each.kept.map(PathBuf::into_os_string);
        (each.path.into_os_string(), kept, each.reason)
    });
    let dropped = outcome.dropped.into_iter();
    (
        outcome.done.into_iter().map(path_fields).collect(),
        conflicts.collect(),
        dropped
            .map(|each| (each.path.into_os_string(), each.reason))
            .collect(),
    )
}

impl From<ChangeError> for Error {
    fn from(error: ChangeError) -> Self {
        crate::error::ChangeError.later(error.to_string())
    }
}
