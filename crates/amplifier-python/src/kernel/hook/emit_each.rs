//! Several events, emitted one after another.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::kernel::drive::{Machine, Next};
use crate::kernel::hook::emit::Emit;
use crate::kernel::hook::registry::RustHookRegistry;
use crate::traverse::traverse;

/// An event that is yet to be emitted.
struct Pending {
    event: Py<PyString>,
    data: Py<PyAny>,
}

traverse!(Pending: event, data);

/// The machine of `emit_each`.
pub(crate) struct EmitEach {
    registry: Py<RustHookRegistry>,
    /// The last one comes first.
    pending: Vec<Pending>,
    /// The event in progress, unless a subclass emits it.
    emit: Option<Emit>,
}

traverse!(EmitEach: registry, pending, emit);

impl EmitEach {
    pub(crate) fn new(
        registry: Py<RustHookRegistry>,
        events: Vec<(Bound<'_, PyString>, Bound<'_, PyAny>)>,
    ) -> Self {
        let pending = |(event, data): (Bound<'_, PyString>, Bound<'_, PyAny>)| Pending {
            event: event.unbind(),
            data: data.unbind(),
        };
        Self {
            registry,
            pending: events.into_iter().rev().map(pending).collect(),
            emit: None,
        }
    }

    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let registry = self.registry.clone_ref(py).into_bound(py);
        let is_own = RustHookRegistry::emits_itself(&registry)?;
        while let Some(Pending { event, data }) = self.pending.pop() {
            let (event, data) = (event.bind(py), data.bind(py));
            if !is_own {
                let emitted = registry.call_method1(intern!(py, "emit"), (event, data))?;
                return Ok(Next::Await(emitted));
            }
            let mut emit = Emit::unasked(&registry, event, data)?;
            if let Next::Await(awaitable) = emit.start(py)? {
                self.emit = Some(emit);
                return Ok(Next::Await(awaitable));
            }
        }
        Ok(Next::Return(py.None().into_bound(py)))
    }

    /// Goes on with the event in progress, if it has more to await, or with the next one.
    fn go_on<'py>(
        &mut self,
        py: Python<'py>,
        step: impl FnOnce(&mut Emit) -> PyResult<Next<'py>>,
    ) -> PyResult<Next<'py>> {
        if let Some(mut emit) = self.emit.take()
            && let Next::Await(awaitable) = step(&mut emit)?
        {
            self.emit = Some(emit);
            return Ok(Next::Await(awaitable));
        }
        self.run(py)
    }
}

impl Machine for EmitEach {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        self.go_on(value.py(), |emit| emit.returned(value))
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        if self.emit.is_none() {
            return Err(error);
        }
        self.go_on(py, |emit| emit.raised(py, error))
    }
}
