//! The JSON form of Python values, which shares no container with them.
//!
//! Values are copied natively, never through text, so that NaN, big integers, lone surrogates and
//! the order of keys survive.

use amplifier_core::MAX_DEPTH;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyNone, PySet, PyString, PyTuple, PyType,
};

use crate::lazy_object::LazyObject;

/// The JSON form of a value, sharing no container with it.
pub(crate) fn shape_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    shape_below(value, &mut Vec::new())
}

/// Whether a value is in JSON form already and cannot change.
pub(crate) fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_none()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyFloat>()
}

/// Whether a value in JSON form can change.
pub(crate) fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>() || value.is_exact_instance_of::<PyList>()
}

/// Values nested deeper than this are not copied: the stack has an end.
const DEEPEST_COPY: usize = 1000;

/// A deep copy of a value in JSON form.
#[pyfunction(name = "_copy_of")]
pub(crate) fn copy_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    copy_below(value, 0)
}

fn copy_below<'py>(value: &Bound<'py, PyAny>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if depth > DEEPEST_COPY {
        return Err(PyValueError::new_err("the value is nested too deeply"));
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let copy = dict.copy()?;
        let containers: Vec<_> = dict
            .iter()
            .filter(|(_, value)| is_container(value))
            .collect();
        for (key, value) in containers {
            copy.set_item(key, copy_below(&value, depth + 1)?)?;
        }
        return Ok(copy.into_any());
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let items: Vec<_> = list
            .iter()
            .map(|item| copy_below(&item, depth + 1))
            .collect::<PyResult<_>>()?;
        return Ok(PyList::new(py, items)?.into_any());
    }
    Ok(value.clone())
}

/// The JSON form of a value inside `ancestors`, its containers.
pub(crate) fn shape_below<'py>(
    value: &Bound<'py, PyAny>,
    ancestors: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_plain(value) {
        return Ok(value.clone());
    }
    let py = value.py();
    // A container nested deeper than the limit becomes the name of its type.
    if ancestors.len() >= MAX_DEPTH {
        return if ancestors.iter().any(|ancestor| ancestor.is(value)) {
            Err(circular(value))
        } else {
            Ok(type_name(value))
        };
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return inside(value, ancestors, |ancestors| {
            let copy = PyDict::new(py);
            for (key, item) in dict.copy()? {
                copy.set_item(key_of(&key)?, shape_below(&item, ancestors)?)?;
            }
            Ok(copy.into_any())
        });
    }
    let items = if let Ok(list) = value.cast::<PyList>() {
        Some(list.to_tuple())
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        Some(tuple.clone())
    } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        Some(PyTuple::new(
            py,
            value.try_iter()?.collect::<PyResult<Vec<_>>>()?,
        )?)
    } else {
        None
    };
    if let Some(items) = items {
        return inside(value, ancestors, |ancestors| {
            let items: Vec<_> = items
                .iter()
                .map(|item| shape_below(&item, ancestors))
                .collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        });
    }
    let kinds = Kinds::get(py)?;
    if value
        .is_instance(kinds.enumeration.bind(py))
        .unwrap_or(false)
    {
        return match value.getattr(intern!(py, "value")) {
            Ok(inner) => inside(value, ancestors, |ancestors| shape_below(&inner, ancestors)),
            Err(_) => Ok(type_name(value)),
        };
    }
    if let Ok(text) = value.cast::<PyString>() {
        return plain_text(text);
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.clone());
    }
    if value.is_instance(kinds.model.bind(py)).unwrap_or(false) {
        return inside(value, ancestors, |ancestors| match dumped(value) {
            Some(fields) => shape_below(&fields, ancestors),
            None => Ok(type_name(value)),
        });
    }
    if !value.is_instance_of::<PyType>()
        && let Ok(fields) = value
            .get_type()
            .getattr(intern!(py, "__dataclass_fields__"))
        && let Ok(fields) = fields.cast_into::<PyDict>()
    {
        return inside(value, ancestors, |ancestors| {
            let copy = PyDict::new(py);
            for name in fields.copy()?.keys() {
                let item = match value.getattr(name.cast::<PyString>()?) {
                    Ok(item) => shape_below(&item, ancestors)?,
                    Err(_) => PyNone::get(py).to_owned().into_any(),
                };
                copy.set_item(name, item)?;
            }
            Ok(copy.into_any())
        });
    }
    Ok(value
        .str()
        .map_or_else(|_| type_name(value), Bound::into_any))
}

/// Converts the inside of a container, which becomes an ancestor meanwhile.
fn inside<'py>(
    value: &Bound<'py, PyAny>,
    ancestors: &mut Vec<Bound<'py, PyAny>>,
    convert: impl FnOnce(&mut Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if ancestors.iter().any(|ancestor| ancestor.is(value)) {
        return Err(circular(value));
    }
    ancestors.push(value.clone());
    let result = convert(ancestors);
    ancestors.pop();
    result
}

fn circular(value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!(
        "circular reference in event data: a `{}` contains itself",
        type_name(value)
    ))
}

fn type_name<'py>(value: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    match value.get_type().name() {
        Ok(name) => name.into_any(),
        Err(_) => intern!(value.py(), "object").clone().into_any(),
    }
}

/// The characters of a subclass of `str`, as a plain `str`.
fn plain_text<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    static JOIN: LazyObject<Py<PyAny>> = LazyObject::new();
    let py = text.py();
    let join = JOIN.get(py, || {
        PyString::new(py, "").getattr("join").map(Bound::unbind)
    })?;
    // Joining with an empty text keeps lone surrogates, which no Rust string can hold.
    join.bind(py)
        .call1((PyTuple::new(py, [intern!(py, "").as_any(), text.as_any()])?,))
}

/// A dict key as JSON writes it.
pub(crate) fn key_of<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = key.py();
    if key.is_exact_instance_of::<PyString>() {
        return Ok(key.clone());
    }
    if let Ok(text) = key.cast::<PyString>() {
        return plain_text(text);
    }
    if let Ok(flag) = key.cast::<PyBool>() {
        let text = if flag.is_true() {
            intern!(py, "true")
        } else {
            intern!(py, "false")
        };
        return Ok(text.clone().into_any());
    }
    if key.is_none() {
        return Ok(intern!(py, "null").clone().into_any());
    }
    if key.is_instance_of::<PyInt>() {
        return py
            .get_type::<PyInt>()
            .call_method1(intern!(py, "__repr__"), (key,));
    }
    if let Ok(number) = key.cast::<PyFloat>() {
        let number = number.value();
        let text = if number.is_nan() {
            "NaN"
        } else if number.is_infinite() {
            if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
        } else {
            return py
                .get_type::<PyFloat>()
                .call_method1(intern!(py, "__repr__"), (key,));
        };
        return Ok(PyString::new(py, text).into_any());
    }
    Err(PyTypeError::new_err(format!(
        "event data keys must be str, int, float, bool or None, not `{}`",
        type_name(key)
    )))
}

/// The fields of a Pydantic model in JSON form, or as they are where that fails.
pub(crate) fn dumped<'py>(model: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = model.py();
    let dump = model.getattr(intern!(py, "model_dump")).ok()?;
    let mode = PyDict::new(py);
    mode.set_item(intern!(py, "mode"), intern!(py, "json"))
        .ok()?;
    dump.call((), Some(&mode)).or_else(|_| dump.call0()).ok()
}

/// The base classes that decide how a value is converted.
struct Kinds {
    enumeration: Py<PyAny>,
    model: Py<PyAny>,
}

impl Kinds {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static KINDS: LazyObject<Kinds> = LazyObject::new();
        KINDS.get(py, || {
            Ok(Self {
                enumeration: py.import("enum")?.getattr("Enum")?.unbind(),
                model: py.import("pydantic")?.getattr("BaseModel")?.unbind(),
            })
        })
    }
}
