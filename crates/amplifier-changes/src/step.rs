//! What changes a disk, one call each: tests stop before any of them, as a crash would.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Gid, Mode, RenameFlags, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags,
};
use rustix::io::Result;

use crate::moment::Moment;
use crate::name_in::name_in;

#[cfg(test)]
thread_local! {
    /// How many calls are let through; None for all.
    pub(crate) static LEFT: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// Stands before each call that changes a disk.
fn step() {
    #[cfg(test)]
    LEFT.with(|left| match left.get() {
        Some(0) => std::panic::resume_unwind(Box::new("stopped")),
        Some(number) => left.set(Some(number - 1)),
        None => {}
    });
}

pub(crate) fn rename(
    from: (BorrowedFd<'_>, &[u8]),
    to: (BorrowedFd<'_>, &[u8]),
    flags: RenameFlags,
) -> Result<()> {
    step();
    rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)
}

pub(crate) fn remove_file(folder: impl AsFd, name: &[u8]) -> Result<()> {
    step();
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}

pub(crate) fn remove_folder(folder: impl AsFd, name: &[u8]) -> Result<()> {
    step();
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

pub(crate) fn make_folder(folder: impl AsFd, name: &[u8]) -> Result<()> {
    step();
    rustix::fs::mkdirat(folder, name, Mode::RWXU)
}

/// Sets the mode of what is open, also if only its path is.
pub(crate) fn set_mode(file: BorrowedFd<'_>, mode: u32) -> Result<()> {
    step();
    rustix::fs::chmod(magic_link(file), Mode::from_raw_mode(mode & 0o7777))
}

/// Sets the mode of a name that is no link.
pub(crate) fn set_mode_at(folder: BorrowedFd<'_>, name: &[u8], mode: u32) -> Result<()> {
    step();
    let mode = Mode::from_raw_mode(mode & 0o7777);
    rustix::fs::chmodat(folder, name, mode, AtFlags::empty())
}

pub(crate) fn set_owner(file: BorrowedFd<'_>, owner: (u32, u32)) -> Result<()> {
    step();
    let (user, group) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
    rustix::fs::chownat(file, c"", Some(user), Some(group), AtFlags::EMPTY_PATH)
}

pub(crate) fn set_modified_at(folder: BorrowedFd<'_>, name: &[u8], moment: Moment) -> Result<()> {
    step();
    rustix::fs::utimensat(folder, name, &times(moment), AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn set_modified(file: BorrowedFd<'_>, moment: Moment) -> Result<()> {
    step();
    rustix::fs::futimens(file, &times(moment))
}

pub(crate) fn set_attribute(path: &Path, follows: bool, name: &[u8], value: &[u8]) -> Result<()> {
    step();
    if follows {
        rustix::fs::setxattr(path, name, value, XattrFlags::empty())
    } else {
        rustix::fs::lsetxattr(path, name, value, XattrFlags::empty())
    }
}

pub(crate) fn remove_attribute(path: &Path, follows: bool, name: &[u8]) -> Result<()> {
    step();
    if follows {
        rustix::fs::removexattr(path, name)
    } else {
        rustix::fs::lremovexattr(path, name)
    }
}

pub(crate) fn write(mut file: &std::fs::File, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;

    // In halves, so that a test stops with the first half written.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for half in [first, second] {
        step();
        file.write_all(half)?;
    }
    Ok(())
}

pub(crate) fn sync(file: impl AsFd) -> Result<()> {
    step();
    rustix::fs::fsync(file)
}

fn magic_link(file: BorrowedFd<'_>) -> PathBuf {
    name_in(file, b"")
}

fn times(moment: Moment) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: moment.0,
            tv_nsec: i64::from(moment.1),
        },
    }
}
