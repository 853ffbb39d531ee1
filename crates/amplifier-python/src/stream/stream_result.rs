//! `StreamResult`: the result of a whole stream.

use amplifier_stream as stream;
use amplifier_stream::ResponseError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::json::{object_to_python, to_python};
use crate::stream::stream_event::{StreamEvent, block_to_python};

/// The final record of a stream; every container is a new one each time it is read.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct StreamResult {
    pub(crate) result: stream::StreamResult,
    /// The events of the result, stamped.
    pub(crate) events: Vec<Py<StreamEvent>>,
}

#[pymethods]
impl StreamResult {
    /// The blocks in the order of their index.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let blocks = PyList::empty(py);
        for block in &self.result.blocks {
            blocks.append(block_to_python(py, block)?)?;
        }
        Ok(blocks)
    }

    /// Tokens in disjoint buckets; `None` where unknown.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let usage = self.result.usage;
        let fields = PyDict::new(py);
        fields.set_item(intern!(py, "input_tokens"), usage.input_tokens)?;
        fields.set_item(intern!(py, "cache_read_tokens"), usage.cache_read_tokens)?;
        fields.set_item(intern!(py, "cache_write_tokens"), usage.cache_write_tokens)?;
        fields.set_item(intern!(py, "output_tokens"), usage.output_tokens)?;
        fields.set_item(intern!(py, "reasoning_tokens"), usage.reasoning_tokens)?;
        Ok(fields)
    }

    /// Usage as the provider counts it.
    #[getter]
    fn raw_usage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.result
            .raw_usage
            .as_ref()
            .map(|usage| object_to_python(py, usage))
            .transpose()
    }

    /// Why the answer ended; `other` for a reason that is not known, `None` if it never came.
    #[getter]
    fn stop_reason(&self) -> Option<&'static str> {
        self.result.stop_reason
    }

    /// Why the answer ended, in the provider's words.
    #[getter]
    fn raw_stop_reason(&self) -> Option<&str> {
        self.result.raw_stop_reason.as_deref()
    }

    /// The stop sequence that was met.
    #[getter]
    fn stop_sequence(&self) -> Option<&str> {
        self.result.stop_sequence.as_deref()
    }

    /// The provider's id of the answer.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.result.id.as_deref()
    }

    /// The model that answered.
    #[getter]
    fn model(&self) -> Option<&str> {
        self.result.model.as_deref()
    }

    /// The provider's id of the request.
    #[getter]
    fn request_id(&self) -> Option<&str> {
        self.result.request_id.as_deref()
    }

    /// Every other thing that the provider said about the answer.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        object_to_python(py, &self.result.metadata)
    }

    /// Whether the stream ended before its terminator.
    #[getter]
    fn truncated(&self) -> bool {
        self.result.truncated
    }

    /// What went wrong, or `None`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.result
            .error
            .as_ref()
            .map(|error| error_to_python(py, error))
            .transpose()
    }

    /// What was repaired, ignored or not understood.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = PyList::empty(py);
        for finding in &self.result.findings {
            let fields = PyDict::new(py);
            fields.set_item(intern!(py, "type"), finding.kind)?;
            fields.set_item(intern!(py, "block_index"), finding.block_index)?;
            fields.set_item(intern!(py, "message"), &finding.message)?;
            let raw = finding
                .raw
                .as_ref()
                .map(|raw| to_python(py, raw))
                .transpose()?;
            fields.set_item(intern!(py, "raw"), raw)?;
            findings.append(fields)?;
        }
        Ok(findings)
    }

    /// What only the end of the stream completed, in a last line that has no line end.
    #[getter]
    fn events(&self, py: Python<'_>) -> Vec<Py<StreamEvent>> {
        let events = self.events.iter();
        events.map(|event| event.clone_ref(py)).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.result == other.result
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let types = PyList::empty(py);
        for block in &self.result.blocks {
            types.append(block.block_type().as_str())?;
        }
        Ok(format!(
            "StreamResult(id={}, stop_reason={}, truncated={}, error={}, blocks={})",
            self.id().into_pyobject(py)?.repr()?,
            self.stop_reason().into_pyobject(py)?.repr()?,
            if self.result.truncated {
                "True"
            } else {
                "False"
            },
            self.error(py)?.into_pyobject(py)?.repr()?,
            types.repr()?,
        ))
    }
}

/// The error as a new dict, without the id of its request.
pub(crate) fn error_to_python<'py>(
    py: Python<'py>,
    error: &ResponseError,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "type"), &error.kind)?;
    fields.set_item(intern!(py, "code"), error.code.as_deref())?;
    fields.set_item(intern!(py, "status"), error.status)?;
    fields.set_item(intern!(py, "message"), &error.message)?;
    fields.set_item(intern!(py, "retryable"), error.retryable)?;
    let seconds = error.retry_after.map(|wait| wait.as_secs_f64());
    fields.set_item(intern!(py, "retry_after"), seconds)?;
    if !error.details.is_empty() {
        let details = object_to_python(py, &error.details)?;
        fields.set_item(intern!(py, "details"), details)?;
    }
    Ok(fields)
}
