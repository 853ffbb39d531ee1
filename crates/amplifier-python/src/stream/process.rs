//! `StreamProcessor`: what the chunks of an answer bring, decided for the drivers in Python.

use std::sync::{Arc, Mutex, PoisonError};

use amplifier_core::Json;
use amplifier_stream as stream;
use amplifier_stream::{AgentEvent, ChunkCall, ChunkType, StreamChunk, ToolCall};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::json::from_python;
use crate::stream::tag::call::ParsedCall;
use crate::stream::tag::tool_call::ToolCallParser;

/// Turns the chunks of one answer into events, each the name of its class and its fields.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct StreamProcessor {
    processor: Mutex<stream::StreamProcessor>,
}

impl StreamProcessor {
    fn with<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut stream::StreamProcessor) -> Vec<AgentEvent>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let events = {
            let mut processor = self
                .processor
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            work(&mut processor)
        };
        events
            .into_iter()
            .map(|event| to_tuple(py, event))
            .collect()
    }
}

#[pymethods]
impl StreamProcessor {
    #[new]
    #[pyo3(signature = (parser = None, max_calls = 128))]
    fn new(
        py: Python<'_>,
        parser: Option<&Bound<'_, ToolCallParser>>,
        max_calls: usize,
    ) -> PyResult<Self> {
        let parser = parser.map(|parser| parser.get().fresh(py)).transpose()?;
        let processor = stream::StreamProcessor::new(parser).with_max_calls(max_calls);
        Ok(Self {
            processor: Mutex::new(processor),
        })
    }

    /// Take a chunk and return what it brings.
    fn feed<'py>(&self, chunk: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let py = chunk.py();
        let error = chunk.getattr(intern!(py, "error"))?;
        let chunk = StreamChunk {
            content: chunk.getattr(intern!(py, "content"))?.extract()?,
            role: chunk.getattr(intern!(py, "role"))?.extract()?,
            kind: read_type(&chunk.getattr(intern!(py, "type"))?)?,
            finished: chunk.getattr(intern!(py, "finished"))?.is_truthy()?,
            error: (!error.is_none())
                .then(|| error.str())
                .transpose()?
                .map(|text| text.to_string()),
            usage: None,
            call: read_call(&chunk.getattr(intern!(py, "call"))?)?,
            // What a decoder adds; a chunk of another type may lack it.
            block_index: match chunk.getattr_opt(intern!(py, "block_index"))? {
                Some(index) => index.extract()?,
                None => None,
            },
            dropped: match chunk.getattr_opt(intern!(py, "dropped"))? {
                Some(dropped) => dropped.is_truthy()?,
                None => false,
            },
            judged_calls: match chunk.getattr_opt(intern!(py, "judged_calls"))? {
                Some(calls) => calls
                    .try_iter()?
                    .map(|call| read_block(&call?).map(Arc::new))
                    .collect::<PyResult<_>>()?,
                None => Vec::new(),
            },
        };
        self.with(py, |processor| processor.feed(&chunk))
    }

    /// End an answer whose chunks ended.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.with(py, stream::StreamProcessor::finish)
    }

    /// End an answer whose source failed.
    fn fail<'py>(&self, py: Python<'py>, error: &str) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.with(py, |processor| processor.raise(error))
    }

    /// End an answer that was cancelled.
    fn cancel<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.with(py, stream::StreamProcessor::cancel)
    }

    /// Whether the answer has come to its end.
    #[getter]
    fn is_over(&self) -> bool {
        self.processor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_over()
    }

    /// Return the result of the answer; one that has not ended counts as cancelled.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let answer = {
            let mut processor = self
                .processor
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *processor, stream::StreamProcessor::new(None)).into_result()
        };
        let calls = answer
            .calls
            .into_iter()
            .map(|call| Bound::new(py, ParsedCall { call }));
        let fields = PyDict::new(py);
        fields.set_item(intern!(py, "assistant_content"), answer.assistant_content)?;
        fields.set_item(intern!(py, "thinking_content"), answer.thinking_content)?;
        fields.set_item(intern!(py, "tool_call_content"), answer.tool_call_content)?;
        fields.set_item(intern!(py, "role"), answer.role)?;
        fields.set_item(intern!(py, "calls"), calls.collect::<PyResult<Vec<_>>>()?)?;
        fields.set_item(intern!(py, "truncated"), answer.truncated)?;
        fields.set_item(intern!(py, "cancelled"), answer.cancelled)?;
        Ok(fields)
    }
}

fn to_tuple(py: Python<'_>, event: AgentEvent) -> PyResult<Bound<'_, PyTuple>> {
    match event {
        AgentEvent::ThinkingStart => ("ThinkingStartEvent",).into_pyobject(py),
        AgentEvent::ThinkingContent(text) => ("ThinkingContentEvent", text).into_pyobject(py),
        AgentEvent::ThinkingEnd => ("ThinkingEndEvent",).into_pyobject(py),
        AgentEvent::ToolCallStart { index, id, name } => {
            ("ToolCallStartEvent", index, id, name).into_pyobject(py)
        }
        AgentEvent::ToolCallContent {
            index,
            content,
            name,
        } => ("ToolCallContentEvent", index, content, name).into_pyobject(py),
        AgentEvent::ToolCallEnd(call) => {
            let index = call.index;
            ("ToolCallEndEvent", index, ParsedCall { call: *call }).into_pyobject(py)
        }
        AgentEvent::Restart(kind) => ("RestartEvent", kind.as_str()).into_pyobject(py),
        AgentEvent::MessageStart => ("MessageStartEvent",).into_pyobject(py),
        AgentEvent::MessageContent(text) => ("MessageContentEvent", text).into_pyobject(py),
        AgentEvent::MessageEnd => ("MessageEndEvent",).into_pyobject(py),
        AgentEvent::Error(error) => ("ErrorEvent", error).into_pyobject(py),
        AgentEvent::Custom { name, data } => {
            let data = crate::json::to_python(py, &data)?;
            ("CustomEvent", name, data).into_pyobject(py)
        }
    }
}

fn read_type(value: &Bound<'_, PyAny>) -> PyResult<ChunkType> {
    let kind: String = value.extract()?;
    let known = [ChunkType::Message, ChunkType::Thinking, ChunkType::ToolCall];
    known
        .into_iter()
        .find(|known| known.as_str() == kind)
        .ok_or_else(|| {
            PyValueError::new_err(format!(
                "unknown chunk type `{kind}` (must be `message`, `thinking` or `tool_call`)"
            ))
        })
}

fn read_call(call: &Bound<'_, PyAny>) -> PyResult<Option<ChunkCall>> {
    if call.is_none() {
        return Ok(None);
    }
    let py = call.py();
    let block = call.getattr(intern!(py, "block"))?;
    let block = if block.is_none() {
        None
    } else {
        Some(Arc::new(read_block(&block)?))
    };
    Ok(Some(ChunkCall {
        index: call.getattr(intern!(py, "index"))?.extract()?,
        id: call.getattr(intern!(py, "id"))?.extract()?,
        name: call.getattr(intern!(py, "name"))?.extract()?,
        block,
    }))
}

/// Reads a tool-call block as a decoder returns it.
fn read_block(block: &Bound<'_, PyAny>) -> PyResult<ToolCall> {
    let Json::Object(mut fields) = from_python(block)? else {
        return Err(PyTypeError::new_err("the `block` of a call must be a dict"));
    };
    let mut text = |key| match fields.shift_remove(key) {
        Some(Json::Str(text)) => Some(text),
        _ => None,
    };
    let (id, name, error) = (text("id"), text("name"), text("error"));
    let raw_arguments = text("raw_arguments").unwrap_or_default();
    let is_custom = matches!(fields.shift_remove("is_custom"), Some(Json::Bool(true)));
    let arguments = match fields.shift_remove("arguments") {
        Some(Json::Object(arguments)) if error.is_none() => Some(arguments),
        _ => None,
    };
    let missing = || "the call has no arguments".to_owned();
    Ok(ToolCall {
        id,
        name: name.unwrap_or_default(),
        error: error.or_else(|| arguments.is_none().then(missing)),
        arguments,
        raw_arguments,
        is_custom,
        extra: fields,
    })
}
