//! `ToolCallParser`: separates tool calls in tags from the text around them.

use std::sync::{Mutex, PoisonError};

use amplifier_stream as stream;
use pyo3::prelude::*;

use crate::stream::tag::event::TagEvent;
use crate::stream::tag::names::names;
use crate::stream::tag::parsed_content::ParsedContent;
use crate::world;

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

    /// A parser with the same settings, and with a new id prefix unless one was set.
    pub(crate) fn fresh(&self, py: Python<'_>) -> PyResult<stream::ToolCallParser> {
        let mut parser = self.with(|parser| parser.clone());
        parser.reset();
        Ok(if self.has_own_prefix {
            parser
        } else {
            parser.with_id_prefix(new_id_prefix(py)?)
        })
    }
}

/// A prefix that no other parser has.
fn new_id_prefix(py: Python<'_>) -> PyResult<String> {
    Ok(format!("call_{}_", world::new_uuid(py)?.simple()))
}

#[pymethods]
impl ToolCallParser {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    #[pyo3(signature = (
        tags = None,
        *,
        ignore_case = false,
        allow_attributes = false,
        max_call_bytes = 10_485_760,
        id_prefix = None,
        ignore_quoted = false,
        known_texts = Vec::new(),
    ))]
    fn new(
        py: Python<'_>,
        tags: Option<&Bound<'_, PyAny>>,
        ignore_case: bool,
        allow_attributes: bool,
        max_call_bytes: usize,
        id_prefix: Option<String>,
        ignore_quoted: bool,
        known_texts: Vec<String>,
    ) -> PyResult<Self> {
        let names = names(tags, TOOL, ignore_case, allow_attributes)?;
        let has_own_prefix = id_prefix.is_some();
        let id_prefix = match id_prefix {
            Some(prefix) => prefix,
            None => new_id_prefix(py)?,
        };
        let mut parser = stream::ToolCallParser::new(names)
            .with_max_call_bytes(max_call_bytes)
            .with_id_prefix(id_prefix)
            .with_known_texts(known_texts);
        if ignore_quoted {
            parser = parser.ignoring_quoted();
        }
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

    /// Release what is held back, and end an open call as incomplete.
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
