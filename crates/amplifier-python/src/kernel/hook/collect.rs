//! `emit_and_collect`: every handler is asked, each with a time limit of its own.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::json_shape::dumped;
use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next};
use crate::kernel::hook::answer;
use crate::kernel::hook::handlers::Handlers;
use crate::kernel::hook::registry::RustHookRegistry;
use crate::kernel::payload::Payload;
use crate::kernel::report::{Level, Logger, is_own_failure, log};
use crate::kernel::timeout::{TimeLimit, is_expired};
use crate::traverse::traverse;

/// The machine of `emit_and_collect`.
pub(crate) struct Collect {
    registry: Py<RustHookRegistry>,
    event: Py<PyString>,
    payload: Payload,
    timeout: TimeLimit,
    handlers: Option<Handlers>,
    collected: Py<PyList>,
}

traverse!(Collect: registry, event, payload, handlers, collected);

impl Collect {
    pub(crate) fn new(
        registry: Py<RustHookRegistry>,
        event: Bound<'_, PyString>,
        data: &Bound<'_, PyAny>,
        timeout: TimeLimit,
    ) -> PyResult<Self> {
        let py = event.py();
        Ok(Self {
            registry,
            event: event.unbind(),
            payload: Payload::bare(data)?,
            timeout,
            handlers: None,
            collected: PyList::empty(py).unbind(),
        })
    }

    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        loop {
            let Some(handler) = self
                .handlers
                .as_mut()
                .map_or(Ok(None), |list| list.advance(py))?
            else {
                return Ok(Next::Return(self.collected.bind(py).clone().into_any()));
            };
            let data = self.payload.hand_out(py)?;
            match handler.call1((self.event.bind(py), data)) {
                Ok(value) if !value.is_none() && is_awaitable(&value)? => {
                    let what = || {
                        let handlers = self.handlers.as_ref();
                        let event = self.event.bind(py);
                        handlers.map_or_else(String::new, |one| one.described(py, event))
                    };
                    return self.timeout.on(value, what).map(Next::Await);
                }
                Ok(value) => self.take(&value)?,
                Err(error) => self.skip(py, error)?,
            }
        }
    }

    /// Collects the data of one answer, unless it is an observer's.
    fn take(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let Some(handlers) = &self.handlers else {
            return Ok(());
        };
        if handlers.observes(py)? {
            return Ok(());
        }
        match answer_of(value) {
            Ok(Some((result, data))) => {
                if answer::has_unknown_keys(&result)? {
                    let (registry, event) = (self.registry.bind(py), self.event.bind(py));
                    handlers.warn_of_mistake(registry.as_any(), event, &result)?;
                }
                data.map_or(Ok(()), |data| self.collected.bind(py).append(data))
            }
            Ok(None) => Ok(()),
            Err(error) => self.skip(py, error),
        }
    }

    fn skip(&self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if !is_own_failure(py, &error) {
            return Err(error);
        }
        self.tell(py, Level::Error, "failed", Some(&error));
        Ok(())
    }

    fn tell(&self, py: Python<'_>, level: Level, what: &str, error: Option<&PyErr>) {
        let name = self
            .handlers
            .as_ref()
            .map(|handlers| handlers.name(py))
            .unwrap_or_default();
        let event = self.event.bind(py).to_string_lossy();
        let message = format!("hook `{name}` {what} on `{event}`; continuing without its answer");
        log(py, Logger::Hooks, level, &message, error);
    }
}

/// A result, and its data in JSON form, if there is any.
type Collected<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

fn answer_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Collected<'py>>> {
    let py = value.py();
    let Some(result) = answer::of(value)? else {
        return Ok(None);
    };
    // The fields of a dict are event data; those of a model have the JSON form of models.
    let data = if value.is_instance_of::<PyDict>() {
        result.getattr(intern!(py, "data"))?
    } else {
        answer::check_action(&result)?;
        let fields = dumped(&result).unwrap_or_else(|| py.None().into_bound(py));
        fields.get_item(intern!(py, "data"))?
    };
    if data.is_none() {
        return Ok(Some((result, None)));
    }
    let data = Payload::bare(data.cast::<PyDict>()?.as_any())?.hand_out(py)?;
    Ok(Some((result, Some(data))))
}

impl Machine for Collect {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.handlers = Some(self.registry.get().snapshot(py, self.event.bind(py))?);
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        if is_expired(&value)? {
            self.tell(py, Level::Warning, "timed out", None);
        } else {
            self.take(&value)?;
        }
        self.run(py)
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        self.skip(py, error)?;
        self.run(py)
    }
}
