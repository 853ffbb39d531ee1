//! What the garbage collector of Python sees of values in Rust.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use amplifier_core::cancellation::Cancellation;
use amplifier_core::hook::{Dispatch, HookRegistry};
use pyo3::{Py, PyTraverseError, PyVisit};

use crate::contents::Contents;

/// A value that may hold Python objects.
pub(crate) trait Traverse {
    /// Visits each Python object in it that could be part of a cycle.
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError>;
}

/// Implements [`Traverse`] for a struct by the list of those of its fields that are to be visited.
macro_rules! traverse {
    ($type:ty: $($field:tt),+ $(,)?) => {
        impl $crate::traverse::Traverse for $type {
            fn traverse(
                &self,
                visit: &pyo3::PyVisit<'_>,
            ) -> Result<(), pyo3::PyTraverseError> {
                $($crate::traverse::Traverse::traverse(&self.$field, visit)?;)+
                Ok(())
            }
        }
    };
}
pub(crate) use traverse;

impl<T> Traverse for Py<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self)
    }
}

impl<T: Traverse> Traverse for Option<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.iter().try_for_each(|value| value.traverse(visit))
    }
}

impl<T: Traverse> Traverse for [T] {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.iter().try_for_each(|value| value.traverse(visit))
    }
}

impl<T: Traverse> Traverse for Vec<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.as_slice().traverse(visit)
    }
}

impl<K, T: Traverse> Traverse for BTreeMap<K, T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.values().try_for_each(|value| value.traverse(visit))
    }
}

impl<K, T: Traverse, S> Traverse for HashMap<K, T, S> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.values().try_for_each(|value| value.traverse(visit))
    }
}

impl<T: Traverse> Traverse for Mutex<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A lock that is taken means that the value is being changed: nothing to collect now. To
        // wait for it could be for ever, as the collector may run in the thread that holds it.
        self.try_lock()
            .map_or(Ok(()), |value| value.traverse(visit))
    }
}

impl<T: Traverse> Traverse for Contents<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.get().map_or(Ok(()), |value| value.traverse(visit))
    }
}

impl<K: Traverse, C: Traverse> Traverse for Cancellation<K, C> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.children().traverse(visit)?;
        self.callbacks().traverse(visit)
    }
}

impl<H: Traverse> Traverse for HookRegistry<H> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut registrations = self
            .events()
            .flat_map(|(_, registrations)| registrations)
            .chain(self.observers());
        registrations.try_for_each(|registration| registration.handler.traverse(visit))
    }
}

impl<R: Traverse, D: Traverse> Traverse for Dispatch<R, D> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.data().traverse(visit)?;
        self.held().try_for_each(|result| result.traverse(visit))
    }
}
