//! `StreamDecoder` and `decode_error`: the body of a model's response, decoded.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use amplifier_stream as stream;
use amplifier_stream::{Headers, Limits};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString};

use crate::clock;
use crate::framing::Error;
use crate::stream_event::StreamEvent;
use crate::stream_result::{StreamResult, error_to_python};

/// Decodes one response of a model provider, whatever the chunks are.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct StreamDecoder {
    state: Mutex<Option<stream::StreamDecoder>>,
}

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
    ))]
    fn new(
        dialect: &str,
        status: u16,
        headers: Option<&Bound<'_, PyAny>>,
        max_line_bytes: usize,
        max_event_bytes: usize,
        max_total_bytes: usize,
    ) -> PyResult<Self> {
        let dialect = dialect.parse().map_err(Error::from)?;
        let limits = Limits {
            max_line_bytes,
            max_event_bytes,
            max_total_bytes,
        };
        let decoder = stream::StreamDecoder::new(dialect, status, read_headers(headers)?, limits);
        Ok(Self {
            state: Mutex::new(Some(decoder)),
        })
    }

    /// Return every block event that this chunk completes, stamped with the time of this call.
    ///
    /// When the chunk breaks a limit after some events, they are returned and the next call raises.
    fn feed(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<Vec<StreamEvent>> {
        let mut events = Vec::new();
        let fed = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state
                .as_mut()
                .ok_or(Error::Finished)?
                .feed(&data, &mut events)
        };
        if events.is_empty() {
            fed.map_err(Error::from)?;
            return Ok(Vec::new());
        }
        let timestamp = PyString::new(py, &clock::timestamp()).unbind();
        let stamp = |event| StreamEvent {
            event,
            timestamp: timestamp.clone_ref(py),
        };
        Ok(events.into_iter().map(stamp).collect())
    }

    /// End the stream and return what it amounts to; a broken limit is its `error`.
    fn finish(&self) -> Result<StreamResult, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let decoder = state.take().ok_or(Error::Finished)?;
        Ok(StreamResult {
            result: decoder.finish(SystemTime::now()),
        })
    }
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
    let error = stream::decode_error(dialect, status, &headers, &body, SystemTime::now());
    let fields = error_to_python(py, &error)?;
    fields.set_item("request_id", error.request_id)?;
    Ok(fields)
}

/// Takes a mapping of header fields, or pairs of name and value.
fn read_headers(headers: Option<&Bound<'_, PyAny>>) -> PyResult<Headers> {
    let Some(headers) = headers else {
        return Ok(Headers::default());
    };
    let pairs = match headers.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => headers.clone(),
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
