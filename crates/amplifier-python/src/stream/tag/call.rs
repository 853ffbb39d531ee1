//! `ParsedCall`: a tool call, with what is wrong with it.

use amplifier_stream as stream;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::json::object_to_python;

/// A tool call; it may run exactly when it has `arguments`.
#[pyclass(frozen, eq, module = "amplifier_core._engine")]
#[derive(PartialEq)]
pub(crate) struct ParsedCall {
    pub(crate) call: stream::ParsedCall,
}

#[pymethods]
impl ParsedCall {
    /// The number of the call.
    #[getter]
    fn index(&self) -> u64 {
        self.call.index
    }

    /// The provider's id, or the one that the parser gave it.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.call.id.as_deref()
    }

    /// The name of the tool; empty where none is known.
    #[getter]
    fn name(&self) -> &str {
        &self.call.name
    }

    /// The server that has the tool, `local` by default.
    #[getter]
    fn server_name(&self) -> &str {
        &self.call.server_name
    }

    /// The arguments as a new dict; None when the call must not run.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let arguments = self.call.arguments.as_ref();
        arguments
            .map(|arguments| object_to_python(py, arguments))
            .transpose()
    }

    /// Whether the arguments come from XML, so that all their values are text.
    #[getter]
    fn is_textual(&self) -> bool {
        self.call.is_textual
    }

    /// What was between the tags, or the arguments of a native call, as they came.
    #[getter]
    fn raw(&self) -> &str {
        &self.call.raw
    }

    /// Whether the provider reported the call itself, instead of tags in the text.
    #[getter]
    fn is_native(&self) -> bool {
        self.call.is_native
    }

    /// Whether the closing tag was there.
    #[getter]
    fn is_complete(&self) -> bool {
        self.call.is_complete()
    }

    /// Why the call must not run.
    #[getter]
    fn error(&self) -> Option<String> {
        self.call.error.as_ref().map(ToString::to_string)
    }

    /// What was repaired, ignored or not understood.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = PyList::empty(py);
        for finding in &self.call.findings {
            let fields = PyDict::new(py);
            fields.set_item(intern!(py, "type"), finding.kind)?;
            fields.set_item(intern!(py, "message"), &finding.message)?;
            findings.append(fields)?;
        }
        Ok(findings)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let arguments = self.arguments(py)?.into_pyobject(py)?.repr()?;
        let error = self.error().into_pyobject(py)?.repr()?;
        let name = self.name().into_pyobject(py)?.repr()?;
        let index = self.call.index;
        Ok(format!(
            "ParsedCall(index={index}, name={name}, arguments={arguments}, error={error})"
        ))
    }
}
