//! `Redactor`: secrets taken out of text, of plain data and of streams.

mod data;

use std::sync::{Arc, Mutex, PoisonError};

use amplifier_guard as guard;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Error;
use crate::guard::redact::data::{Keys, Walk, redacted_text};
use crate::guard::text::{decoded, encoded};

/// Takes secrets out of text and data: known values in any encoding, and what looks like a secret.
#[pyclass(frozen, subclass, module = "amplifier_core._engine")]
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

    /// Return the text without its secrets; the same object if it has none.
    fn redact<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        redacted_text(&self.redactor.0, text)
    }

    /// Return the text without known secrets; what only looks like a secret stays.
    fn redact_known<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let bytes = encoded(text)?;
        decoded(text.py(), &self.redactor.0.redact_known(bytes.as_bytes()))
    }

    /// Return where known secrets are in a text, as bytes from and to.
    fn known_places(&self, text: &[u8]) -> Vec<(usize, usize)> {
        self.redactor.0.known_places(text)
    }

    /// Return the data without its secrets; the same object if it has none.
    fn redact_data<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Walk::new(&self.redactor.0).value(data, Keys::default())
    }

    /// Return a redactor for one text in chunks.
    fn stream(&self) -> RedactorStream {
        RedactorStream {
            stream: Mutex::new(guard::RedactorStream::new(self.redactor.clone())),
        }
    }
}

/// Takes secrets out of one text in chunks.
#[pyclass(frozen, module = "amplifier_core._engine")]
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

/// Return the text with each home folder as `~`.
#[pyo3::pyfunction]
pub(crate) fn hide_homes(text: &str) -> String {
    guard::hide_homes(text).into_owned()
}

/// Return at most `most` characters of the text, with `…` as the last one where it is cut.
#[pyo3::pyfunction]
pub(crate) fn shorten(text: &str, most: usize) -> String {
    guard::shorten(text, most).into_owned()
}
