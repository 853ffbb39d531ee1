//! Whether a file was only opened, and not changed.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat, openat};
use rustix::io::Result;

use crate::attributes::{read_own, read_own_in_layer};
use crate::moment::Moment;
use crate::place::Place;
use crate::plan::PathType;
use crate::tree::{Tree, stat_in};

/// Whether a file of a project is in the layer only because a command opened it for writing.
pub(crate) fn is_same_file((project, layer): (&Tree, &Tree), place: &Place) -> Result<bool> {
    let (below, name) = project.open_parent(place)?;
    let (above, _) = layer.open_parent(place)?;
    let (Some(before), Some(after)) = (stat_in(&below, name)?, stat_in(&above, name)?) else {
        return Ok(false);
    };
    let is_file = |stat| PathType::of_stat(stat) == Some(PathType::File);
    if !is_file(&before) || describe(&before) != describe(&after) {
        return Ok(false);
    }
    // A file that cannot be read is committed: its content may be another one.
    let (Ok(one), Ok(other)) = (open(&below, name), open(&above, name)) else {
        return Ok(false);
    };
    let attributes = read_own(below.as_fd(), name)?;
    Ok(attributes == read_own_in_layer(above.as_fd(), name)? && have_same_bytes(one, other))
}

fn describe(stat: &Stat) -> (u32, i64, Moment, u32, u32) {
    let modified = Moment::modified(stat);
    (
        stat.st_mode,
        stat.st_size,
        modified,
        stat.st_uid,
        stat.st_gid,
    )
}

fn open(folder: &OwnedFd, name: &[u8]) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?.into())
}

fn have_same_bytes(mut one: File, mut other: File) -> bool {
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let Ok(length) = one.read(&mut left) else {
            return false;
        };
        if length == 0 {
            return matches!(other.read(&mut right), Ok(0));
        }
        if other.read_exact(&mut right[..length]).is_err() || left[..length] != right[..length] {
            return false;
        }
    }
}
