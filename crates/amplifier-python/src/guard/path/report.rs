//! What reading, walking and searching beneath a directory return.

use std::collections::BTreeMap;
use std::ffi::OsString;

use amplifier_guard as guard;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::spell;

/// Some lines of a text file, and the figures of the whole.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct LineWindow {
    pub(super) window: guard::LineWindow,
}

#[pymethods]
impl LineWindow {
    /// The size of the whole file.
    #[getter]
    fn bytes(&self) -> u64 {
        self.window.bytes
    }

    /// The lines of the whole file, an unfinished last one among them.
    #[getter]
    fn total_lines(&self) -> u64 {
        self.window.total_lines
    }

    /// The lines in `content`, an unfinished last one among them.
    #[getter]
    fn shown_lines(&self) -> u64 {
        self.window.shown_lines
    }

    /// The lines as they are in the file.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.window.content)
    }

    /// Whether the file continues after `content`.
    #[getter]
    fn truncated(&self) -> bool {
        self.window.truncated
    }
}

/// The regular files beneath a directory; its totals are complete, whatever `files` was limited to.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct Walk {
    pub(super) walk: guard::Walk,
}

#[pymethods]
impl Walk {
    /// The first files as a new list of `(path, bytes, modified)`.
    ///
    /// `modified` is in seconds since 1970; 0 if it is unknown.
    #[getter]
    fn files(&self) -> Vec<(OsString, u64, f64)> {
        let files = self.walk.files.iter();
        files
            .map(|file| {
                let modified = file.modified.as_secs_f64();
                (spell(file.path.clone()), file.bytes, modified)
            })
            .collect()
    }

    /// Files in all.
    #[getter]
    fn total(&self) -> u64 {
        self.walk.total
    }

    /// Their bytes in all.
    #[getter]
    fn total_bytes(&self) -> u64 {
        self.walk.total_bytes
    }

    /// How many files have each ending, such as `.rs`, as a new dict.
    #[getter]
    fn endings(&self) -> BTreeMap<OsString, u64> {
        self.walk.endings.clone()
    }

    /// Files whose endings were too many to be kept.
    #[getter]
    fn other_endings(&self) -> u64 {
        self.walk.other_endings
    }

    /// How many directories could not be read, or were too many at once: their files are missing.
    ///
    /// A file of git's rules that could not be read counts, too.
    #[getter]
    fn unreadable(&self) -> u64 {
        self.walk.unreadable
    }

    /// Whether something was left out because git ignores it.
    #[getter]
    fn has_ignored(&self) -> bool {
        self.walk.has_ignored
    }
}

/// What a search found; its totals are complete, whatever its lists were limited to.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct SearchReport {
    pub(super) report: guard::SearchReport,
}

#[pymethods]
impl SearchReport {
    /// The first matching lines as a new list of `(path, line number, text)`.
    #[getter]
    fn lines(&self) -> Vec<(OsString, u64, &str)> {
        let lines = self.report.lines.iter();
        lines
            .map(|found| (spell(found.path.clone()), found.line, found.text.as_str()))
            .collect()
    }

    /// The first files with a match as a new list of `(path, matching lines)`.
    #[getter]
    fn files(&self) -> Vec<(OsString, u64)> {
        self.report
            .files
            .iter()
            .map(|file| (spell(file.path.clone()), file.matches))
            .collect()
    }

    /// Matching lines in all.
    #[getter]
    fn total_matches(&self) -> u64 {
        self.report.total_matches
    }

    /// Files with a match in all.
    #[getter]
    fn total_files(&self) -> u64 {
        self.report.total_files
    }

    /// Text files searched: files without a NUL byte.
    #[getter]
    fn searched_files(&self) -> u64 {
        self.report.searched_files
    }

    /// Newline characters in the text files.
    #[getter]
    fn searched_lines(&self) -> u64 {
        self.report.searched_lines
    }

    /// Files with a NUL byte, whose matches do not count.
    #[getter]
    fn binary_files(&self) -> u64 {
        self.report.binary_files
    }

    /// Files that hold secrets, which were not searched.
    #[getter]
    fn secret_files(&self) -> u64 {
        self.report.secret_files
    }

    /// Files and directories that could not be read.
    #[getter]
    fn unreadable(&self) -> u64 {
        self.report.unreadable
    }

    /// Whether something was left out because git ignores it.
    #[getter]
    fn has_ignored(&self) -> bool {
        self.report.has_ignored
    }
}
