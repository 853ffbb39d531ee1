//! `SseDecoder`, `SseEvent` and `NdjsonDecoder`: frames from bytes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::Json;
use amplifier_stream as stream;
use amplifier_stream::{Limits, LineError, NdjsonLine};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::{Error, Misuse};
use crate::json::to_python;

// The signatures of the decoders show the limits as literals.
const _: () = assert!(Limits::DEFAULT.max_line_bytes == 33_554_432);
const _: () = assert!(Limits::DEFAULT.max_event_bytes == 33_554_432);
const _: () = assert!(Limits::DEFAULT.max_total_bytes == 1_073_741_824);

/// One server-sent event.
#[pyclass(frozen, eq, hash, get_all, module = "amplifier_core._engine")]
#[derive(PartialEq, Hash)]
pub(crate) struct SseEvent {
    /// The `event:` field, `message` by default.
    event: String,
    /// The `data:` lines, joined with a line feed.
    data: String,
    /// The last `id:` of the stream so far.
    id: Option<String>,
    /// The last `retry:` since the event before, in milliseconds.
    retry: Option<u64>,
}

#[pymethods]
impl SseEvent {
    #[classattr]
    #[expect(non_upper_case_globals, reason = "the Python name")]
    const __match_args__: (&'static str, &'static str, &'static str, &'static str) =
        ("event", "data", "id", "retry");

    #[new]
    #[pyo3(signature = (event = "message", data = "", id = None, retry = None))]
    fn new(event: &str, data: &str, id: Option<String>, retry: Option<u64>) -> Self {
        Self {
            event: event.to_owned(),
            data: data.to_owned(),
            id,
            retry,
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let this = slf.get();
        let show = |value: Bound<'_, PyAny>| value.repr().map(|text| text.to_string());
        Ok(format!(
            "SseEvent(event={}, data={}, id={}, retry={})",
            show(this.event.as_str().into_pyobject(py)?.into_any())?,
            show(this.data.as_str().into_pyobject(py)?.into_any())?,
            show(this.id.as_deref().into_pyobject(py)?)?,
            show(this.retry.into_pyobject(py)?)?,
        ))
    }
}

impl From<stream::SseEvent<'_>> for SseEvent {
    fn from(event: stream::SseEvent<'_>) -> Self {
        Self {
            event: event.event.into_owned(),
            data: event.data.into_owned(),
            id: event.id.map(str::to_owned),
            retry: event.retry,
        }
    }
}

/// Cuts bytes into server-sent events, whatever the chunks are.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct SseDecoder {
    state: Mutex<Option<stream::SseDecoder>>,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl SseDecoder {
    #[new]
    #[pyo3(signature = (
        max_line_bytes = 33_554_432,
        max_event_bytes = 33_554_432,
        max_total_bytes = 1_073_741_824,
    ))]
    fn new(max_line_bytes: usize, max_event_bytes: usize, max_total_bytes: usize) -> Self {
        let limits = Limits {
            max_line_bytes,
            max_event_bytes,
            max_total_bytes,
            ..Limits::DEFAULT
        };
        Self {
            state: Mutex::new(Some(stream::SseDecoder::new(limits))),
        }
    }

    /// Return the events that this chunk completes.
    ///
    /// When the chunk breaks a limit after some events, they are returned and the next call raises.
    fn feed(&self, data: PyBackedBytes) -> Result<Vec<SseEvent>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let decoder = state.as_mut().ok_or(Misuse::DecoderFinished)?;
        let mut events = Vec::new();
        let fed = decoder.feed(&data, |event| events.push(event.into()));
        if events.is_empty() {
            fed?;
        }
        Ok(events)
    }

    /// End the stream; an event without its blank line is dropped, so there are none to return.
    fn finish(&self) -> Result<Vec<SseEvent>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.take().ok_or(Misuse::DecoderFinished)?.finish()?;
        Ok(Vec::new())
    }
}

/// Cuts bytes into lines of JSON, whatever the chunks are.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct NdjsonDecoder {
    state: Mutex<Option<Lines>>,
}

/// The decoder, and the first line that was not JSON.
struct Lines {
    decoder: stream::NdjsonDecoder,
    failure: Option<LineError>,
}

impl Lines {
    /// Notes the value of a line, as long as every line before it had one.
    fn note(failure: &mut Option<LineError>, values: &mut Vec<Json>, line: &NdjsonLine<'_>) {
        if failure.is_none() {
            match line.value() {
                Ok(value) => values.push(value),
                Err(error) => *failure = Some(error),
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        self.failure
            .clone()
            .map_or(Ok(()), |failure| Err(failure.into()))
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl NdjsonDecoder {
    #[new]
    #[pyo3(signature = (max_line_bytes = 33_554_432, max_total_bytes = 1_073_741_824))]
    fn new(max_line_bytes: usize, max_total_bytes: usize) -> Self {
        let limits = Limits {
            max_line_bytes,
            max_total_bytes,
            ..Limits::DEFAULT
        };
        let lines = Lines {
            decoder: stream::NdjsonDecoder::new(limits),
            failure: None,
        };
        Self {
            state: Mutex::new(Some(lines)),
        }
    }

    /// Return the values of the lines that this chunk completes.
    ///
    /// When a line after some values is refused, they are returned and the next call raises.
    fn feed<'py>(
        &self,
        py: Python<'py>,
        data: PyBackedBytes,
    ) -> Result<Vec<Bound<'py, PyAny>>, Error> {
        let mut values = Vec::new();
        {
            let mut state = self.lock();
            let lines = state.as_mut().ok_or(Misuse::DecoderFinished)?;
            lines.check()?;
            let Lines { decoder, failure } = lines;
            let fed = decoder.feed(&data, |line| Lines::note(failure, &mut values, &line));
            if values.is_empty() {
                lines.check()?;
                fed?;
            }
        }
        to_python_each(py, &values)
    }

    /// End the stream and return the value of a last line that has no line end.
    fn finish<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyAny>>, Error> {
        let lines = self.lock().take().ok_or(Misuse::DecoderFinished)?;
        lines.check()?;
        let Lines {
            decoder,
            mut failure,
        } = lines;
        let mut values = Vec::new();
        let ended = decoder.finish(|line| Lines::note(&mut failure, &mut values, &line));
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        ended?;
        to_python_each(py, &values)
    }
}

impl NdjsonDecoder {
    fn lock(&self) -> MutexGuard<'_, Option<Lines>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn to_python_each<'py>(py: Python<'py>, values: &[Json]) -> Result<Vec<Bound<'py, PyAny>>, Error> {
    let values: PyResult<_> = values.iter().map(|value| to_python(py, value)).collect();
    Ok(values?)
}
