//! Opaque JSON as Python objects and back, natively and never through text.

use amplifier_core::{Json, MAX_DEPTH, Object};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::Error;

/// Makes the Python object that a JSON value is.
pub(crate) fn to_python<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Int(value) => value.into_pyobject(py)?.into_any(),
        Json::BigInt(digits) => py.get_type::<PyInt>().call1((digits.as_str(),))?,
        Json::Float(value) => PyFloat::new(py, *value).into_any(),
        Json::Str(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(entries) => object_to_python(py, entries)?.into_any(),
    })
}

/// Makes the dict that a JSON object is.
pub(crate) fn object_to_python<'py>(
    py: Python<'py>,
    entries: &Object,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in entries {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// Reads a Python object that is made of JSON types; tuples are lists.
///
/// Any other type and a key that is not a string are a `TypeError`; a lone surrogate, a cycle and
/// nesting beyond [`MAX_DEPTH`] a `ValueError`.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    from_python_at(value, 0)
}

fn from_python_at(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Json> {
    if value.is_none() {
        return Ok(Json::Null);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Json::Str(text.to_str()?.to_owned()));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Json::Bool(truth.is_true()));
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        return integer_from_python(integer);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(Json::Float(float.value()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut entries = Object::with_capacity(dict.len());
        for (key, item) in dict {
            check_depth(depth)?;
            let Ok(key) = key.cast::<PyString>() else {
                let found = key.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "a key must be a `str`, found `{found}`"
                )));
            };
            entries.insert(key.to_str()?.to_owned(), from_python_at(&item, depth + 1)?);
        }
        return Ok(Json::Object(entries));
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            check_depth(depth)?;
            items.push(from_python_at(&item, depth + 1)?);
        }
        return Ok(Json::Array(items));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?;
        let items: PyResult<Vec<_>> = items
            .map(|item| {
                check_depth(depth)?;
                from_python_at(&item?, depth + 1)
            })
            .collect();
        return Ok(Json::Array(items?));
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a value of type `{found}` is not JSON"
    )))
}

fn check_depth(depth: usize) -> PyResult<()> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    let message = format!("a value is nested deeper than {MAX_DEPTH} levels or contains itself");
    Err(PyValueError::new_err(message))
}

fn integer_from_python(integer: &Bound<'_, PyInt>) -> PyResult<Json> {
    if let Ok(small) = integer.extract::<i64>() {
        return Ok(Json::Int(small));
    }
    let py = integer.py();
    // `int`'s own method: a subclass may print itself otherwise.
    let digits = py
        .get_type::<PyInt>()
        .call_method1(intern!(py, "__repr__"), (integer,))?;
    let digits = digits.cast::<PyString>()?.to_str()?.to_owned();
    Json::integer(&digits)
        .ok_or_else(|| PyValueError::new_err(format!("`{digits}` is not a decimal integer")))
}

/// Read a JSON text into Python objects, as the engine reads it.
///
/// # Errors
/// A `ValueError` names what is wrong and the line and column.
#[pyfunction(name = "_read_json")]
pub(crate) fn read_json<'py>(py: Python<'py>, text: &[u8]) -> Result<Bound<'py, PyAny>, Error> {
    Ok(to_python(py, &Json::parse(text)?)?)
}

/// Write Python objects that are made of JSON types as the engine writes them.
#[pyfunction(name = "_write_json")]
pub(crate) fn write_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(from_python(value)?.to_string())
}
