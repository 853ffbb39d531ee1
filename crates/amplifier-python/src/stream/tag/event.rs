//! `TagEvent` and `ParsedContent`: what the tag parsers say of a text.

use amplifier_stream as stream;
use amplifier_stream::{ThinkingEvent, ToolCallEvent};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::stream::tag::tool_call::ParsedCall;

/// A part of a text with tags, in its order.
#[pyclass(frozen, eq, module = "amplifier_core._engine")]
#[derive(PartialEq)]
pub(crate) struct TagEvent {
    kind: &'static str,
    content: String,
    index: Option<u64>,
    truncated: bool,
    call: Option<Box<stream::ParsedCall>>,
}

impl TagEvent {
    fn new(kind: &'static str, content: String) -> Self {
        Self {
            kind,
            content,
            index: None,
            truncated: false,
            call: None,
        }
    }

    fn of_call(kind: &'static str, index: u64, content: String) -> Self {
        Self {
            index: Some(index),
            ..Self::new(kind, content)
        }
    }
}

impl From<ThinkingEvent> for TagEvent {
    fn from(event: ThinkingEvent) -> Self {
        match event {
            ThinkingEvent::Start(tag) => Self::new("thinking_start", tag),
            ThinkingEvent::Thinking(text) => Self::new("thinking", text),
            ThinkingEvent::End { truncated } => Self {
                truncated,
                ..Self::new("thinking_end", String::new())
            },
            ThinkingEvent::Message(text) => Self::new("message", text),
            ThinkingEvent::StrayClose(tag) => Self::new("stray_close", tag),
        }
    }
}

impl From<ToolCallEvent> for TagEvent {
    fn from(event: ToolCallEvent) -> Self {
        match event {
            ToolCallEvent::Regular(text) => Self::new("regular", text),
            ToolCallEvent::Start { index, tag } => Self::of_call("tool_call_start", index, tag),
            ToolCallEvent::Content { index, text } => {
                Self::of_call("tool_call_content", index, text)
            }
            ToolCallEvent::Name { index, name } => Self::of_call("tool_call_name", index, name),
            ToolCallEvent::End(call) => Self {
                truncated: !call.is_complete(),
                call: Some(call),
                ..Self::new("tool_call_end", String::new())
            },
        }
    }
}

#[pymethods]
impl TagEvent {
    #[classattr]
    #[expect(non_upper_case_globals, reason = "the Python name")]
    const __match_args__: (&'static str, &'static str) = ("type", "content");

    /// What it is.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.kind
    }

    /// The text, the tag as it was written, or the name of the tool.
    #[getter]
    fn content(&self) -> &str {
        &self.content
    }

    /// The number of the call.
    #[getter]
    fn index(&self) -> Option<u64> {
        self.call.as_ref().map(|call| call.index).or(self.index)
    }

    /// Whether the thought or call ends without its closing tag.
    #[getter]
    fn truncated(&self) -> bool {
        self.truncated
    }

    /// The call that ends.
    #[getter]
    fn call(&self) -> Option<ParsedCall> {
        let call = self.call.as_deref()?.clone();
        Some(ParsedCall { call })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let content = PyString::new(py, &self.content);
        Ok(format!("TagEvent({:?}, {})", self.kind, content.repr()?))
    }
}

/// One half of what a call of `parse` gives.
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
