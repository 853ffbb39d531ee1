//! Calls of Windows that this crate has no safe way to make.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

static CALLS: OnceLock<&'static dyn WindowsCalls> = OnceLock::new();

/// Calls about files; the paths are absolute, in the form that Windows takes as it is.
pub trait WindowsCalls: Send + Sync {
    /// Gives the file `new` the owner, the access list and the attributes of the file `old`.
    fn copy_access(&self, old: &Path, new: &Path) -> io::Result<()>;

    /// Puts the file `new` in the place of the file `old`, which gets the name `aside`, as
    /// `ReplaceFileW` does without flags.
    fn replace(&self, old: &Path, new: &Path, aside: &Path) -> io::Result<()>;

    /// Gives a file another name, but never that of another file.
    fn rename(&self, old: &Path, new: &Path) -> io::Result<()>;
}

/// Has all files written by these calls; only the first ones given count.
pub fn provide_windows_calls(calls: &'static dyn WindowsCalls) {
    let _ = CALLS.set(calls);
}

pub(in crate::path) fn calls() -> io::Result<&'static dyn WindowsCalls> {
    let calls = CALLS.get().copied();
    calls.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "no calls of Windows are provided",
        )
    })
}
