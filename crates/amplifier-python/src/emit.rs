//! One emitted event on its way through the handlers.

use amplifier_core::hook::{Answer, Decision, Dispatch, Flow};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::awaitable::is_awaitable;
use crate::drive::{Machine, Next};
use crate::hook::RustHookRegistry;
use crate::hook_result;
use crate::payload::Payload;
use crate::report::{Level, Logger, is_own_failure, log};

/// The handlers of an event as one immutable tuple: handler, name, handler, name, …
pub(crate) struct Handlers {
    pairs: Py<PyTuple>,
    next: usize,
}

impl Handlers {
    pub(crate) fn new(pairs: Py<PyTuple>) -> Self {
        Self { pairs, next: 0 }
    }

    pub(crate) fn is_empty(&self, py: Python<'_>) -> bool {
        self.pairs.bind(py).is_empty()
    }

    /// The next handler to call.
    pub(crate) fn advance<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let pairs = self.pairs.bind(py);
        if self.next >= pairs.len() {
            return Ok(None);
        }
        self.next += 2;
        pairs.get_item(self.next - 2).map(Some)
    }

    /// The name of the handler called last.
    pub(crate) fn name(&self, py: Python<'_>) -> String {
        self.pairs
            .bind(py)
            .get_item(self.next.saturating_sub(1))
            .and_then(|name| name.extract())
            .unwrap_or_default()
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.pairs)
    }
}

/// The data of an event before its first handler is called.
pub(crate) enum Entry {
    /// In the form that handlers get.
    Ready(Payload),
    /// The caller's own, as there was no handler when `emit` was called.
    Raw(Py<PyAny>),
}

/// The machine of `emit`.
pub(crate) struct Emit {
    registry: Py<RustHookRegistry>,
    event: Py<PyString>,
    entry: Option<Entry>,
    handlers: Option<Handlers>,
    dispatch: Option<Dispatch<Py<PyAny>, Payload>>,
}

impl Emit {
    pub(crate) fn new(registry: Py<RustHookRegistry>, event: Py<PyString>, entry: Entry) -> Self {
        Self {
            registry,
            event,
            entry: Some(entry),
            handlers: None,
            dispatch: None,
        }
    }

    /// Calls handlers until one has to be awaited or none is left.
    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        loop {
            let (Some(handlers), Some(dispatch)) = (&mut self.handlers, &self.dispatch) else {
                return Err(crate::drive::Step::misused());
            };
            let Some(handler) = handlers.advance(py)? else {
                return self.finish(py);
            };
            let data = dispatch.data().hand_out(py)?;
            match handler.call1((self.event.bind(py), data)) {
                Ok(value) if value.is_none() => {}
                Ok(value) => {
                    if is_awaitable(&value)? {
                        return Ok(Next::Await(value));
                    }
                    if self.accept(&value)? == Flow::Stop {
                        return self.finish(py);
                    }
                }
                Err(error) => self.skip(py, error)?,
            }
        }
    }

    /// Judges what a handler answered.
    fn accept(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Flow> {
        let (Some(handlers), Some(dispatch)) = (&self.handlers, &mut self.dispatch) else {
            return Err(crate::drive::Step::misused());
        };
        if value.is_none() {
            return Ok(Flow::Next);
        }
        let py = value.py();
        let answer = match hook_result::read(value, dispatch.data()) {
            Ok(Answer::Continue) => return Ok(Flow::Next),
            Ok(answer) => answer,
            Err(error) => {
                let message = format!(
                    "SECURITY: hook `{}` answered `{}` with an invalid response; denying",
                    handlers.name(py),
                    self.event.bind(py).to_string_lossy(),
                );
                log(py, Logger::Hooks, Level::Error, &message, Some(&error));
                Answer::Deny(
                    hook_result::denying(py, "Hook handler returned invalid response")?.unbind(),
                )
            }
        };
        let event = self.event.bind(py).to_string_lossy();
        Ok(dispatch.accept(&event, &handlers.name(py), answer))
    }

    /// Goes on after a handler that failed; what is not its own failure is raised.
    fn skip(&self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if !is_own_failure(py, &error) {
            return Err(error);
        }
        let name = self
            .handlers
            .as_ref()
            .map(|handlers| handlers.name(py))
            .unwrap_or_default();
        let event = self.event.bind(py).to_string_lossy();
        let message = format!("hook `{name}` failed on `{event}`; continuing");
        log(py, Logger::Hooks, Level::Error, &message, Some(&error));
        Ok(())
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let Some(dispatch) = self.dispatch.take() else {
            return Err(crate::drive::Step::misused());
        };
        let (decision, payload) = dispatch.finish();
        Ok(Next::Return(match decision {
            Decision::Continue => hook_result::continuing(py, payload.result(py).as_any())?,
            Decision::Deny(result) | Decision::Ask(result) => result.into_bound(py),
            Decision::Inject(injection) => hook_result::injecting(py, &injection)?,
        }))
    }
}

impl Machine for Emit {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let registry = self.registry.get();
        let handlers = registry.snapshot(py, self.event.bind(py))?;
        let payload = match self.entry.take() {
            Some(Entry::Ready(payload)) => payload,
            Some(Entry::Raw(data)) if handlers.is_empty(py) => {
                return Ok(Next::Return(RustHookRegistry::unhandled(data.bind(py))?));
            }
            Some(Entry::Raw(data)) => registry.payload(data.bind(py))?,
            None => return Err(crate::drive::Step::misused()),
        };
        self.handlers = Some(handlers);
        self.dispatch = Some(Dispatch::new(payload));
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        if self.accept(&value)? == Flow::Stop {
            self.finish(py)
        } else {
            self.run(py)
        }
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        self.skip(py, error)?;
        self.run(py)
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.registry)?;
        visit.call(&self.event)?;
        match &self.entry {
            Some(Entry::Ready(payload)) => payload.traverse(visit)?,
            Some(Entry::Raw(data)) => visit.call(data)?,
            None => {}
        }
        if let Some(handlers) = &self.handlers {
            handlers.traverse(visit)?;
        }
        if let Some(dispatch) = &self.dispatch {
            dispatch.data().traverse(visit)?;
            dispatch.held().try_for_each(|result| visit.call(result))?;
        }
        Ok(())
    }
}
