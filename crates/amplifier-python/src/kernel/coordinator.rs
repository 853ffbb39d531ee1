//! `RustCoordinator`: what Python can ask of a coordinator.

pub(crate) mod cleanup;
pub(crate) mod effects;
pub(crate) mod mounted;
pub(crate) mod slots;

use amplifier_core::coordinator::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyWeakrefMethods, PyWeakrefReference};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::error::Error;
use crate::kernel::cancellation::RustCancellationToken;
use crate::kernel::coordinator::cleanup::Cleanup;
use crate::kernel::coordinator::effects::Effects;
use crate::kernel::coordinator::mounted::{Identity, Mounted, RustCoordinator, named};
use crate::kernel::drive::Driver;
use crate::kernel::hook::registry::RustHookRegistry;
use crate::kernel::sequence::Sequence;
use crate::kernel::session::state::RustSession;
use crate::module::module;
use crate::traverse::Traverse;

static MOUNT: Driver = Driver::new("RustCoordinator.mount");
static UNMOUNT: Driver = Driver::new("RustCoordinator.unmount");
static CLEANUP: Driver = Driver::new("RustCoordinator.cleanup");
static REQUEST_CANCEL: Driver = Driver::new("RustCoordinator.request_cancel");
static PROCESS_HOOK_RESULT: Driver = Driver::new("RustCoordinator.process_hook_result");

/// The same value, if it is a text.
fn text<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let text = value.cast_into::<PyString>().map_err(PyErr::from);
    Ok(named(py, name, text)?.into_any())
}

/// The caller's own text as a key, of which a copy for each session takes 60 bytes.
fn shared_key<'py>(text: &Bound<'py, PyString>, name: &str) -> PyResult<Bound<'py, PyString>> {
    let py = text.py();
    let plain = named(py, name, text.to_str())?;
    Ok(if text.is_exact_instance_of::<PyString>() {
        text.clone()
    } else {
        PyString::new(py, plain)
    })
}

#[pymethods]
impl RustCoordinator {
    #[new]
    #[pyo3(signature = (session=None, approval_system=None, display_system=None))]
    fn new(
        py: Python<'_>,
        session: Option<&Bound<'_, PyAny>>,
        approval_system: Option<&Bound<'_, PyAny>>,
        display_system: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (session_id, parent_id, config) = match session {
            Some(session) => (
                text(session.getattr(intern!(py, "session_id"))?, "session_id")?,
                match session.getattr(intern!(py, "parent_id"))? {
                    none if none.is_none() => none,
                    parent => text(parent, "parent_id")?,
                },
                session.getattr(intern!(py, "config"))?,
            ),
            None => (
                PyString::new(py, "").into_any(),
                py.None().into_bound(py),
                PyDict::new(py).into_any(),
            ),
        };
        let identity = Identity {
            session_id,
            parent_id,
            config,
        };
        let owner = session.map_or_else(|| py.None().into_bound(py), Bound::clone);
        let mounted = Mounted::new(py, identity, Some(&owner), approval_system, display_system)?;
        Ok(Self {
            mounted: Contents::new(mounted),
        })
    }

    /// The id of the session; empty without one.
    #[getter(session_id)]
    fn get_session_id(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.session_id.clone_ref(py)
    }

    /// The id of the parent session, or None.
    #[getter(parent_id)]
    fn get_parent_id(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.parent_id.clone_ref(py)
    }

    /// The session's configuration, the same object and live.
    #[getter(config)]
    fn get_config(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.config.clone_ref(py)
    }

    /// The session, once it is initialised; before and after its life, a namespace with its ids
    /// and configuration.
    #[getter(session)]
    fn get_session<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let session = {
            let state = self.mounted.state();
            state.session.as_ref().map(|session| session.clone_ref(py))
        };
        match session.and_then(|session| session.bind(py).upgrade()) {
            Some(session) => Ok(session),
            None => self.mounted.owner(py),
        }
    }

    /// The hook registry.
    #[getter(hooks)]
    fn get_hooks(&self, py: Python<'_>) -> Py<RustHookRegistry> {
        self.mounted.hooks.clone_ref(py)
    }

    /// The cancellation token.
    #[getter(cancellation)]
    fn get_cancellation<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, RustCancellationToken>> {
        self.mounted.token(py)
    }

    /// The contributors by channel, live.
    #[getter(channels)]
    fn get_channels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.mounted.channels(py)
    }

    /// The clean-up functions, live.
    #[getter(_cleanup_fns)]
    fn get_cleanup_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.mounted.cleanup_functions(py)
    }

    /// Most tokens that hooks may inject in a turn before a warning; None is no limit.
    #[getter]
    fn injection_budget_per_turn(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.mounted
            .session_setting(py, "injection_budget_per_turn")
    }

    /// Most characters of one injection; None is no limit.
    #[getter]
    fn injection_size_limit(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.mounted.session_setting(py, "injection_size_limit")
    }

    /// The mounted modules by slot, live.
    #[getter(mount_points)]
    fn get_mount_points(&self, py: Python<'_>) -> Py<PyDict> {
        self.mounted.state().mount_points.clone_ref(py)
    }

    #[setter(mount_points)]
    fn set_mount_points(&self, mount_points: Py<PyDict>) {
        self.mounted
            .put(mount_points, |state| &mut state.mount_points);
    }

    /// The module loader, or None until the session is initialised.
    #[getter(loader)]
    fn get_loader(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.state().loader.clone_ref(py)
    }

    #[setter(loader)]
    fn set_loader(&self, value: Py<PyAny>) {
        self.mounted.put(value, |state| &mut state.loader);
    }

    /// What asks the user for approvals, or None.
    #[getter(approval_system)]
    fn get_approval_system(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.state().approval_system.clone_ref(py)
    }

    #[setter(approval_system)]
    fn set_approval_system(&self, value: Py<PyAny>) {
        self.mounted.put(value, |state| &mut state.approval_system);
    }

    /// What shows messages to the user, or None.
    #[getter(display_system)]
    fn get_display_system(&self, py: Python<'_>) -> Py<PyAny> {
        self.mounted.state().display_system.clone_ref(py)
    }

    #[setter(display_system)]
    fn set_display_system(&self, value: Py<PyAny>) {
        self.mounted.put(value, |state| &mut state.display_system);
    }

    /// A dict that modules can share anything in.
    #[getter(session_state)]
    fn get_session_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.mounted.shared(py)
    }

    #[setter(session_state)]
    fn set_session_state(&self, session_state: Py<PyDict>) {
        self.mounted
            .put(Some(session_state), |state| &mut state.shared);
    }

    /// The tokens that hooks have injected in this turn.
    #[getter(_current_turn_injections)]
    fn get_current_turn_injections(&self) -> i64 {
        self.mounted.turn_injections()
    }

    #[setter(_current_turn_injections)]
    fn set_current_turn_injections(&self, tokens: i64) {
        self.mounted.set_turn_injections(tokens);
    }

    fn _set_session(&self, session: &Bound<'_, PyAny>) -> PyResult<()> {
        if session.is_instance_of::<RustSession>() {
            let reference = PyWeakrefReference::new(session)?.unbind();
            self.mounted
                .put(Some(reference), |state| &mut state.session);
        } else {
            self.mounted.put(None, |state| &mut state.session);
            self.mounted
                .put(Some(session.clone().unbind()), |state| &mut state.owner);
        }
        Ok(())
    }

    /// Mount a module at once; what is returned must be awaited.
    ///
    /// Without `await` this coordinator has mounted the module, and Python warns that the coroutine
    /// was never awaited; others, such as `MockCoordinator`, mount nothing.
    #[pyo3(signature = (mount_point, module, name=None))]
    fn mount<'py>(
        &self,
        py: Python<'py>,
        mount_point: &str,
        module: &Bound<'py, PyAny>,
        name: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.mounted.mount(module, mount_point, name)?;
        MOUNT.completed(py)
    }

    /// Remove a module at once; what is returned may be awaited. A missing one is ignored.
    #[pyo3(signature = (mount_point, name=None))]
    fn unmount<'py>(
        &self,
        py: Python<'py>,
        mount_point: &str,
        name: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.mounted.unmount(py, mount_point, name)?;
        UNMOUNT.completed(py)
    }

    /// Look up a slot, or one module of a named slot; None where nothing is mounted.
    #[pyo3(signature = (mount_point, name=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        mount_point: &str,
        name: Option<&str>,
    ) -> Result<Bound<'py, PyAny>, Error> {
        self.mounted.get_mounted(py, mount_point, name)
    }

    /// Offer a value to other modules under a name, in the place of one of that name.
    fn register_capability(
        &self,
        name: &Bound<'_, PyString>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let capabilities = self.mounted.capabilities(name.py())?;
        capabilities.set_item(shared_key(name, "name")?, value)
    }

    /// The value offered under a name, or None.
    fn get_capability<'py>(
        &self,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.mounted.capabilities_so_far(name.py()) {
            Some(capabilities) => capabilities.get_item(shared_key(name, "name")?),
            None => Ok(None),
        }
    }

    /// Run a function, plain or async, at clean-up; what cannot be called is ignored.
    fn register_cleanup(&self, cleanup_fn: &Bound<'_, PyAny>) -> PyResult<()> {
        if cleanup_fn.is_callable() {
            self.mounted
                .cleanup_functions(cleanup_fn.py())?
                .append(cleanup_fn)?;
        }
        Ok(())
    }

    /// Run every clean-up function once, the last registered first.
    fn cleanup<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let functions = Cleanup(self.mounted.cleanup_functions(py)?.unbind());
        CLEANUP.run(py, Sequence::new(functions))
    }

    /// Contribute to a channel: the callback, plain or async, is asked at each collection.
    fn register_contributor(
        &self,
        channel: &Bound<'_, PyString>,
        name: &Bound<'_, PyString>,
        callback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = channel.py();
        let channel = shared_key(channel, "channel")?;
        let entry = PyDict::new(py);
        entry.set_item(intern!(py, "name"), shared_key(name, "name")?)?;
        entry.set_item(intern!(py, "callback"), callback)?;
        let channels = self.mounted.channels(py)?;
        match channels.get_item(&channel)? {
            Some(entries) => entries
                .call_method1(intern!(py, "append"), (entry,))
                .map(drop),
            None => channels.set_item(channel, PyList::new(py, [entry])?),
        }
    }

    /// Ask every contributor of a channel and return their contributions as a list.
    fn collect_contributions<'py>(
        &self,
        py: Python<'py>,
        channel: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let coroutine = module(py, intern!(py, "amplifier_core._collect_helper"))?.call_method1(
            "collect_contributions",
            (self.mounted.channels(py)?, channel),
        )?;
        coroutine.setattr("__qualname__", "RustCoordinator.collect_contributions")?;
        Ok(coroutine)
    }

    /// Request cancellation at once; what is returned may be awaited.
    #[pyo3(signature = (immediate=false))]
    fn request_cancel<'py>(&self, py: Python<'py>, immediate: bool) -> PyResult<Bound<'py, PyAny>> {
        let level = if immediate {
            "request_immediate"
        } else {
            "request_graceful"
        };
        self.mounted.token(py)?.call_method0(level)?;
        REQUEST_CANCEL.completed(py)
    }

    /// Begin a turn: nothing is injected yet.
    fn reset_turn(&self) {
        self.mounted.set_turn_injections(0);
    }

    /// Carry out what a hook's result asks for, and return what is left to the loop.
    #[pyo3(signature = (result, event, hook_name="unknown"))]
    fn process_hook_result<'py>(
        slf: &Bound<'py, Self>,
        result: Py<PyAny>,
        event: &str,
        hook_name: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let machine = Effects::new(slf.clone().unbind(), result, event, hook_name);
        PROCESS_HOOK_RESULT.run(py, machine)
    }

    /// Describe what is mounted, as plain data.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let described = PyDict::new(py);
        described.set_item("tools", self.mounted.modules(py, Slot::Tools)?.keys())?;
        let providers = self.mounted.modules(py, Slot::Providers)?;
        described.set_item("providers", providers.keys())?;
        let orchestrator = self.mounted.slot(py, Slot::Orchestrator)?;
        described.set_item("has_orchestrator", !orchestrator.is_none())?;
        described.set_item("has_context", !self.mounted.context(py)?.is_none())?;
        described.set_item("capabilities", self.mounted.capabilities(py)?.keys())?;
        described.set_item(
            "has_approval_provider",
            !self.mounted.approval(py).is_none(),
        )?;
        described.set_item("has_display_service", !self.mounted.display(py).is_none())?;
        Ok(described)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let name = slf.get_type().name()?;
        Ok(format!(
            "<{name}: session {}>",
            slf.get().mounted.session_id.bind(py).repr()?
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }
}
