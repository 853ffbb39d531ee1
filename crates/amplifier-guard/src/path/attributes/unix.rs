//! The owner, the group, the mode, extended attributes and access lists.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use cap_std::fs::File;
use rustix::fs::{
    Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr,
};
use rustix::io::Errno;

use crate::path::error::{PathError, shown};

/// As much as Linux takes of the names of all attributes, and of the value of one.
const MAX_ATTRIBUTE_BYTES: usize = 1 << 16;

/// Set by macOS on whatever a program makes; a program can neither set nor remove it.
const SET_BY_THE_SYSTEM: &CStr = c"com.apple.provenance";

const MODE_BITS: u32 = 0o7777;

/// Gives `new` the owner, group, extended attributes, access lists and mode of `old`.
///
/// `new` must have its content: writing takes away capabilities and the bits that change the user.
pub(in crate::path) fn copy_attributes(
    path: &Path,
    old: &File,
    new: &std::fs::File,
) -> Result<(), PathError> {
    let refuse = |what: String, source: io::Error| {
        let path = shown(path);
        PathError::NotKept { path, what, source }
    };
    let unread = |error: io::Error| refuse("its attributes".to_owned(), error);
    let wanted = as_std(old).and_then(|old| old.metadata()).map_err(unread)?;
    let found = new.metadata().map_err(unread)?;
    if wanted.uid() != found.uid() {
        fchown(new, Some(Uid::from_raw(wanted.uid())), None)
            .map_err(|error| refuse(format!("its owner (user {})", wanted.uid()), error.into()))?;
    }
    if wanted.gid() != found.gid() {
        fchown(new, None, Some(Gid::from_raw(wanted.gid())))
            .map_err(|error| refuse(format!("its group ({})", wanted.gid()), error.into()))?;
    }
    copy_extended(old, new).map_err(|(name, error)| {
        let name = name.to_string_lossy();
        refuse(format!("its attribute `{name}`"), error.into())
    })?;
    // After the access lists, which share some of its bits, and the owner, whose change clears some.
    let mode = wanted.permissions().mode() & MODE_BITS;
    let set = fchmod(new, Mode::from_raw_mode(mode as rustix::fs::RawMode));
    let keeps_mode = set.map_err(io::Error::from).and_then(|()| {
        // A bit for a group that the user is not in is dropped without a word.
        let found = new.metadata()?.permissions().mode() & MODE_BITS;
        if found == mode {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    });
    keeps_mode.map_err(|error| refuse(format!("its mode ({mode:04o})"), error))
}

/// Gives `new` the extended attributes of `old` and no others; POSIX access lists are among them.
///
/// On failure the attribute, an empty one for all.
fn copy_extended(old: &File, new: &std::fs::File) -> Result<(), (CString, Errno)> {
    let wanted = attribute_names(old).map_err(|error| (CString::default(), error))?;
    let found = attribute_names(new).map_err(|error| (CString::default(), error))?;
    for name in found.iter().filter(|name| !wanted.contains(name)) {
        // A folder can have access lists that every new file gets.
        fremovexattr(new, name.as_c_str()).map_err(|error| (name.clone(), error))?;
    }
    for name in wanted {
        let copied = attribute(old, &name).and_then(|value| {
            // What the system sets by itself may not be set, and need not.
            if attribute(new, &name).is_ok_and(|found| found == value) {
                return Ok(());
            }
            fsetxattr(new, name.as_c_str(), &value, XattrFlags::empty())
        });
        copied.map_err(|error| (name, error))?;
    }
    Ok(())
}

/// The names of the extended attributes; none where the file system has none.
fn attribute_names(file: impl std::os::fd::AsFd) -> Result<Vec<CString>, Errno> {
    let mut names = vec![0u8; MAX_ATTRIBUTE_BYTES];
    let length = match flistxattr(file, &mut names[..]) {
        Err(Errno::NOTSUP | Errno::NOSYS) => 0,
        length => length?,
    };
    let names = names[..length].split_inclusive(|byte| *byte == 0);
    let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
    let names = names.filter(|name| *name != SET_BY_THE_SYSTEM);
    Ok(names.map(CStr::to_owned).collect())
}

fn attribute(file: impl std::os::fd::AsFd, name: &CStr) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0u8; MAX_ATTRIBUTE_BYTES];
    let length = fgetxattr(file, name, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}

/// The same file for the standard library, whose figures have the bits of the mode.
fn as_std(file: &File) -> io::Result<std::fs::File> {
    Ok(file.try_clone()?.into_std())
}
