//! `ToolCallParser` and `ParsedCall`: tool calls in tags.

use std::sync::{Mutex, PoisonError};

use amplifier_core::Json;
use amplifier_stream as stream;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use uuid::Uuid;

use crate::json::{from_python, object_to_python, to_python};
use crate::stream::tag::event::{ParsedContent, TagEvent};
use crate::stream::tag::names;

// The signatures show the limit as a literal.
const _: () = assert!(stream::MAX_CALL_BYTES == 10_485_760);

/// The default tags of calls.
const TOOL: &str = "tool";

/// Finds tool calls in a text, wherever it is cut.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ToolCallParser {
    parser: Mutex<stream::ToolCallParser>,
    has_own_prefix: bool,
}

impl ToolCallParser {
    fn with<T>(&self, work: impl FnOnce(&mut stream::ToolCallParser) -> T) -> T {
        work(&mut self.parser.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A parser with the same settings, and ids of its own unless their prefix was given.
    pub(crate) fn fresh(&self) -> stream::ToolCallParser {
        let mut parser = self.with(|parser| parser.clone());
        parser.reset();
        if self.has_own_prefix {
            parser
        } else {
            parser.with_id_prefix(id_prefix())
        }
    }
}

/// A prefix that no other parser has.
fn id_prefix() -> String {
    format!("call_{}_", Uuid::new_v4().simple())
}

#[pymethods]
impl ToolCallParser {
    #[new]
    #[pyo3(signature = (
        tags = None,
        *,
        ignore_case = false,
        allow_attributes = false,
        max_call_bytes = 10_485_760,
        id_prefix = None,
    ))]
    fn new(
        tags: Option<&Bound<'_, PyAny>>,
        ignore_case: bool,
        allow_attributes: bool,
        max_call_bytes: usize,
        id_prefix: Option<String>,
    ) -> PyResult<Self> {
        let names = names(tags, TOOL, ignore_case, allow_attributes)?;
        let has_own_prefix = id_prefix.is_some();
        let parser = stream::ToolCallParser::new(names)
            .with_max_call_bytes(max_call_bytes)
            .with_id_prefix(id_prefix.unwrap_or_else(self::id_prefix));
        Ok(Self {
            parser: Mutex::new(parser),
            has_own_prefix,
        })
    }

    /// Take a piece of the text and return what it says, in its order.
    fn feed(&self, text: &str) -> Vec<TagEvent> {
        let events = self.with(|parser| parser.feed(text));
        events.into_iter().map(TagEvent::from).collect()
    }

    /// Give up what is held back, and end an open call as incomplete.
    fn flush(&self) -> Vec<TagEvent> {
        let events = self.with(stream::ToolCallParser::flush);
        events.into_iter().map(TagEvent::from).collect()
    }

    /// Forget everything but the settings.
    fn reset(&self) {
        self.with(stream::ToolCallParser::reset);
    }

    /// Take a piece of the text and return its calls and its regular text.
    fn parse(&self, chunk: &str) -> (Option<ParsedContent>, Option<ParsedContent>) {
        let (call, regular) = self.with(|parser| parser.parse(chunk));
        (
            call.map(ParsedContent::from),
            regular.map(ParsedContent::from),
        )
    }

    /// Whether the text so far ends within a call.
    #[getter]
    fn is_in_tool_call(&self) -> bool {
        self.with(|parser| parser.is_in_tool_call())
    }

    /// What the open call holds so far, or else the last one held.
    #[getter]
    fn accumulated_tool_content(&self) -> String {
        self.with(|parser| parser.accumulated_tool_content().to_owned())
    }
}

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

    /// Whether the provider told the call from the text itself.
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

/// Read text in arguments as the numbers, truth values, lists and objects that a schema wants.
#[pyfunction]
pub(crate) fn coerce_arguments<'py>(
    py: Python<'py>,
    arguments: &Bound<'py, PyDict>,
    schema: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (arguments, schema) = (from_python(arguments)?, from_python(schema)?);
    let Json::Object(arguments) = arguments else {
        return Err(PyValueError::new_err("the arguments are not an object"));
    };
    let coerced = stream::coerce_arguments(arguments, &schema)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    to_python(py, &Json::Object(coerced))
}
