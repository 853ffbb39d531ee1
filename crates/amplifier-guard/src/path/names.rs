//! Names in open folders: opened, made, changed and removed, none through a link.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
mod windows_calls;

#[cfg(unix)]
pub(super) use unix::*;
#[cfg(windows)]
pub use windows_calls::{WindowsCalls, provide_windows_calls};
#[cfg(windows)]
pub(super) use {windows::*, windows_calls::calls};
