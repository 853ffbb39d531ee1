//! `PathPolicy`: reading beneath one directory, with the interpreter free meanwhile.

mod report;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use amplifier_guard as guard;
use amplifier_guard::{LineRange, LineSearch, NamePattern, Order, Walker};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) use report::{LineWindow, SearchReport, Walk};

use crate::error::Error;

/// How often a long walk asks whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// The name, the kind and the bytes of what is in a directory.
type Entry = (OsString, &'static str, u64);

/// Keeps every read inside one directory, the root.
///
/// Paths count from the root; an absolute path is taken if it lies inside. A link is followed as
/// long as it stays inside. Whatever leads out raises `PathDenied`.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct PathPolicy {
    policy: guard::PathPolicy,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl PathPolicy {
    #[new]
    fn new(py: Python<'_>, root: PathBuf) -> Result<Self, Error> {
        #[cfg(windows)]
        guard::provide_windows_calls(&windows::PythonCalls);
        let policy = py.detach(|| guard::PathPolicy::new(root))?;
        Ok(Self { policy })
    }

    /// The canonical path of the root.
    #[getter]
    fn root(&self) -> OsString {
        self.policy.root().as_os_str().to_owned()
    }

    /// Return a policy of the same root that also reads files that hold secrets: a person agreed.
    fn with_secrets(&self) -> Result<Self, Error> {
        let policy = self.policy.with_secrets()?;
        Ok(Self { policy })
    }

    /// Return where `path` leads, relative to the root, if it may be read, and open nothing.
    ///
    /// Names of files that hold secrets, such as `.env`, raise `PathProtected`.
    fn readable(&self, py: Python<'_>, path: PathBuf) -> Result<OsString, Error> {
        Ok(spell(py.detach(|| self.policy.readable(path))?))
    }

    /// Return the canonical path of something that exists, relative to the root.
    fn resolve(&self, py: Python<'_>, path: PathBuf) -> Result<OsString, Error> {
        Ok(spell(py.detach(|| self.policy.resolve(path))?))
    }

    /// Open a regular file for reading bytes.
    #[cfg(unix)]
    fn open<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        use std::os::fd::IntoRawFd;

        let file = py.detach(|| self.policy.open(path)).map_err(Error::from)?;
        py.import("io")?
            .call_method1("open", (file.into_raw_fd(), "rb"))
    }

    /// Open a regular file for reading bytes.
    #[cfg(windows)]
    fn open<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        use std::os::windows::io::IntoRawHandle;

        let file = py.detach(|| self.policy.open(path)).map_err(Error::from)?;
        let handle = file.into_raw_handle() as usize;
        // 0 is `os.O_RDONLY`.
        let number = py
            .import("msvcrt")?
            .call_method1("open_osfhandle", (handle, 0))?;
        py.import("io")?.call_method1("open", (number, "rb"))
    }

    /// Return the first `limit` bytes of a regular file.
    fn read<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        limit: u64,
    ) -> Result<Bound<'py, PyBytes>, Error> {
        let content = py.detach(|| self.policy.read(path, limit))?;
        Ok(PyBytes::new(py, &content))
    }

    /// Return where a write to `path` would land, relative to the root, and change nothing.
    ///
    /// Names that decide what runs raise `PathProtected` unless `protected`: a person agreed.
    #[pyo3(signature = (path, *, protected = false))]
    fn writable(&self, py: Python<'_>, path: PathBuf, protected: bool) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.writable(path, protected))?;
        Ok(spell(target))
    }

    /// Write a new or existing file, make missing folders, and return where it landed.
    #[pyo3(signature = (path, content, *, protected = false))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        content: &[u8],
        protected: bool,
    ) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.write(path, content, protected))?;
        Ok(spell(target))
    }

    /// Make a new file whole, make missing folders, and return where it landed.
    ///
    /// `PathChanged` is raised if a file is there.
    #[pyo3(signature = (path, content, *, protected = false))]
    fn create(
        &self,
        py: Python<'_>,
        path: PathBuf,
        content: &[u8],
        protected: bool,
    ) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.create(path, content, protected))?;
        Ok(spell(target))
    }

    /// Put a file with `content` in the place of another one, or where none is, at once.
    ///
    /// Whoever reads it, and whoever comes after a crash, finds the old file or the new one. Owner,
    /// group, mode, extended attributes and access lists are kept; `AttributeNotKept` is raised if
    /// one cannot be. `PathChanged` is raised if the old content is not the `expected` one.
    #[pyo3(signature = (path, content, *, expected = None, protected = false))]
    fn replace(
        &self,
        py: Python<'_>,
        path: PathBuf,
        content: &[u8],
        expected: Option<&[u8]>,
        protected: bool,
    ) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.replace(path, content, expected, protected))?;
        Ok(spell(target))
    }

    /// Return where the file is that a removal of `path` would remove, and change nothing.
    ///
    /// Refused is what `writable` refuses, what is not there, and a link in the place of the file.
    #[pyo3(signature = (path, *, protected = false))]
    fn removable(&self, py: Python<'_>, path: PathBuf, protected: bool) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.removable(path, protected))?;
        Ok(spell(target))
    }

    /// Remove a regular file, and return where it was; a link in its place is not followed.
    ///
    /// `PathChanged` is raised if its content is not the `expected` one.
    #[pyo3(signature = (path, *, expected = None, protected = false))]
    fn remove(
        &self,
        py: Python<'_>,
        path: PathBuf,
        expected: Option<&[u8]>,
        protected: bool,
    ) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.remove(path, expected, protected))?;
        Ok(spell(target))
    }

    /// Give a regular file another path, make missing folders, and return where it is then.
    ///
    /// It keeps all that it has; a link in its place is not followed. `PathChanged` is raised if its
    /// content is not the `expected` one, or if something is at the new path.
    #[pyo3(signature = (path, new_path, *, expected = None, protected = false))]
    fn rename(
        &self,
        py: Python<'_>,
        path: PathBuf,
        new_path: PathBuf,
        expected: Option<&[u8]>,
        protected: bool,
    ) -> Result<OsString, Error> {
        let target = py.detach(|| self.policy.rename(path, new_path, expected, protected))?;
        Ok(spell(target))
    }

    /// Return the files and folders beneath the root that are not read without approval.
    ///
    /// Their paths are from the root and sorted. A folder is named and not walked, links are neither
    /// followed nor named, `.git` is left out; what git ignores is not.
    #[pyo3(signature = (stop = None))]
    fn find_secrets(
        &self,
        py: Python<'_>,
        stop: Option<Py<PyAny>>,
    ) -> Result<Vec<OsString>, Error> {
        let found = py.detach(|| self.policy.find_secrets(&mut stopped(stop.as_ref())))?;
        Ok(found.into_iter().map(spell).collect())
    }

    /// Return the `(name, kind, bytes)` of a directory's entries, by name.
    ///
    /// The kind is `file`, `directory`, `link` or `other`; only files have bytes.
    #[pyo3(signature = (path = PathBuf::from(".")))]
    fn list(&self, py: Python<'_>, path: PathBuf) -> Result<Vec<Entry>, Error> {
        let entries = py.detach(|| self.policy.list(path))?;
        Ok(entries
            .into_iter()
            .map(|entry| (entry.name, entry.kind.name(), entry.bytes))
            .collect())
    }

    /// Return the first entries of a directory by name, as `list` does, and how many it has.
    ///
    /// At most `limit` are kept, as long as they take about `max_bytes`.
    #[pyo3(signature = (path = PathBuf::from("."), *, limit, max_bytes, stop = None))]
    fn first_entries(
        &self,
        py: Python<'_>,
        path: PathBuf,
        limit: usize,
        max_bytes: usize,
        stop: Option<Py<PyAny>>,
    ) -> Result<(Vec<Entry>, u64), Error> {
        let stopped = &mut stopped(stop.as_ref());
        let (entries, total) =
            py.detach(|| self.policy.first_entries(path, limit, max_bytes, stopped))?;
        let entries = entries.into_iter();
        let entries = entries.map(|entry| (entry.name, entry.kind.name(), entry.bytes));
        Ok((entries.collect(), total))
    }

    /// Return the lines of a text file from number `first` on.
    ///
    /// `stop` is asked now and then; once it is set, `InterruptedError` is raised.
    #[pyo3(signature = (path, *, first = 1, limit = 2000, max_bytes = 262_144, stop = None))]
    fn lines(
        &self,
        py: Python<'_>,
        path: PathBuf,
        first: u64,
        limit: u64,
        max_bytes: usize,
        stop: Option<Py<PyAny>>,
    ) -> Result<LineWindow, Error> {
        let range = LineRange {
            first,
            limit,
            most_bytes: max_bytes,
        };
        let window = py.detach(|| self.policy.lines(path, range, &mut stopped(stop.as_ref())))?;
        Ok(LineWindow { window })
    }

    /// Return the regular files beneath `path`, links not followed.
    ///
    /// `pattern` chooses files by a glob over their path from `path`; `skip` names files and
    /// directories that are left out, at any depth, and `skip_ignored` leaves out what git ignores.
    /// The first `limit` files in `order` are kept, as long as they take about `max_bytes`, and so
    /// many bytes of endings; all are counted.
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    #[pyo3(signature = (
        path = PathBuf::from("."), *, pattern = None, skip = vec![], skip_ignored = false, order = "path",
        limit = usize::MAX, max_bytes = 16_777_216, stop = None,
    ))]
    fn walk(
        &self,
        py: Python<'_>,
        path: PathBuf,
        pattern: Option<&str>,
        skip: Vec<OsString>,
        skip_ignored: bool,
        order: &str,
        limit: usize,
        max_bytes: usize,
        stop: Option<Py<PyAny>>,
    ) -> PyResult<Walk> {
        let order = read_order(order)?;
        let pattern = pattern.map(NamePattern::new).transpose();
        let pattern = pattern.map_err(Error::from)?;
        let walk = py.detach(|| {
            let stopped = &mut stopped(stop.as_ref());
            self.policy.walk(
                path,
                &mut Walker {
                    skip: &skip,
                    skip_ignored,
                    pattern: pattern.as_ref(),
                    order,
                    limit,
                    most_bytes: max_bytes,
                    stopped,
                },
            )
        });
        Ok(Walk {
            walk: walk.map_err(Error::from)?,
        })
    }

    /// Search the lines of the text files beneath `path` for a regular expression.
    ///
    /// `pattern`, `skip` and `skip_ignored` choose the files, as those of `walk` do. The first
    /// `limit` matching lines by path are kept, and the first `max_files` files with a match in
    /// `order` (`largest`: the most matches), as long as each takes about `max_bytes`; all are
    /// counted. `ValueError` is raised if the expression takes too many steps on a file.
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    #[pyo3(signature = (
        expression, path = PathBuf::from("."), *, pattern = None, skip = vec![],
        skip_ignored = false, ignore_case = false, limit = 100, order = "path", max_files = usize::MAX,
        max_bytes = 16_777_216, stop = None,
    ))]
    fn search(
        &self,
        py: Python<'_>,
        expression: &str,
        path: PathBuf,
        pattern: Option<&str>,
        skip: Vec<OsString>,
        skip_ignored: bool,
        ignore_case: bool,
        limit: usize,
        order: &str,
        max_files: usize,
        max_bytes: usize,
        stop: Option<Py<PyAny>>,
    ) -> PyResult<SearchReport> {
        let order = read_order(order)?;
        let search = LineSearch::new(expression, ignore_case).map_err(Error::from)?;
        let pattern = pattern.map(NamePattern::new).transpose();
        let pattern = pattern.map_err(Error::from)?;
        let report = py.detach(|| {
            let stopped = &mut stopped(stop.as_ref());
            let mut walker = Walker {
                skip: &skip,
                skip_ignored,
                pattern: pattern.as_ref(),
                order,
                limit: max_files,
                most_bytes: max_bytes,
                stopped,
            };
            self.policy.search(path, &search, limit, &mut walker)
        });
        Ok(SearchReport {
            report: report.map_err(Error::from)?,
        })
    }

    fn __repr__(&self) -> String {
        format!("PathPolicy('{}')", self.policy.root().display())
    }
}

/// Return `path` for a log: from `root`, else from `home` as `~`, control characters escaped.
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pyfunction]
#[pyo3(signature = (path, *, root = None, home = None))]
pub(crate) fn log_path(path: PathBuf, root: Option<PathBuf>, home: Option<PathBuf>) -> String {
    guard::log_path(&path, root.as_deref(), home.as_deref())
}

/// Return the absolute paths of what holds secrets outside of projects and is there, sorted.
///
/// They are names in the `home`, such as `.ssh`, and places of well-known programs and of the
/// system; links are followed.
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pyfunction]
pub(crate) fn secret_places(py: Python<'_>, home: PathBuf) -> Vec<OsString> {
    let places = py.detach(|| guard::secret_places(&home));
    places.into_iter().map(PathBuf::into_os_string).collect()
}

/// A path from the root as Python gets it.
fn spell(path: PathBuf) -> OsString {
    guard::with_slashes(path).into_os_string()
}

/// Which results come first, by its name in Python.
fn read_order(name: &str) -> PyResult<Order> {
    Ok(match name {
        "path" => Order::Path,
        "largest" => Order::Largest,
        "latest" => Order::Latest,
        _ => {
            let message = format!("`order` is `{name}` (must be `path`, `largest` or `latest`)");
            return Err(PyValueError::new_err(message));
        }
    })
}

/// Whether the caller's event is set, asked for seldom: each question takes the interpreter.
fn stopped(stop: Option<&Py<PyAny>>) -> impl FnMut() -> bool {
    let mut asked = Instant::now();
    move || {
        let Some(stop) = stop else { return false };
        if asked.elapsed() < STOP_INTERVAL {
            return false;
        }
        asked = Instant::now();
        // An event that cannot answer stops the work rather than be ignored.
        Python::attach(|py| {
            stop.bind(py)
                .call_method0("is_set")
                .and_then(|set| set.is_truthy())
                .unwrap_or(true)
        })
    }
}
