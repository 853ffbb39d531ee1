//! What a file has besides its content, on a file that is to replace it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::copy_attributes;
#[cfg(windows)]
pub(super) use windows::copy_attributes;
