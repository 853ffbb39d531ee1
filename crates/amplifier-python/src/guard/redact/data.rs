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
    redacted_value(redactor, text, Keys::default())
}

/// The keys that a value is under, as far as they say something of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keys<'keys> {
    own: Option<&'keys str>,
    /// What the nearest key further out that names a mapping of secrets implies.
    outer: Option<guard::SecretMapping>,
}

impl<'keys> Keys<'keys> {
    /// The keys of a value in this one's mapping.
    fn below(self, own: Option<&'keys str>) -> Self {
        let outer = self.own.and_then(guard::SecretMapping::of).or(self.outer);
        Self { own, outer }
    }

    /// What replaces a value under these keys, if they mark a secret.
    fn mark(self, redactor: &guard::Redactor, value: &str) -> Option<String> {
        let own = self.own?;
        redactor
            .redact_field(own, value)
            .or_else(|| redactor.redact_within(self.outer?, own, value))
    }
}

/// The same for the value of a key, whose name may say that it is a secret.
fn redacted_value<'py>(
    redactor: &guard::Redactor,
    text: &Bound<'py, PyString>,
    keys: Keys<'_>,
) -> PyResult<Bound<'py, PyString>> {
    let py = text.py();
    let mark = |value: &str| keys.mark(redactor, value);
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

/// The address of a container, whether its key marks a secret, and what the mapping around it implies.
type Place = (usize, bool, Option<guard::SecretMapping>);

/// A copy of nested data that is made only where something changes.
pub(crate) struct Walk<'walk, 'py> {
    redactor: &'walk guard::Redactor,
    ancestors: Vec<usize>,
    /// The result for each container, so that one in several places is walked once.
    done: HashMap<Place, (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'walk, 'py> Walk<'walk, 'py> {
    pub(crate) fn new(redactor: &'walk guard::Redactor) -> Self {
        Self {
            redactor,
            ancestors: Vec::new(),
            done: HashMap::new(),
        }
    }

    /// The value without its secrets, under keys if it is the value of some.
    pub(crate) fn value(
        &mut self,
        value: &Bound<'py, PyAny>,
        keys: Keys<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        if value.is_none()
            || value.is_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyFloat>()
        {
            return Ok(value.clone());
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(redacted_value(self.redactor, text, keys)?.into_any());
        }
        if value.is_instance_of::<PyInt>() {
            let digits = value.str()?;
            if let Some(mark) = keys.mark(self.redactor, &digits.to_string_lossy()) {
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
            return Ok(self.bytes(value, &bytes, keys));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.container(value, keys, |walk| walk.dict(dict, keys));
        }
        if let Ok(list) = value.cast::<PyList>() {
            let items = list.to_tuple();
            return self.container(value, keys, |walk| {
                let Some(items) = walk.items(&items, keys)? else {
                    return Ok(None);
                };
                Ok(Some(PyList::new(py, items)?.into_any()))
            });
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.container(value, keys, |walk| {
                let Some(items) = walk.items(tuple, keys)? else {
                    return Ok(None);
                };
                Ok(Some(PyTuple::new(py, items)?.into_any()))
            });
        }
        if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            let items = PyTuple::new(py, value.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
            return self.container(value, keys, |walk| {
                let Some(items) = walk.items(&items, keys)? else {
                    return Ok(None);
                };
                Ok(Some(if value.is_instance_of::<PySet>() {
                    PySet::new(py, items)?.into_any()
                } else {
                    PyFrozenSet::new(py, items)?.into_any()
                }))
            });
        }
        self.object(value, keys)
    }

    /// Models and dataclasses as their fields, anything else as its text, if that holds a secret.
    fn object(&mut self, value: &Bound<'py, PyAny>, keys: Keys<'_>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(shape) = shape_of(value) else {
            return Ok(mark(value.py(), "circular data"));
        };
        if self.ancestors.len() >= MAX_DEPTH {
            return Ok(mark(value.py(), "deep data"));
        }
        // The shape is new at each place, so that its address says nothing of it later.
        let done = std::mem::take(&mut self.done);
        let redacted = self.value(&shape, keys);
        self.done = done;
        let redacted = redacted?;
        Ok(if redacted.is(&shape) {
            value.clone()
        } else {
            redacted
        })
    }

    fn bytes(&self, value: &Bound<'py, PyAny>, bytes: &[u8], keys: Keys<'_>) -> Bound<'py, PyAny> {
        let py = value.py();
        let text = String::from_utf8_lossy(bytes);
        let redacted = match keys.mark(self.redactor, &text) {
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
        keys: Keys<'_>,
        walk: impl FnOnce(&mut Self) -> PyResult<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let address = value.as_ptr() as usize;
        let is_secret = keys.own.is_some_and(guard::Redactor::is_secret_key);
        let outer = keys.below(None).outer;
        let place = (address, is_secret, outer);
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

    fn dict(
        &mut self,
        dict: &Bound<'py, PyDict>,
        keys: Keys<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let copy = PyDict::new(dict.py());
        let mut is_changed = false;
        let label = label_of(dict)?;
        for (key, value) in dict.copy()? {
            let name = name_of(&key);
            let is_labelled = label.is_some() && name.as_deref() == Some("value");
            let name = if is_labelled { label.clone() } else { name };
            let redacted = self.value(&value, keys.below(name.as_deref()))?;
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
        keys: Keys<'_>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        // A header as a pair of name and value.
        let header = match items.len() {
            2 => name_of(&items.get_item(0)?).filter(|name| guard::Redactor::is_header_name(name)),
            _ => None,
        };
        let mut redacted = Vec::with_capacity(items.len());
        let mut is_changed = false;
        for (place, item) in items.iter().enumerate() {
            let own = header.as_deref().filter(|_| place == 1).or(keys.own);
            let new = self.value(&item, Keys { own, ..keys })?;
            is_changed |= !new.is(&item);
            redacted.push(new);
        }
        Ok(is_changed.then_some(redacted))
    }
}

/// What a mapping with a `value` calls it: `{"name": "API_KEY", "value": "…"}`.
fn label_of(dict: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    for key in ["name", "key"] {
        let label = dict.get_item(key)?.and_then(|label| name_of(&label));
        if let Some(label) = label.filter(|label| guard::Redactor::is_secret_key(label)) {
            return Ok(Some(label));
        }
    }
    Ok(None)
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
