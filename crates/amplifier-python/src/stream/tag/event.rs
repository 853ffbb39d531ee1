//! `TagEvent`: a part of a text with tags.

use amplifier_stream as stream;
use amplifier_stream::{ThinkingEvent, ToolCallEvent};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::stream::tag::call::ParsedCall;

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
