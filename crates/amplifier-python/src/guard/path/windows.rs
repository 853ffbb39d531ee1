//! Calls of Windows, made in Python.

use std::io;
use std::path::Path;

use amplifier_guard::WindowsCalls;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The functions of `amplifier_guard.windows_files`.
pub(crate) struct PythonCalls;

impl WindowsCalls for PythonCalls {
    fn copy_access(&self, old: &Path, new: &Path) -> io::Result<()> {
        call("copy_access", &[old, new])
    }

    fn replace(&self, old: &Path, new: &Path, aside: &Path) -> io::Result<()> {
        call("replace_file", &[old, new, aside])
    }

    fn rename(&self, old: &Path, new: &Path) -> io::Result<()> {
        call("rename_file", &[old, new])
    }
}

fn call(function: &str, paths: &[&Path]) -> io::Result<()> {
    Python::attach(|py| {
        let called = py
            .import("amplifier_guard.windows_files")
            .and_then(|module| {
                let paths = paths.iter().map(|path| path.as_os_str());
                module.call_method1(function, PyTuple::new(py, paths)?)
            });
        called.map(drop).map_err(|error| {
            let number = error.value(py).getattr("winerror");
            match number.and_then(|number| number.extract()) {
                Ok(number) => io::Error::from_raw_os_error(number),
                Err(_) => io::Error::other(error.to_string()),
            }
        })
    })
}
