//! Plain data without its secrets.

use std::borrow::Cow;
use std::collections::HashMap;

use amplifier_core::MAX_DEPTH;
use amplifier_guard as guard;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString,
    PyTuple,
};

use crate::guard::text::{decoded, encoded};
use crate::json_shape::shape_of;

/// The most characters of a text that may keep a second copy of itself, in UTF-8.
const MAX_COPIED: usize = 1 << 16;

/// The text without its secrets; the same object if it has none.
pub(crate) fn redacted_text<'py>(
    redactor: &guard::Redactor,
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyString>> {
    redacted_value(redactor, text, None)
}

/// The same for the value of a key, whose name may say that it is a secret.
fn redacted_value<'py>(
    redactor: &guard::Redactor,
    text: &Bound<'py, PyString>,
    key: Option<&str>,
) -> PyResult<Bound<'py, PyString>> {
    let py = text.py();
    let mark = |value: &str| key.and_then(|key| redactor.redact_field(key, value));
    // A text beyond ASCII that is asked for its UTF-8 keeps that for as long as it lives.
    let may_ask =
        text.len()? <= MAX_COPIED || text.call_method0(intern!(py, "isascii"))?.is_truthy()?;
    if may_ask && let Ok(characters) = text.to_str() {
        if let Some(mark) = mark(characters) {
            return Ok(PyString::new(py, &mark));
        }
        return Ok(match redactor.redact(characters) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(redacted) => PyString::new(py, &redacted),
        });
    }
    let bytes = encoded(text)?;
    if let Some(mark) = mark(&String::from_utf8_lossy(bytes.as_bytes())) {
        return Ok(PyString::new(py, &mark));
    }
    match redactor.redact_bytes(bytes.as_bytes()) {
        Cow::Borrowed(_) => Ok(text.clone()),
        Cow::Owned(redacted) => decoded(py, &redacted),
    }
}

/// A copy of nested data that is made only where something changes.
pub(crate) struct Walk<'walk, 'py> {
    redactor: &'walk guard::Redactor,
    ancestors: Vec<usize>,
    /// The result for each container, so that one in several places is walked once.
    done: HashMap<(usize, bool), (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'walk, 'py> Walk<'walk, 'py> {
    pub(crate) fn new(redactor: &'walk guard::Redactor) -> Self {
        Self {
            redactor,
            ancestors: Vec::new(),
            done: HashMap::new(),
        }
    }

    /// The value without its secrets, under a key if it is the value of one.
    pub(crate) fn value(
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
            return Ok(redacted_value(self.redactor, text, key)?.into_any());
        }
        if value.is_instance_of::<PyInt>() {
            let digits = value.str()?;
            let mark = key.and_then(|key| {
                let digits = digits.to_string_lossy();
                self.redactor.redact_field(key, &digits)
            });
            if let Some(mark) = mark {
                return Ok(PyString::new(py, &mark).into_any());
            }
            let redacted = redacted_text(self.redactor, &digits)?;
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
        let Ok(shape) = shape_of(value) else {
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
        let redacted = match key.and_then(|key| self.redactor.redact_field(key, &text)) {
            Some(mark) => mark.into_bytes(),
            None => match self.redactor.redact_bytes(bytes) {
                Cow::Borrowed(_) => return value.clone(),
                Cow::Owned(redacted) => redacted,
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
                Ok(text) => redacted_text(self.redactor, text)?.into_any(),
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
