//! `StreamDecoder` and `decode_error`: the body of a model's response, decoded.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

use amplifier_core::event_timestamp;
use amplifier_stream as stream;
use amplifier_stream::{BodyEnd, Change, Headers, Limits};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::error::{Error, Misuse};
use crate::json::object_to_python;
use crate::lazy_object::is_mapping;
use crate::stream::partial_arguments::Growing;
use crate::stream::stream_event::StreamEvent;
use crate::stream::stream_result::{StreamResult, error_to_python};
use crate::traverse::{Traverse, traverse};
use crate::world;

/// Decodes one response of a model provider, whatever the chunks are.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct StreamDecoder {
    state: Mutex<State>,
}

traverse!(StreamDecoder: state);

enum State {
    Idle(Box<Decoding>),
    /// Taken by a call that makes Python objects, which must not happen under the lock.
    Busy,
    Finished,
}

impl Traverse for State {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Idle(decoding) => decoding.traverse(visit),
            Self::Busy | Self::Finished => Ok(()),
        }
    }
}

struct Decoding {
    decoder: stream::StreamDecoder,
    /// The arguments that were asked for, of blocks that still grow.
    partial_arguments: BTreeMap<u64, Growing>,
}

traverse!(Decoding: partial_arguments);

#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pymethods]
impl StreamDecoder {
    #[new]
    #[pyo3(signature = (
        dialect,
        status = 200,
        headers = None,
        *,
        max_line_bytes = 33_554_432,
        max_event_bytes = 33_554_432,
        max_total_bytes = 1_073_741_824,
        max_calls = 128,
    ))]
    fn new(
        dialect: &str,
        status: u16,
        headers: Option<&Bound<'_, PyAny>>,
        max_line_bytes: usize,
        max_event_bytes: usize,
        max_total_bytes: usize,
        max_calls: usize,
    ) -> PyResult<Self> {
        let dialect = dialect.parse().map_err(Error::from)?;
        let limits = Limits {
            max_line_bytes,
            max_event_bytes,
            max_total_bytes,
            max_calls,
        };
        let decoder = stream::StreamDecoder::new(dialect, status, read_headers(headers)?, limits);
        Ok(Self {
            state: Mutex::new(State::Idle(Box::new(Decoding {
                decoder,
                partial_arguments: BTreeMap::new(),
            }))),
        })
    }

    /// Return every block event that this chunk completes, stamped with the time of this call.
    ///
    /// When the chunk breaks a limit after some events, they are returned and the next call raises.
    fn feed(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<Vec<StreamEvent>> {
        let mut events = Vec::new();
        let mut decoding = self.take()?;
        let fed = decoding.feed(&data, &mut events);
        self.put_back(State::Idle(decoding));
        if events.is_empty() {
            fed.map_err(Error::from)?;
            return Ok(Vec::new());
        }
        stamp(py, events)
    }

    /// Take a chunk in without its events; return whether it adds to the answer.
    ///
    /// A block that began, ended or was dropped adds to it, an empty delta does not.
    fn advance(&self, data: PyBackedBytes) -> PyResult<bool> {
        let mut events = Vec::new();
        let mut decoding = self.take()?;
        let fed = decoding.feed(&data, &mut events);
        self.put_back(State::Idle(decoding));
        fed.map_err(Error::from)?;
        Ok(events.iter().any(|event| !is_empty_delta(&event.change)))
    }

    /// Return the arguments of a call so far; None if there is no call.
    fn partial_arguments<'py>(
        &self,
        py: Python<'py>,
        block_index: u64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut decoding = self.take()?;
        let arguments = decoding.partial_arguments(py, block_index);
        self.put_back(State::Idle(decoding));
        arguments
    }

    /// End the stream and return its result; a broken limit is its `error`.
    ///
    /// `body_is_whole` is whether the transport knows that all of the body came.
    #[pyo3(signature = (*, body_is_whole = false))]
    fn finish(&self, py: Python<'_>, body_is_whole: bool) -> PyResult<StreamResult> {
        let now = world::time(py)?;
        let decoding = self.take()?;
        self.put_back(State::Finished);
        let end = if body_is_whole {
            BodyEnd::Complete
        } else {
            BodyEnd::Unknown
        };
        let result = decoding.decoder.finish_body(end, now);
        let events = stamp(py, result.events.clone())?;
        let events: PyResult<_> = events.into_iter().map(|event| Py::new(py, event)).collect();
        Ok(StreamResult {
            result,
            events: events?,
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }

    fn __clear__(&self) {
        if let Ok(mut decoding) = self.take() {
            decoding.partial_arguments.clear();
            self.put_back(State::Idle(decoding));
        }
    }
}

impl StreamDecoder {
    fn take(&self) -> Result<Box<Decoding>, Misuse> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match mem::replace(&mut *state, State::Busy) {
            State::Idle(decoding) => Ok(decoding),
            State::Busy => Err(Misuse::Busy),
            State::Finished => {
                *state = State::Finished;
                Err(Misuse::DecoderFinished)
            }
        }
    }

    fn put_back(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Decoding {
    fn feed(
        &mut self,
        data: &[u8],
        events: &mut Vec<stream::StreamEvent>,
    ) -> Result<(), stream::LimitError> {
        let fed = self.decoder.feed(data, events);
        // Almost nobody asks for partial arguments: then the events are not looked at.
        if !self.partial_arguments.is_empty() {
            for event in events {
                if let Change::Start(_) | Change::End(_) | Change::Drop(_) = event.change {
                    self.partial_arguments.remove(&event.block_index);
                }
            }
        }
        fed
    }

    fn partial_arguments<'py>(
        &mut self,
        py: Python<'py>,
        index: u64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_open = self.decoder.is_open(index);
        let Some(arguments) = self.decoder.partial_arguments(index) else {
            return Ok(None);
        };
        if !is_open {
            return object_to_python(py, arguments).map(|dict| Some(dict.into_any()));
        }
        let growing = self.partial_arguments.entry(index);
        let growing = growing.or_insert_with(|| Growing::new(py));
        let updated = growing.update(py, arguments);
        if updated.is_err() {
            self.partial_arguments.remove(&index);
        }
        updated.map(Some)
    }
}

fn is_empty_delta(change: &Change) -> bool {
    matches!(change, Change::Delta(text) if text.is_empty())
}

/// Stamps events with the time of this call.
pub(crate) fn stamp(
    py: Python<'_>,
    events: Vec<stream::StreamEvent>,
) -> PyResult<Vec<StreamEvent>> {
    // Written once for all events of a chunk, which came at the same time.
    let timestamp = PyString::new(py, &event_timestamp(world::time(py)?)).unbind();
    let stamp = |event| StreamEvent {
        event,
        timestamp: timestamp.clone_ref(py),
    };
    Ok(events.into_iter().map(stamp).collect())
}

/// Decode the body of a response whose status is not a success.
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are extracted by value"
)]
#[pyfunction]
pub(crate) fn decode_error<'py>(
    py: Python<'py>,
    dialect: &str,
    status: u16,
    headers: Option<&Bound<'py, PyAny>>,
    body: PyBackedBytes,
) -> PyResult<Bound<'py, PyDict>> {
    let dialect = dialect.parse().map_err(Error::from)?;
    let headers = read_headers(headers)?;
    let error = stream::decode_error(dialect, status, &headers, &body, world::time(py)?);
    let fields = error_to_python(py, &error)?;
    fields.set_item("request_id", error.request_id)?;
    Ok(fields)
}

/// Takes a mapping of header fields, or pairs of name and value.
fn read_headers(headers: Option<&Bound<'_, PyAny>>) -> PyResult<Headers> {
    let Some(headers) = headers else {
        return Ok(Headers::default());
    };
    let pairs = if is_mapping(headers) {
        headers.call_method0("items")?
    } else {
        headers.clone()
    };
    pairs
        .try_iter()?
        .map(|pair| {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            Ok((read_text(&name)?, read_text(&value)?))
        })
        .collect()
}

fn read_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_string_lossy().into_owned());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(String::from_utf8_lossy(bytes.as_bytes()).into_owned());
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a header must be `str` or `bytes`, found `{found}`"
    )))
}
