//! `ThinkingParser` and `ThinkingFilter`: thinking in tags, told from the message.

pub(crate) mod event;
pub(crate) mod tool_call;

use std::sync::{Mutex, PoisonError};

use amplifier_stream as stream;
use amplifier_stream::TagNames;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::stream::decoder::stamp;
use crate::stream::stream_event::StreamEvent;
use crate::stream::stream_result::StreamResult;
use crate::stream::tag::event::{ParsedContent, TagEvent};

/// The default tags of thinking.
const THINKING: &str = "thinking";

/// Makes the names of tags as Python gives them; one name may stand for a sequence.
pub(crate) fn names(
    tags: Option<&Bound<'_, PyAny>>,
    default: &str,
    ignore_case: bool,
    allow_attributes: bool,
) -> PyResult<TagNames> {
    let names: Vec<String> = match tags {
        None => vec![default.to_owned()],
        Some(name) if name.is_instance_of::<PyString>() => vec![name.extract()?],
        Some(names) => names
            .try_iter()?
            .map(|name| name?.extract())
            .collect::<PyResult<_>>()?,
    };
    let names = TagNames::new(names).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let names = if ignore_case {
        names.ignoring_case()
    } else {
        names
    };
    Ok(if allow_attributes {
        names.with_attributes()
    } else {
        names
    })
}

/// Tells thinking in tags from the message around it, wherever the text is cut.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ThinkingParser {
    parser: Mutex<stream::ThinkingParser>,
}

impl ThinkingParser {
    fn with<T>(&self, work: impl FnOnce(&mut stream::ThinkingParser) -> T) -> T {
        work(&mut self.parser.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl ThinkingParser {
    #[new]
    #[pyo3(signature = (tags = None, *, ignore_case = false, allow_attributes = false, nested = false))]
    fn new(
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

    /// Give up what is held back, and mark an open thought as truncated.
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

/// Makes thinking blocks of what stands between thinking tags in the text blocks of an answer.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ThinkingFilter {
    filter: Mutex<Option<stream::ThinkingFilter>>,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl ThinkingFilter {
    #[new]
    #[pyo3(signature = (tags = None, *, ignore_case = false, allow_attributes = false, nested = false))]
    fn new(
        tags: Option<&Bound<'_, PyAny>>,
        ignore_case: bool,
        allow_attributes: bool,
        nested: bool,
    ) -> PyResult<Self> {
        let parser = ThinkingParser::new(tags, ignore_case, allow_attributes, nested)?;
        let parser = parser.with(|parser| parser.clone());
        Ok(Self {
            filter: Mutex::new(Some(stream::ThinkingFilter::new(parser))),
        })
    }

    /// Return the events that stand for those of a decoder.
    fn feed(
        &self,
        py: Python<'_>,
        events: Vec<Bound<'_, StreamEvent>>,
    ) -> PyResult<Vec<StreamEvent>> {
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        let filter = filter.as_mut().ok_or_else(finished)?;
        let mut filtered = Vec::with_capacity(events.len());
        for given in &events {
            let given = given.get();
            filtered.extend(
                filter
                    .feed(&given.event)
                    .into_iter()
                    .map(|event| StreamEvent {
                        event,
                        timestamp: given.timestamp.clone_ref(py),
                    }),
            );
        }
        Ok(filtered)
    }

    /// Return the result of a decoder with its blocks split as their events were.
    fn finish(&self, result: &Bound<'_, StreamResult>) -> PyResult<StreamResult> {
        let filter = self
            .filter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let filter = filter.ok_or_else(finished)?;
        let py = result.py();
        let result = filter.finish(result.get().result.clone());
        let events = stamp(py, result.events.clone());
        let events: PyResult<_> = events.into_iter().map(|event| Py::new(py, event)).collect();
        Ok(StreamResult {
            result,
            events: events?,
        })
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err(
        "the filter was already finished; filter each stream with one of its own",
    )
}
