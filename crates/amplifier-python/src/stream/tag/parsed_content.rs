//! `ParsedContent`: what a call of `parse` returns, by kind.

use amplifier_stream as stream;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::stream::tag::call::ParsedCall;

/// One half of the result of `parse`.
#[pyclass(frozen, eq, module = "amplifier_core._engine")]
#[derive(PartialEq)]
pub(crate) struct ParsedContent {
    kind: &'static str,
    content: String,
    calls: Vec<stream::ParsedCall>,
}

impl ParsedContent {
    pub(crate) fn text(kind: &'static str, content: String) -> Self {
        Self {
            kind,
            content,
            calls: Vec::new(),
        }
    }
}

impl From<stream::ParsedContent> for ParsedContent {
    fn from(half: stream::ParsedContent) -> Self {
        let content = half.content();
        match half {
            stream::ParsedContent::ToolCall(calls) => Self {
                kind: "tool_call",
                content,
                calls,
            },
            stream::ParsedContent::ToolCallStart => Self::text("tool_call_start", content),
            stream::ParsedContent::Regular(_) => Self::text("regular", content),
        }
    }
}

#[pymethods]
impl ParsedContent {
    /// What it is.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.kind
    }

    /// The text; of several calls, one after the other on lines of their own.
    #[getter]
    fn content(&self) -> &str {
        &self.content
    }

    /// The calls that ended, as a new list.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let calls = self.calls.iter().cloned().map(|call| ParsedCall { call });
        let calls: PyResult<Vec<_>> = calls.map(|call| Bound::new(py, call)).collect();
        PyList::new(py, calls?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let content = PyString::new(py, &self.content);
        Ok(format!(
            "ParsedContent({:?}, {})",
            self.kind,
            content.repr()?
        ))
    }
}
