//! `ThinkingFilter`: thinking in the text blocks of an answer, made blocks of its own.

use std::sync::{Mutex, PoisonError};

use amplifier_stream as stream;
use pyo3::prelude::*;

use crate::error::{Error, Misuse};
use crate::stream::decoder::stamp;
use crate::stream::stream_event::StreamEvent;
use crate::stream::stream_result::StreamResult;
use crate::stream::tag::thinking::ThinkingParser;

/// Turns text between thinking tags into thinking blocks.
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

    /// Return the events that replace those of a decoder.
    fn feed(
        &self,
        py: Python<'_>,
        events: Vec<Bound<'_, StreamEvent>>,
    ) -> Result<Vec<StreamEvent>, Error> {
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        let filter = filter.as_mut().ok_or(Misuse::FilterFinished)?;
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
    fn finish(&self, result: &Bound<'_, StreamResult>) -> Result<StreamResult, Error> {
        let filter = self
            .filter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let filter = filter.ok_or(Misuse::FilterFinished)?;
        let py = result.py();
        let result = filter.finish(result.get().result.clone());
        let events = stamp(py, result.events.clone())?;
        let events: PyResult<_> = events.into_iter().map(|event| Py::new(py, event)).collect();
        Ok(StreamResult {
            result,
            events: events?,
        })
    }
}
