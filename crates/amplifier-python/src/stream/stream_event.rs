//! `StreamEvent`: what happened to a content block while its stream arrived.

use amplifier_core::Json;
use amplifier_stream as stream;
use amplifier_stream::{Block, Change};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::json::{object_to_python, to_python};

/// A block as a new dict, its texts copied once: they may be most of what the program holds.
pub(crate) fn block_to_python<'py>(py: Python<'py>, block: &Block) -> PyResult<Bound<'py, PyAny>> {
    if let Block::Content(fields) = block
        && let Some(kind) = fields.get("type").and_then(Json::as_str)
        && kind != "tool_call"
    {
        return Ok(object_to_python(py, fields)?.into_any());
    }
    to_python(py, &block.to_json())
}

/// A content block began, grew, is complete or was dropped.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct StreamEvent {
    pub(crate) event: stream::StreamEvent,
    pub(crate) timestamp: Py<PyString>,
}

#[pymethods]
impl StreamEvent {
    /// The name of the event: `content_block:start`, `content_block:delta` or `content_block:end`.
    #[getter]
    fn event(&self) -> &'static str {
        match self.event.change {
            Change::Start(_) => "content_block:start",
            Change::Delta(_) | Change::PartialJson(_) => "content_block:delta",
            Change::End(_) | Change::Drop(_) => "content_block:end",
        }
    }

    /// The payload as a new dict.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let data = PyDict::new(py);
        data.set_item(intern!(py, "block_type"), self.block_type())?;
        data.set_item(intern!(py, "block_index"), self.event.block_index)?;
        match &self.event.change {
            Change::Start(_) => {}
            Change::Delta(text) => data.set_item(intern!(py, "delta"), text)?,
            Change::PartialJson(text) => data.set_item(intern!(py, "partial_json"), text)?,
            Change::End(block) | Change::Drop(block) => {
                data.set_item(intern!(py, "block"), block_to_python(py, block)?)?;
            }
        }
        if self.dropped() {
            data.set_item(intern!(py, "dropped"), true)?;
        }
        data.set_item(intern!(py, "timestamp"), &self.timestamp)?;
        if let Change::Start(metadata) = &self.event.change {
            data.set_item(intern!(py, "metadata"), object_to_python(py, metadata)?)?;
        }
        Ok(data)
    }

    /// The type of the block.
    #[getter]
    fn block_type(&self) -> &str {
        self.event.block_type.as_str()
    }

    /// The place of the block in the answer.
    #[getter]
    fn block_index(&self) -> u64 {
        self.event.block_index
    }

    /// The text that was added.
    #[getter]
    fn delta(&self) -> Option<&str> {
        if let Change::Delta(text) = &self.event.change {
            Some(text)
        } else {
            None
        }
    }

    /// The fragment of JSON that was added.
    #[getter]
    fn partial_json(&self) -> Option<&str> {
        if let Change::PartialJson(text) = &self.event.change {
            Some(text)
        } else {
            None
        }
    }

    /// When the chunk was decoded, as ISO 8601 in UTC.
    #[getter]
    fn timestamp(&self, py: Python<'_>) -> Py<PyString> {
        self.timestamp.clone_ref(py)
    }

    /// What the provider says about a block that begins, as a new dict.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Change::Start(metadata) = &self.event.change else {
            return Ok(None);
        };
        object_to_python(py, metadata).map(Some)
    }

    /// Whether the block is not part of the answer any more.
    #[getter]
    fn dropped(&self) -> bool {
        matches!(self.event.change, Change::Drop(_))
    }

    /// The complete block, as a new dict.
    #[getter]
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Change::End(block) | Change::Drop(block)) = &self.event.change else {
            return Ok(None);
        };
        block_to_python(py, block).map(Some)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.event == other.event && self.timestamp.bind(py).as_any().eq(&other.timestamp)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "StreamEvent({}, {})",
            self.event(),
            self.data(py)?.repr()?
        ))
    }
}
