//! Event payloads: what each handler gets is JSON-shaped and its own.
//!
//! Values are copied natively, never through text, so that NaN, big integers, lone surrogates and
//! the order of keys survive.

use amplifier_core::event_timestamp;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::json_shape::{copy_of, dumped, is_container, is_plain, key_of, shape_below, shape_of};
use crate::kernel::hook::defaults::Defaults;
use crate::traverse::{Traverse, traverse};
use crate::world;

/// The data of an event on its way through the handlers.
pub(crate) enum Payload {
    /// A mapping, the usual case.
    Fields(Fields),
    /// Anything else, in JSON form.
    Other(Py<PyAny>),
}

/// A mapping payload.
pub(crate) struct Fields {
    /// The caller's own values under their keys, for the result.
    own: Py<PyDict>,
    /// The same in JSON form, from which each handler's copy is made.
    shape: Py<PyDict>,
    /// The keys whose values in `shape` are containers, to be copied for each handler.
    nested: Vec<Py<PyAny>>,
}

traverse!(Fields: own, shape, nested);

impl Traverse for Payload {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Fields(fields) => fields.traverse(visit),
            Self::Other(value) => value.traverse(visit),
        }
    }
}

impl Payload {
    /// Takes the data of an event, with the registry's defaults below it and a time stamp above.
    pub(crate) fn stamped(data: &Bound<'_, PyAny>, defaults: &Defaults) -> PyResult<Self> {
        let Ok(fields) = data.cast::<PyDict>() else {
            return Self::bare(data);
        };
        let py = data.py();
        let own = defaults.below(fields)?;
        own.set_item(intern!(py, "timestamp"), event_timestamp(world::time(py)?))?;
        Fields::of(own).map(Self::Fields)
    }

    /// Takes the data of an event as it is.
    pub(crate) fn bare(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        match data.cast::<PyDict>() {
            Ok(fields) => Fields::of(fields.copy()?).map(Self::Fields),
            Err(_) => Ok(Self::Other(shape_of(data)?.unbind())),
        }
    }

    /// Takes the data that a handler put in the place of this payload's.
    ///
    /// A value that still equals the copy handed out is the caller's own again, so that a loop
    /// sees by identity what was changed.
    pub(crate) fn replaced_by(&self, data: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = data.py();
        let own = data.copy()?;
        if let Self::Fields(before) = self {
            let (before_own, before_shape) = (before.own.bind(py), before.shape.bind(py));
            for (key, value) in data.copy()? {
                if let (Ok(Some(handed)), Ok(Some(original))) =
                    (before_shape.get_item(&key), before_own.get_item(&key))
                    && is_same(&value, &handed)
                {
                    own.set_item(key, original)?;
                }
            }
        }
        Fields::of(own).map(Self::Fields)
    }

    /// A copy for one handler, which may change it freely.
    pub(crate) fn hand_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Fields(fields) => {
                let shape = fields.shape.bind(py);
                let copy = shape.copy()?;
                for key in &fields.nested {
                    if let Some(value) = shape.get_item(key)? {
                        copy.set_item(key, copy_of(&value)?)?;
                    }
                }
                Ok(copy.into_any())
            }
            Self::Other(value) => copy_of(value.bind(py)),
        }
    }

    /// The data of the event's result.
    pub(crate) fn result<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        match self {
            Self::Fields(fields) => fields.own.bind(py).clone(),
            Self::Other(_) => PyDict::new(py),
        }
    }
}

impl Fields {
    /// Takes a dict that no other code refers to.
    fn of(own: Bound<'_, PyDict>) -> PyResult<Self> {
        let py = own.py();
        if !own
            .iter()
            .all(|(key, _)| key.is_exact_instance_of::<PyString>())
        {
            let renamed = PyDict::new(py);
            for (key, value) in own.copy()? {
                renamed.set_item(key_of(&key)?, value)?;
            }
            return Self::of(renamed);
        }
        // Converting may run code of the values, which must not find the dict being walked.
        let odd: Vec<_> = own.iter().filter(|(_, value)| !is_plain(value)).collect();
        if odd.is_empty() {
            // Texts and numbers alone, as in most payloads: the values are their own JSON form, and
            // one dict is both.
            let shape = own.clone().unbind();
            return Ok(Self {
                own: own.unbind(),
                shape,
                nested: Vec::new(),
            });
        }
        let shape = own.copy()?;
        let mut nested = Vec::new();
        let mut ancestors = vec![own.as_any().clone()];
        for (key, value) in odd {
            let value = shape_below(&value, &mut ancestors)?;
            shape.set_item(&key, &value)?;
            if is_container(&value) {
                nested.push(key.unbind());
            }
        }
        Ok(Self {
            own: own.unbind(),
            shape: shape.unbind(),
            nested,
        })
    }
}

/// Whether a value is still what was handed out: the same JSON, so that `0` is not `False`.
fn is_same(value: &Bound<'_, PyAny>, handed_out: &Bound<'_, PyAny>) -> bool {
    value.is(handed_out)
        || (value.eq(handed_out).unwrap_or(false) && is_alike(value, handed_out).unwrap_or(false))
}

/// Whether equal values are of the same kinds, too.
fn is_alike(value: &Bound<'_, PyAny>, handed_out: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(fields) = handed_out.cast::<PyDict>() {
        for (key, field) in fields {
            if !is_alike(&value.get_item(key)?, &field)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let Ok(items) = handed_out.cast::<PyList>() {
        for (place, item) in items.iter().enumerate() {
            if !is_alike(&value.get_item(place)?, &item)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let kinds = |one: &Bound<'_, PyAny>| {
        (
            one.is_instance_of::<PyBool>(),
            one.is_instance_of::<PyFloat>(),
        )
    };
    Ok(kinds(value) == kinds(handed_out))
}

/// The fields of top-level data with a `model_dump` method, as a dict; other data as it is.
pub(crate) fn top_level<'py>(data: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let py = data.py();
    if is_plain(data)
        || data.is_instance_of::<PyDict>()
        || !data.hasattr(intern!(py, "model_dump")).unwrap_or(false)
    {
        return data.clone();
    }
    match dumped(data) {
        Some(fields) if fields.is_instance_of::<PyDict>() => fields,
        _ => data.clone(),
    }
}
