//! Opening one name in an open folder, no link followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use cap_std::fs::Dir;
#[cfg(unix)]
use rustix::fs::{Mode, OFlags, openat};

/// Opens one name, which leads nowhere else, as no link is followed.
#[cfg(unix)]
fn open_name(directory: &Dir, name: &OsStr, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::empty())?.into())
}

#[cfg(unix)]
pub(super) fn open_file(directory: &Dir, name: &OsStr) -> io::Result<File> {
    open_name(directory, name, OFlags::NONBLOCK | OFlags::NOCTTY)
}

#[cfg(unix)]
pub(super) fn open_folder(directory: &Dir, name: &OsStr) -> io::Result<Dir> {
    Ok(Dir::from_std_file(open_name(
        directory,
        name,
        OFlags::DIRECTORY,
    )?))
}

#[cfg(not(unix))]
pub(super) fn open_file(directory: &Dir, name: &OsStr) -> io::Result<File> {
    Ok(directory.open_with(name, &super::reading())?.into_std())
}

#[cfg(not(unix))]
pub(super) fn open_folder(directory: &Dir, name: &OsStr) -> io::Result<Dir> {
    directory.open_dir(name)
}
