//! `PersonalData`: personal data taken out of text and of streams.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use amplifier_guard as guard;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::Error;
use crate::guard::text::{decoded, encoded};

/// Takes personal data out of text: each becomes `[PII:<type>]`.
///
/// Where several overlap, all of them are removed, under the type of the longest. The time is linear
/// in the text.
///
/// Args:
///     types: Built-in types: `SSN`, `CREDIT_CARD`, `EMAIL`, `PHONE`, `IPV4` and `IBAN`.
///     patterns: The names of further types, each with an expression of the `regex` crate.
///
/// Raises:
///     ValueError: A type does not exist, or a pattern cannot be used.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct PersonalData {
    data: Shared,
}

/// What streams share.
#[derive(Clone)]
struct Shared(Arc<guard::PersonalData>);

impl AsRef<guard::PersonalData> for Shared {
    fn as_ref(&self) -> &guard::PersonalData {
        &self.0
    }
}

#[pymethods]
impl PersonalData {
    #[new]
    #[pyo3(signature = (types, patterns = vec![]))]
    fn new(types: Vec<String>, patterns: Vec<(String, String)>) -> Result<Self, Error> {
        Ok(Self {
            data: Shared(Arc::new(guard::PersonalData::new(types, patterns)?)),
        })
    }

    /// Return the text without personal data; the same object if it has none.
    fn redact<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let bytes = encoded(text)?;
        match self.data.0.redact(bytes.as_bytes()) {
            Cow::Borrowed(_) => Ok(text.clone()),
            Cow::Owned(redacted) => decoded(text.py(), &redacted),
        }
    }

    /// Return the types of the personal data in a text, each once.
    fn types<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = encoded(text)?;
        PyTuple::new(text.py(), self.data.0.types(bytes.as_bytes()))
    }

    /// Return what takes personal data out of one text that comes in chunks.
    fn stream(&self) -> PersonalDataStream {
        PersonalDataStream {
            stream: Mutex::new(guard::PersonalDataStream::new(self.data.clone())),
        }
    }
}

/// Takes personal data out of one text that comes in chunks.
///
/// Held back is only what could become personal data with more text, at most 4 KiB and a chunk.
#[pyclass(frozen, weakref, module = "amplifier_core._engine")]
pub(crate) struct PersonalDataStream {
    stream: Mutex<guard::PersonalDataStream<Shared>>,
}

#[pymethods]
impl PersonalDataStream {
    /// Take a chunk and return what can be shown by now.
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

    /// Return the types that were found by now, each once.
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.locked().types().iter().map(|name| &**name))
    }
}

impl PersonalDataStream {
    fn locked(&self) -> std::sync::MutexGuard<'_, guard::PersonalDataStream<Shared>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
