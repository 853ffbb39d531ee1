//! `ThinkingParser`: separates thinking in tags from the message.

use std::sync::{Mutex, PoisonError};

use amplifier_stream as stream;
use pyo3::prelude::*;

use crate::stream::tag::event::TagEvent;
use crate::stream::tag::names::names;
use crate::stream::tag::parsed_content::ParsedContent;

/// The default tags of thinking.
const THINKING: &str = "thinking";

/// Separates thinking in tags from the message around it, wherever the text is cut.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ThinkingParser {
    parser: Mutex<stream::ThinkingParser>,
}

impl ThinkingParser {
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut stream::ThinkingParser) -> T) -> T {
        work(&mut self.parser.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl ThinkingParser {
    #[new]
    #[pyo3(signature = (tags = None, *, ignore_case = false, allow_attributes = false, nested = false))]
    pub(crate) fn new(
        tags: Option<&Bound<'_, PyAny>>,
        ignore_case: bool,
        allow_attributes: bool,
        nested: bool,
    ) -> PyResult<Self> {
        let parser =
            stream::ThinkingParser::new(names(tags, THINKING, ignore_case, allow_attributes)?);
        let parser = if nested { parser.nesting() } else { parser };
        Ok(Self {
            parser: Mutex::new(parser),
        })
    }

    /// Take a piece of the text and return what it says, in its order.
    fn feed(&self, text: &str) -> Vec<TagEvent> {
        self.with(|parser| parser.feed(text))
            .into_iter()
            .map(TagEvent::from)
            .collect()
    }

    /// Release what is held back, and mark an open thought as truncated.
    fn flush(&self) -> Vec<TagEvent> {
        self.with(stream::ThinkingParser::flush)
            .into_iter()
            .map(TagEvent::from)
            .collect()
    }

    /// Forget everything but the settings.
    fn reset(&self) {
        self.with(stream::ThinkingParser::reset);
    }

    /// Take a piece of the text and return its thinking and its message, each as one text.
    fn parse(&self, chunk: &str) -> (Option<ParsedContent>, Option<ParsedContent>) {
        let (thinking, message) = self.with(|parser| parser.parse(chunk));
        let parsed = |kind| move |content| ParsedContent::text(kind, content);
        (
            thinking.map(parsed("thinking")),
            message.map(parsed("message")),
        )
    }

    /// Whether the text so far ends within a thought.
    #[getter]
    fn is_in_thinking(&self) -> bool {
        self.with(|parser| parser.is_in_thinking())
    }
}
