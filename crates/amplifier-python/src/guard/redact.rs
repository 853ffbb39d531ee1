//! `Redactor`: secrets taken out of text, of plain data and of streams.

mod data;

use std::sync::{Arc, Mutex, PoisonError};

use amplifier_guard as guard;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::Error;
use crate::guard::redact::data::{Keys, Walk, redacted_text};
use crate::guard::text::{decoded, encoded};

/// Removes known secrets in any encoding, and whatever looks like a secret.
///
/// Each becomes `[REDACTED:<kind>]`. The time is linear in the text.
///
/// `Redactor(secrets)` takes the configured keys and passwords. No eight characters in a row of one
/// are left, whether plain, in base64, percent-encoded, in hexadecimal digits or with escapes of JSON
/// or HTML. Blank ones are ignored; fewer than four bytes are a `ValueError`.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct Redactor {
    redactor: Shared,
}

/// A redactor that streams share.
#[derive(Clone)]
struct Shared(Arc<guard::Redactor>);

impl AsRef<guard::Redactor> for Shared {
    fn as_ref(&self) -> &guard::Redactor {
        &self.0
    }
}

#[pymethods]
impl Redactor {
    #[new]
    #[pyo3(signature = (secrets = vec![]))]
    fn new(secrets: Vec<String>) -> Result<Self, Error> {
        Ok(Self {
            redactor: Shared(Arc::new(guard::Redactor::new(secrets)?)),
        })
    }

    /// Return the text without its secrets; the same object if there are none.
    fn redact<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        redacted_text(&self.redactor.0, text)
    }

    /// Return the text without known secrets; what only looks like a secret stays.
    ///
    /// For those who must see what will run.
    fn redact_known<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let bytes = encoded(text)?;
        decoded(text.py(), &self.redactor.0.redact_known(bytes.as_bytes()))
    }

    /// Return where known secrets are in a text, as bytes from and to.
    fn known_places(&self, text: &[u8]) -> Vec<(usize, usize)> {
        self.redactor.0.known_places(text)
    }

    /// Return the data without its secrets; the same object if there are none.
    ///
    /// Dicts, lists, tuples and sets are gone through; a value whose key says secret becomes a mark.
    /// Models and dataclasses become their fields, other objects their text, if those hold a secret.
    /// What is nested deeper than 200 containers, or in itself, becomes a mark.
    fn redact_data<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Walk::new(&self.redactor.0).value(data, Keys::default())
    }

    /// Return the traceback with causes, contexts, notes and groups, without secrets and homes.
    ///
    /// This never raises, even if the error's own methods do.
    fn redact_exception<'py>(&self, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let py = error.py();
        let text = match format_traceback(error) {
            Ok(text) => text,
            Err(failure) if failure.is_instance_of::<PyException>(py) => {
                let (error, failure) = (error.get_type().name()?, failure.get_type(py).name()?);
                PyString::new(py, &format!("{error} (not shown: {failure})\n"))
            }
            Err(failure) => return Err(failure),
        };
        self.redact_log(&text, None)
    }

    /// Return a line of a log without secrets and home folders.
    ///
    /// Args:
    ///     text: The line.
    ///     most: Maximum number of characters.
    #[pyo3(signature = (text, most = None))]
    fn redact_log<'py>(
        &self,
        text: &Bound<'py, PyString>,
        most: Option<usize>,
    ) -> PyResult<Bound<'py, PyString>> {
        let py = text.py();
        let redacted = self.redact(text)?;
        // Lone surrogates have no place in a file name that is shown.
        let options = (intern!(py, "utf-8"), intern!(py, "backslashreplace"));
        let bytes = redacted.call_method1(intern!(py, "encode"), options)?;
        let line = String::from_utf8_lossy(bytes.cast::<PyBytes>()?.as_bytes());
        let line = guard::hide_homes(&line);
        Ok(PyString::new(
            py,
            &match most {
                Some(most) => guard::shorten(&line, most),
                None => line,
            },
        ))
    }

    /// Return a redactor for one text that comes in chunks.
    fn stream(&self) -> RedactorStream {
        RedactorStream {
            stream: Mutex::new(guard::RedactorStream::new(self.redactor.clone())),
        }
    }
}

/// Takes secrets out of one text that comes in chunks.
///
/// Held back is what may be the beginning of a secret: the last word, a value or a block whose end
/// has not come; at most 8 KiB and a chunk.
#[pyclass(frozen, weakref, module = "amplifier_core._engine")]
pub(crate) struct RedactorStream {
    stream: Mutex<guard::RedactorStream<Shared>>,
}

#[pymethods]
impl RedactorStream {
    /// Take a chunk and return what is safe to show by now.
    fn feed<'py>(&self, chunk: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let bytes = encoded(chunk)?;
        let out = self.locked().feed(bytes.as_bytes());
        decoded(chunk.py(), &out)
    }

    /// Return the rest; what is fed later begins another text.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let out = self.locked().flush();
        decoded(py, &out)
    }
}

impl RedactorStream {
    fn locked(&self) -> std::sync::MutexGuard<'_, guard::RedactorStream<Shared>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The traceback of an exception as Python prints it.
fn format_traceback<'py>(error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = error.py();
    let traceback = py.import("traceback")?.getattr("TracebackException")?;
    let lines = traceback
        .call_method1("from_exception", (error,))?
        .call_method0("format")?;
    Ok(PyString::new(py, "")
        .call_method1("join", (lines,))?
        .cast_into()?)
}

/// Return the text with each home folder as `~`: `/home/ada/x` is `~/x`.
#[pyo3::pyfunction]
pub(crate) fn hide_homes(text: &str) -> String {
    guard::hide_homes(text).into_owned()
}

/// Return at most `most` characters of the text, with `…` as the last one where it is cut.
#[pyo3::pyfunction]
pub(crate) fn shorten(text: &str, most: usize) -> String {
    guard::shorten(text, most).into_owned()
}
