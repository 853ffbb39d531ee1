//! The text of the response that is being written, from the events of its blocks.

use std::sync::atomic::{AtomicIsize, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::traverse::{Traverse, traverse};

/// Characters that are kept, `PIECE` more for each piece: no model writes more, but a server may.
const ROOM: isize = 16 * 1024 * 1024;
const PIECE: isize = 48;

/// The text of the response that is being written, from the events of its blocks.
///
/// That of a response which ends with an error stays until it is cleared. The same as
/// `UnfinishedText` of `amplifier_agent.unfinished_text`: there is an event for each word of
/// a model.
#[pyclass(frozen, name = "_UnfinishedText", module = "amplifier_core._engine")]
pub(crate) struct UnfinishedText {
    /// The pieces of each block.
    blocks: Py<PyDict>,
    room: AtomicIsize,
}

traverse!(UnfinishedText: blocks);

#[pymethods]
impl UnfinishedText {
    #[new]
    fn new(py: Python<'_>) -> Self {
        Self {
            blocks: PyDict::new(py).unbind(),
            room: AtomicIsize::new(ROOM),
        }
    }

    /// Add what `content_block:delta` says; there are many of these.
    fn add(&self, data: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = data.py();
        let kind = data.get_item(intern!(py, "block_type"))?;
        let is_text =
            kind.is_some_and(|kind| kind.cast::<PyString>().is_ok_and(|kind| kind == "text"));
        let delta = data.get_item(intern!(py, "delta"))?;
        let Some(Ok(text)) = delta.map(Bound::cast_into::<PyString>) else {
            return Ok(());
        };
        if !is_text || self.room.load(Ordering::Relaxed) <= 0 {
            return Ok(());
        }
        self.room.fetch_sub(size(&text)?, Ordering::Relaxed);
        let blocks = self.blocks.bind(py);
        let index = index(data)?;
        match blocks.get_item(&index)? {
            Some(texts) => texts.cast::<PyList>()?.append(text),
            None => blocks.set_item(index, PyList::new(py, [text])?),
        }
    }

    /// Let go of a text that was taken back; keep one text of a block where there are two, if there is
    /// room: what is kept of a longer one stays as it is.
    fn end(&self, data: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = data.py();
        let blocks = self.blocks.bind(py);
        let index = index(data)?;
        let Some(texts) = blocks.get_item(&index)? else {
            return Ok(());
        };
        let dropped = data.get_item(intern!(py, "dropped"))?;
        if dropped.map_or(Ok(false), |dropped| dropped.is_truthy())? {
            for text in texts.cast::<PyList>()? {
                self.room.fetch_add(size(text.cast()?)?, Ordering::Relaxed);
            }
            return blocks.del_item(index);
        }
        if self.room.load(Ordering::Relaxed) > 0
            && let Some(Ok(block)) = data
                .get_item(intern!(py, "block"))?
                .map(Bound::cast_into::<PyDict>)
            && let Some(Ok(whole)) = block
                .get_item(intern!(py, "text"))?
                .map(Bound::cast_into::<PyString>)
        {
            blocks.set_item(index, PyList::new(py, [whole])?)?;
        }
        Ok(())
    }

    /// Forget it: the response is whole, or another one begins.
    #[pyo3(signature = (_data=None))]
    fn clear(&self, py: Python<'_>, _data: Option<&Bound<'_, PyAny>>) {
        self.blocks.bind(py).clear();
        self.room.store(ROOM, Ordering::Relaxed);
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let texts = PyList::empty(py);
        for (_, pieces) in self.blocks.bind(py).copy()? {
            for piece in pieces.cast::<PyList>()? {
                texts.append(piece)?;
            }
        }
        intern!(py, "").call_method1(intern!(py, "join"), (texts,))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }
}

fn index<'py>(data: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let index = data.get_item(intern!(py, "block_index"))?;
    Ok(index.unwrap_or_else(|| py.None().into_bound(py)))
}

fn size(text: &Bound<'_, PyString>) -> PyResult<isize> {
    Ok(text.len()?.cast_signed() + PIECE)
}
