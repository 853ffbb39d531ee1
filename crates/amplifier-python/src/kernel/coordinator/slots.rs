//! The slots of a coordinator: what is mounted in them, looked up, and removed.

use amplifier_core::coordinator::{MountTarget, Slot, SlotKind, mount_target, unmount_target};
use amplifier_core::error::MountError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Error;
use crate::kernel::coordinator::mounted::{Mounted, key, named};

impl Mounted {
    /// Mounts a module in the slot of this name.
    pub(crate) fn mount(
        &self,
        module: &Bound<'_, PyAny>,
        mount_point: &str,
        name: Option<&str>,
    ) -> Result<(), Error> {
        let py = module.py();
        let slot = Slot::parse(mount_point)?;
        let own_name = || -> Result<_, Error> {
            match module.getattr_opt(intern!(py, "name"))? {
                Some(name) if !name.is_none() => {
                    Ok(Some(named(py, "name", name.extract::<String>())?))
                }
                _ => Ok(None),
            }
        };
        match mount_target(slot, name.map(str::to_owned), own_name)? {
            MountTarget::Slot => self.points(py).set_item(key(py, slot), module)?,
            MountTarget::Entry(name) => self.modules(py, slot)?.set_item(name, module)?,
        }
        Ok(())
    }

    /// Removes what is mounted, if it is.
    pub(crate) fn unmount(
        &self,
        py: Python<'_>,
        mount_point: &str,
        name: Option<&str>,
    ) -> Result<(), Error> {
        let slot = Slot::parse(mount_point)?;
        match unmount_target(slot, name)? {
            None => {}
            Some(MountTarget::Slot) => self.points(py).set_item(key(py, slot), py.None())?,
            Some(MountTarget::Entry(name)) => {
                let modules = self.modules(py, slot)?;
                if modules.contains(name)? {
                    modules.del_item(name)?;
                }
            }
        }
        Ok(())
    }

    /// A slot, or one module of a named slot; None where nothing is mounted.
    pub(crate) fn get_mounted<'py>(
        &self,
        py: Python<'py>,
        mount_point: &str,
        name: Option<&str>,
    ) -> Result<Bound<'py, PyAny>, Error> {
        let slot = Slot::parse(mount_point)?;
        match (slot.kind(), name) {
            (SlotKind::Named, Some(name)) => {
                let found = self.modules(py, slot)?.get_item(name)?;
                Ok(found.unwrap_or_else(|| py.None().into_bound(py)))
            }
            (SlotKind::Single | SlotKind::Named | SlotKind::Registry, _) => {
                Ok(self.slot(py, slot)?)
            }
        }
    }

    /// The mounted modules by slot.
    fn points<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.state().mount_points.bind(py).clone()
    }

    /// The contents of a slot, which Python code may have replaced.
    pub(crate) fn slot<'py>(&self, py: Python<'py>, slot: Slot) -> PyResult<Bound<'py, PyAny>> {
        let found = self.points(py).get_item(key(py, slot))?;
        Ok(found.unwrap_or_else(|| py.None().into_bound(py)))
    }

    /// The modules of a named slot by name, which Python code may have replaced.
    pub(crate) fn modules<'py>(&self, py: Python<'py>, slot: Slot) -> PyResult<Bound<'py, PyDict>> {
        match self.points(py).get_item(key(py, slot))? {
            Some(modules) => {
                let modules = modules.cast_into::<PyDict>().map_err(PyErr::from);
                named(py, &format!("mount_points.{}", slot.as_str()), modules)
            }
            None => Err(Error::from(MountError::UnknownPoint(slot.as_str().to_owned())).into()),
        }
    }

    /// The mounted context, or None.
    pub(crate) fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.slot(py, Slot::Context)
    }
}
