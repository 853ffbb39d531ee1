//! The handlers of an event, as they are called one after another.

use std::time::Duration;

use amplifier_core::hook::{Policy, Registration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};

use crate::kernel::timeout::TimeLimit;
use crate::module::module;
use crate::traverse::traverse;

/// The entries of one handler in a snapshot: itself, its name, its policy.
///
/// They follow each other in one tuple: a tuple for each handler would be one object more to follow
/// at every call.
const PLACES: usize = 3;

/// A walk through a snapshot.
///
/// The snapshot is one immutable tuple, so that a registry and every emit in progress share it by
/// one reference each, which the collector can follow from each of its owners.
pub(crate) struct Handlers {
    snapshot: Py<PyTuple>,
    next: usize,
    /// Whether only observers are called from now on.
    is_judged: bool,
}

traverse!(Handlers: snapshot);

impl Handlers {
    pub(crate) fn new(snapshot: Py<PyTuple>) -> Self {
        Self {
            snapshot,
            next: 0,
            is_judged: false,
        }
    }

    pub(crate) fn is_empty(&self, py: Python<'_>) -> bool {
        self.snapshot.bind(py).is_empty()
    }

    /// The next handler to call.
    pub(crate) fn advance<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        while self.next < self.snapshot.bind(py).len() {
            self.next += PLACES;
            if !self.is_judged || self.observes(py)? {
                return self.place(py, 0).map(Some);
            }
        }
        Ok(None)
    }

    /// Passes over what could still judge: the event is denied.
    pub(crate) fn judged(&mut self) {
        self.is_judged = true;
    }

    /// Whether the handler called last only observes.
    pub(crate) fn observes(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.place(py, 2)?.is_instance_of::<PyBool>())
    }

    /// The name of the handler called last.
    pub(crate) fn name(&self, py: Python<'_>) -> String {
        let name = self.place(py, 1);
        name.and_then(|name| name.extract()).unwrap_or_default()
    }

    /// The handler called last on an event, for messages.
    pub(crate) fn described(&self, py: Python<'_>, event: &Bound<'_, PyString>) -> String {
        format!("hook `{}` on `{}`", self.name(py), event.to_string_lossy())
    }

    /// Logs an answer of the handler called last of which a part has no effect; returns the denial
    /// of a judged event in a strict session.
    pub(crate) fn denial_of_mistake(
        &self,
        registry: &Bound<'_, PyAny>,
        event: &Bound<'_, PyString>,
        result: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let judge = intern!(registry.py(), "judge_mistake");
        let denial = self.report_mistake(judge, registry, event, result)?;
        Ok((!denial.is_none()).then(|| denial.unbind()))
    }

    /// Logs an answer of the handler called last of which a part has no effect.
    pub(crate) fn warn_of_mistake(
        &self,
        registry: &Bound<'_, PyAny>,
        event: &Bound<'_, PyString>,
        result: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let warn = intern!(registry.py(), "warn_of_mistake");
        self.report_mistake(warn, registry, event, result).map(drop)
    }

    fn report_mistake<'py>(
        &self,
        report: &Bound<'py, PyString>,
        registry: &Bound<'py, PyAny>,
        event: &Bound<'py, PyString>,
        result: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = registry.py();
        let mistakes = module(py, intern!(py, "amplifier_core._kernel.answer_mistakes"))?;
        let (name, handler) = (self.place(py, 1)?, self.place(py, 0)?);
        mistakes.call_method1(report, (registry, event, name, handler, result))
    }

    /// Whether a failure of the handler called last denies.
    pub(crate) fn fails_closed(&self, py: Python<'_>) -> PyResult<bool> {
        match self.policy(py)? {
            Some(policy) => policy.get_item(0)?.extract(),
            None => Ok(false),
        }
    }

    /// The time limit of the handler called last.
    pub(crate) fn time_limit(&self, py: Python<'_>) -> PyResult<TimeLimit> {
        match self.policy(py)? {
            Some(policy) => policy.get_item(1)?.extract(),
            None => Ok(TimeLimit::NONE),
        }
    }

    /// The entry `offset` places after the handler called last.
    fn place<'py>(&self, py: Python<'py>, offset: usize) -> PyResult<Bound<'py, PyAny>> {
        let snapshot = self.snapshot.bind(py);
        snapshot.get_item((self.next + offset).saturating_sub(PLACES))
    }

    /// The policy of the handler called last, unless it is the usual one.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        Ok(self.place(py, 2)?.cast_into::<PyTuple>().ok())
    }
}

/// One registration on its way into a snapshot.
pub(crate) struct Entry {
    handler: Py<PyAny>,
    name: String,
    /// None for an observer, which has none.
    policy: Option<Policy>,
}

impl Entry {
    pub(crate) fn of(py: Python<'_>, registration: &Registration<Py<PyAny>>) -> Self {
        Self {
            handler: registration.handler.clone_ref(py),
            name: registration.name.clone(),
            policy: Some(registration.policy),
        }
    }

    /// The entry of a handler with the usual policy.
    pub(crate) fn usual(handler: Py<PyAny>, name: String) -> Self {
        Self {
            handler,
            name,
            policy: Some(Policy::default()),
        }
    }

    pub(crate) fn of_observer(py: Python<'_>, registration: &Registration<Py<PyAny>>) -> Self {
        Self {
            policy: None,
            ..Self::of(py, registration)
        }
    }
}

/// The snapshot of these registrations.
pub(crate) fn snapshot(py: Python<'_>, entries: Vec<Entry>) -> PyResult<Bound<'_, PyTuple>> {
    let mut places = Vec::with_capacity(entries.len() * PLACES);
    for entry in entries {
        places.push(entry.handler.into_bound(py));
        places.push(PyString::new(py, &entry.name).into_any());
        places.push(match entry.policy {
            None => PyBool::new(py, true).to_owned().into_any(),
            // The usual policy is None: nothing has to be unpacked to know it.
            Some(policy) if policy == Policy::default() => py.None().into_bound(py),
            Some(policy) => {
                let seconds = policy.timeout.map(|limit| limit.as_secs_f64());
                (policy.fails_closed, seconds).into_pyobject(py)?.into_any()
            }
        });
    }
    PyTuple::new(py, places)
}

/// The policy that a registration asks for.
pub(crate) fn policy(fails_closed: bool, timeout: TimeLimit) -> Policy {
    let timeout = timeout
        .get()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Policy {
        fails_closed,
        timeout,
    }
}
