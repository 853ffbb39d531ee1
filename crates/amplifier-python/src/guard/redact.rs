//! `Redactor`: secrets taken out of text, of plain data and of streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use amplifier_core::MAX_DEPTH;
use amplifier_guard as guard;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString,
    PyTuple,
};

use crate::error::Error;

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
        self.text(text)
    }

    /// Return the text without known secrets; what only looks like a secret stays.
    fn redact_known<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let bytes = encoded(text)?;
        decoded(text.py(), &self.redactor.0.redact_known(bytes.as_bytes()))
    }

    /// Return the data without its secrets; the same object if it has none.
    fn redact_data<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut walk = Walk {
            redactor: self,
            ancestors: Vec::new(),
            done: HashMap::new(),
        };
        walk.value(data, None)
    }

    /// Return a redactor for one text in chunks.
    fn stream(&self) -> RedactorStream {
        RedactorStream {
            stream: Mutex::new(guard::RedactorStream::new(self.redactor.clone())),
        }
    }
}

impl Redactor {
    fn text<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let py = text.py();
        if let Ok(characters) = text.to_str() {
            return Ok(match self.redactor.0.redact(characters) {
                std::borrow::Cow::Borrowed(_) => text.clone(),
                std::borrow::Cow::Owned(redacted) => PyString::new(py, &redacted),
            });
        }
        let bytes = encoded(text)?;
        match self.redactor.0.redact_bytes(bytes.as_bytes()) {
            std::borrow::Cow::Borrowed(_) => Ok(text.clone()),
            std::borrow::Cow::Owned(redacted) => decoded(py, &redacted),
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

/// A copy of nested data that is made only where something changes.
struct Walk<'walk, 'py> {
    redactor: &'walk Redactor,
    ancestors: Vec<usize>,
    /// The result for each container, so that one in several places is walked once.
    done: HashMap<(usize, bool), (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'py> Walk<'_, 'py> {
    /// The value without its secrets, under a key if it is the value of one.
    fn value(
        &mut self,
        value: &Bound<'py, PyAny>,
        key: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        if value.is_none()
            || value.is_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyFloat>()
        {
            return Ok(value.clone());
        }
        if let Ok(text) = value.cast::<PyString>() {
            let mark = key.and_then(|key| {
                let text = text.to_string_lossy();
                self.redactor.redactor.0.redact_field(key, &text)
            });
            return match mark {
                Some(mark) => Ok(PyString::new(py, &mark).into_any()),
                None => Ok(self.redactor.text(text)?.into_any()),
            };
        }
        if value.is_instance_of::<PyInt>() {
            let digits = value.str()?;
            let mark = key.and_then(|key| {
                let digits = digits.to_string_lossy();
                self.redactor.redactor.0.redact_field(key, &digits)
            });
            if let Some(mark) = mark {
                return Ok(PyString::new(py, &mark).into_any());
            }
            let redacted = self.redactor.text(&digits)?;
            return Ok(if redacted.is(&digits) {
                value.clone()
            } else {
                redacted.into_any()
            });
        }
        if let Some(bytes) = bytes_of(value) {
            return Ok(self.bytes(value, &bytes, key));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.container(value, key, |walk| walk.dict(dict));
        }
        if let Ok(list) = value.cast::<PyList>() {
            let items = list.to_tuple();
            return self.container(value, key, |walk| {
                let Some(items) = walk.items(&items, key)? else {
                    return Ok(None);
                };
                Ok(Some(PyList::new(py, items)?.into_any()))
            });
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.container(value, key, |walk| {
                let Some(items) = walk.items(tuple, key)? else {
                    return Ok(None);
                };
                Ok(Some(PyTuple::new(py, items)?.into_any()))
            });
        }
        if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            let items = PyTuple::new(py, value.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
            return self.container(value, key, |walk| {
                let Some(items) = walk.items(&items, key)? else {
                    return Ok(None);
                };
                Ok(Some(if value.is_instance_of::<PySet>() {
                    PySet::new(py, items)?.into_any()
                } else {
                    PyFrozenSet::new(py, items)?.into_any()
                }))
            });
        }
        self.object(value, key)
    }

    /// Models and dataclasses as their fields, anything else as its text, if that holds a secret.
    fn object(
        &mut self,
        value: &Bound<'py, PyAny>,
        key: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(shape) = crate::json_shape::shape_of(value) else {
            return Ok(mark(value.py(), "circular data"));
        };
        if self.ancestors.len() >= MAX_DEPTH {
            return Ok(mark(value.py(), "deep data"));
        }
        // The shape is new at each place, so that its address says nothing of it later.
        let done = std::mem::take(&mut self.done);
        let redacted = self.value(&shape, key);
        self.done = done;
        let redacted = redacted?;
        Ok(if redacted.is(&shape) {
            value.clone()
        } else {
            redacted
        })
    }

    fn bytes(
        &self,
        value: &Bound<'py, PyAny>,
        bytes: &[u8],
        key: Option<&str>,
    ) -> Bound<'py, PyAny> {
        let py = value.py();
        let text = String::from_utf8_lossy(bytes);
        let redacted = match key.and_then(|key| self.redactor.redactor.0.redact_field(key, &text)) {
            Some(mark) => mark.into_bytes(),
            None => match self.redactor.redactor.0.redact_bytes(bytes) {
                std::borrow::Cow::Borrowed(_) => return value.clone(),
                std::borrow::Cow::Owned(redacted) => redacted,
            },
        };
        if value.is_instance_of::<PyByteArray>() {
            PyByteArray::new(py, &redacted).into_any()
        } else {
            PyBytes::new(py, &redacted).into_any()
        }
    }

    /// Walks a container once, and not below itself.
    fn container(
        &mut self,
        value: &Bound<'py, PyAny>,
        key: Option<&str>,
        walk: impl FnOnce(&mut Self) -> PyResult<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let address = value.as_ptr() as usize;
        let place = (address, key.is_some_and(guard::Redactor::is_secret_key));
        if let Some((_, redacted)) = self.done.get(&place) {
            return Ok(redacted.clone());
        }
        if self.ancestors.contains(&address) {
            return Ok(mark(value.py(), "circular data"));
        }
        if self.ancestors.len() >= MAX_DEPTH {
            return Ok(mark(value.py(), "deep data"));
        }
        self.ancestors.push(address);
        let redacted = walk(self);
        self.ancestors.pop();
        let redacted = redacted?.unwrap_or_else(|| value.clone());
        self.done.insert(place, (value.clone(), redacted.clone()));
        Ok(redacted)
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let copy = PyDict::new(dict.py());
        let mut is_changed = false;
        for (key, value) in dict.copy()? {
            let name = name_of(&key);
            let redacted = self.value(&value, name.as_deref())?;
            let mut new_key = match key.cast::<PyString>() {
                Ok(text) => self.redactor.text(text)?.into_any(),
                Err(_) => key.clone(),
            };
            is_changed |= !redacted.is(&value) || !new_key.is(&key);
            let mut number = 2;
            while !new_key.is(&key) && copy.contains(&new_key)? {
                // Two keys that held secrets stay two keys.
                let numbered = format!("{} {number}", guard::Redactor::mark("secret"));
                new_key = PyString::new(dict.py(), &numbered).into_any();
                number += 1;
            }
            copy.set_item(new_key, redacted)?;
        }
        Ok(is_changed.then(|| copy.into_any()))
    }

    fn items(
        &mut self,
        items: &Bound<'py, PyTuple>,
        key: Option<&str>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        // A header as a pair of name and value.
        let header = match items.len() {
            2 => name_of(&items.get_item(0)?).filter(|name| guard::Redactor::is_header_name(name)),
            _ => None,
        };
        let mut redacted = Vec::with_capacity(items.len());
        let mut is_changed = false;
        for (place, item) in items.iter().enumerate() {
            let name = if place == 1 {
                header.as_deref().or(key)
            } else {
                key
            };
            let new = self.value(&item, name)?;
            is_changed |= !new.is(&item);
            redacted.push(new);
        }
        Ok(is_changed.then_some(redacted))
    }
}

/// The name that a key of text or bytes is.
fn name_of(key: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = key.cast::<PyString>() {
        return Some(text.to_string_lossy().into_owned());
    }
    bytes_of(key).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn bytes_of(value: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Some(bytes.as_bytes().to_vec());
    }
    let bytes = value.cast::<PyByteArray>().ok()?;
    Some(bytes.to_vec())
}

fn mark<'py>(py: Python<'py>, kind: &str) -> Bound<'py, PyAny> {
    PyString::new(py, &guard::Redactor::mark(kind)).into_any()
}

/// The text as UTF-8, lone surrogates as the three bytes that they would have.
fn encoded<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyBytes>> {
    let py = text.py();
    let bytes = text.call_method1(
        intern!(py, "encode"),
        (intern!(py, "utf-8"), intern!(py, "surrogatepass")),
    )?;
    Ok(bytes.cast_into()?)
}

fn decoded<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, text));
    }
    let text = PyBytes::new(py, bytes).call_method1(
        intern!(py, "decode"),
        (intern!(py, "utf-8"), intern!(py, "surrogatepass")),
    )?;
    Ok(text.cast_into()?)
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
