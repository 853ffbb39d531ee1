//! A name in an open folder as a path, for calls that take no folder.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns a path that leads to a name in an open folder wherever that is moved.
///
/// Without a name it is a link to what is open, which only calls that follow links get through.
pub(crate) fn name_in(folder: BorrowedFd<'_>, name: &[u8]) -> PathBuf {
    let mut path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    if !name.is_empty() {
        path.push(OsStr::from_bytes(name));
    }
    path
}
