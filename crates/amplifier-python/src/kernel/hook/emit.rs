//! One emitted event on its way through the handlers.

use amplifier_core::event;
use amplifier_core::hook::{Answer, Decision, Dispatch, Flow};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyTraverseError, PyVisit};

use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next, Step};
use crate::kernel::hook::correlated;
use crate::kernel::hook::handlers::Handlers;
use crate::kernel::hook::registry::RustHookRegistry;
use crate::kernel::hook::result as hook_result;
use crate::kernel::hook::{answer, injection};
use crate::kernel::payload::{Payload, top_level};
use crate::kernel::report::{Level, Logger, is_own_failure, log};
use crate::kernel::timeout::is_expired;
use crate::traverse::{Traverse, traverse};

/// The data of an event before its first handler is called.
pub(crate) enum Incoming {
    /// In the form that handlers get.
    Ready(Payload),
    /// The caller's own, as there was no handler when `emit` was called.
    Raw(Py<PyAny>),
}

impl Traverse for Incoming {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Ready(payload) => payload.traverse(visit),
            Self::Raw(data) => data.traverse(visit),
        }
    }
}

/// The machine of `emit`.
pub(crate) struct Emit {
    registry: Py<RustHookRegistry>,
    event: Py<PyString>,
    incoming: Option<Incoming>,
    handlers: Option<Handlers>,
    dispatch: Option<Dispatch<Py<PyAny>, Payload>>,
    /// Whether anybody wants to know what the handlers decide.
    is_asked: bool,
}

traverse!(Emit: registry, event, incoming, handlers, dispatch);

impl Emit {
    /// Emits an event, and returns what its handlers decide.
    pub(crate) fn asked(
        registry: &Bound<'_, RustHookRegistry>,
        event: &Bound<'_, PyString>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let mut emit = Self::unasked(registry, event, data)?;
        emit.is_asked = true;
        Ok(emit)
    }

    /// The same, but returns None.
    pub(crate) fn unasked(
        registry: &Bound<'_, RustHookRegistry>,
        event: &Bound<'_, PyString>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (py, own) = (registry.py(), registry.get());
        let name = event.to_string_lossy();
        let data = correlated(&name, top_level(data))?;
        if name == event::CANCEL_COMPLETED {
            own.state().cancellations_told += 1;
        }
        own.tell(event, &data)?;
        // Most events have no handler: they need no copy in JSON form, and no time stamp.
        let incoming = if own.snapshot(py, event)?.is_empty(py) {
            Incoming::Raw(data.unbind())
        } else {
            Incoming::Ready(own.payload(&data)?)
        };
        Ok(Self {
            registry: registry.clone().unbind(),
            event: event.clone().unbind(),
            incoming: Some(incoming),
            handlers: None,
            dispatch: None,
            is_asked: false,
        })
    }

    /// Calls handlers until one has to be awaited or none is left.
    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        loop {
            let (Some(handlers), Some(dispatch)) = (&mut self.handlers, &self.dispatch) else {
                return Err(Step::misused());
            };
            let Some(handler) = handlers.advance(py)? else {
                return self.finish(py);
            };
            let data = dispatch.data().hand_out(py)?;
            match handler.call1((self.event.bind(py), data)) {
                // What most handlers answer; it is not judged.
                Ok(value) if value.is_none() => {}
                Ok(value) => {
                    if is_awaitable(&value)? {
                        let what = || handlers.described(py, self.event.bind(py));
                        return handlers.time_limit(py)?.on(value, what).map(Next::Await);
                    }
                    let flow = self.accept(&value)?;
                    self.heed(flow);
                }
                Err(error) => {
                    let flow = self.failed(py, error)?;
                    self.heed(flow);
                }
            }
        }
    }

    /// Lets nothing but observers see a denied event.
    fn heed(&mut self, flow: Flow) {
        if let (Flow::Stop, Some(handlers)) = (flow, &mut self.handlers) {
            handlers.judged();
        }
    }

    /// Judges what a handler answered; an observer's answer is ignored.
    fn accept(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Flow> {
        let (Some(handlers), Some(dispatch)) = (&self.handlers, &mut self.dispatch) else {
            return Err(Step::misused());
        };
        let py = value.py();
        if handlers.observes(py)? {
            return Ok(Flow::Next);
        }
        let answer = match answer::read(value, dispatch.data()) {
            Ok(heard) => {
                let denial = match &heard.mistaken {
                    Some(result) => handlers.denial_of_mistake(
                        self.registry.bind(py).as_any(),
                        self.event.bind(py),
                        result,
                    )?,
                    None => None,
                };
                if let Some(denial) = denial {
                    Answer::Deny(denial)
                } else {
                    if let Some(notice) = heard.notice {
                        dispatch.tell(notice);
                    } else if matches!(heard.answer, Answer::Continue) {
                        return Ok(Flow::Next);
                    }
                    heard.answer
                }
            }
            Err(error) => {
                let message = format!(
                    "SECURITY: hook `{}` returned an invalid response to `{}`; denying",
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
        let name = handlers.name(py);
        if let Answer::Ask(result) = &answer {
            hook_result::note_asker(result.bind(py), &name)?;
        }
        Ok(dispatch.accept(&event, &name, answer))
    }

    /// Judges a handler that raised; what is not its own failure is raised.
    fn failed(&mut self, py: Python<'_>, error: PyErr) -> PyResult<Flow> {
        if !is_own_failure(py, &error) {
            return Err(error);
        }
        self.unanswered(py, "failed", Level::Error, Some(&error))
    }

    /// Skips the handler called last, or denies where its failure does.
    fn unanswered(
        &mut self,
        py: Python<'_>,
        what: &str,
        level: Level,
        error: Option<&PyErr>,
    ) -> PyResult<Flow> {
        let (Some(handlers), Some(dispatch)) = (&self.handlers, &mut self.dispatch) else {
            return Err(Step::misused());
        };
        let (name, event) = (handlers.name(py), self.event.bind(py).to_string_lossy());
        let failure = format!("hook `{name}` {what} on `{event}`");
        if !handlers.fails_closed(py)? {
            log(
                py,
                Logger::Hooks,
                level,
                &format!("{failure}; continuing"),
                error,
            );
            return Ok(Flow::Next);
        }
        let message = format!("SECURITY: {failure}; denying");
        log(py, Logger::Hooks, Level::Error, &message, error);
        let denial = hook_result::denying(py, &failure)?.unbind();
        Ok(dispatch.accept(&event, &name, Answer::Deny(denial)))
    }

    /// Whether the handler called last has a time limit.
    fn is_limited(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.handlers {
            Some(handlers) => Ok(handlers.time_limit(py)?.get().is_some()),
            None => Ok(false),
        }
    }

    fn go_on<'py>(&mut self, py: Python<'py>, flow: Flow) -> PyResult<Next<'py>> {
        self.heed(flow);
        self.run(py)
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let Some(dispatch) = self.dispatch.take() else {
            return Err(Step::misused());
        };
        if !self.is_asked {
            return Ok(Next::Return(py.None().into_bound(py)));
        }
        let outcome = dispatch.finish();
        let carrying = |result: Bound<'py, PyAny>| {
            if outcome.is_modified {
                hook_result::carrying(result, &outcome.data.result(py))
            } else {
                Ok(result)
            }
        };
        Ok(Next::Return(match outcome.decision {
            Decision::Continue => {
                let data = outcome.data.result(py);
                let result = hook_result::continuing(py, data.as_any())?;
                hook_result::saying(result, &outcome.notice)?
            }
            Decision::Deny(result) => result.into_bound(py),
            Decision::Ask(result) => carrying(result.into_bound(py))?,
            Decision::Inject(merged) => {
                let result = carrying(injection::injecting(py, &merged)?)?;
                hook_result::saying(result, &outcome.notice)?
            }
        }))
    }
}

impl Machine for Emit {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let registry = self.registry.get();
        // Not those of the call: handlers may come and go until the coroutine is awaited.
        let handlers = registry.snapshot(py, self.event.bind(py))?;
        let payload = match self.incoming.take() {
            Some(Incoming::Ready(payload)) => payload,
            Some(Incoming::Raw(data)) if handlers.is_empty(py) => {
                return Ok(Next::Return(if self.is_asked {
                    RustHookRegistry::unhandled(data.bind(py))?
                } else {
                    py.None().into_bound(py)
                }));
            }
            Some(Incoming::Raw(data)) => registry.payload(data.bind(py))?,
            None => return Err(Step::misused()),
        };
        self.handlers = Some(handlers);
        self.dispatch = Some(Dispatch::new(payload));
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        if value.is_none() {
            return self.run(py);
        }
        let flow = if self.is_limited(py)? && is_expired(&value)? {
            self.unanswered(py, "timed out", Level::Warning, None)?
        } else {
            self.accept(&value)?
        };
        self.go_on(py, flow)
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        let flow = self.failed(py, error)?;
        self.go_on(py, flow)
    }
}
