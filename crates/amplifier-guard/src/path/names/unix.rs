//! By calls that take a folder and a name.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{OFlags, RenameFlags, fsync, renameat_with};
use rustix::io::Errno;

pub(in crate::path) use cap_std::fs::MetadataExt;

use crate::path::with_flags;

/// How a file is opened: not through a link, and without waiting for the other end of a pipe.
pub(in crate::path) fn options() -> OpenOptions {
    with_flags(OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// How a new file is made, which only its owner may read, if it is to get the mode of another.
pub(in crate::path) fn new_file_options(is_private: bool) -> OpenOptions {
    let mut options = with_flags(OFlags::NOFOLLOW);
    options.write(true).create_new(true);
    options.mode(if is_private { 0o600 } else { 0o666 });
    options
}

/// Keeps a new file open until it has its name: no other file gets its number before.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it is closed")]
pub(in crate::path) fn keep_open(file: File) -> Option<File> {
    Some(file)
}

/// Opens the directory `name` in `folder`, but not through a link.
pub(in crate::path) fn open_directory(folder: &Dir, name: &Path) -> io::Result<Dir> {
    let mut options = with_flags(OFlags::DIRECTORY | OFlags::NOFOLLOW);
    let opened = folder.open_with(name, options.read(true))?;
    Ok(Dir::from_std_file(opened.into_std()))
}

pub(in crate::path) fn make_directory(folder: &Dir, name: &Path) -> io::Result<()> {
    folder.create_dir(name)
}

pub(in crate::path) fn remove_file(folder: &Dir, name: &Path) -> io::Result<()> {
    folder.remove_file(name)
}

/// Exchanges two names; false if the file system cannot.
pub(in crate::path) fn exchange(folder: &Dir, own: &Path, name: &Path) -> io::Result<bool> {
    let exchanged = renameat_with(folder, own, folder, name, RenameFlags::EXCHANGE);
    match exchanged.map_err(io::Error::from) {
        Err(error) if is_unsupported(&error) => Ok(false),
        exchanged => exchanged.map(|()| true),
    }
}

/// Exchanges two names that [`exchange`] has exchanged.
pub(in crate::path) fn exchange_back(folder: &Dir, own: &Path, name: &Path) -> io::Result<()> {
    exchange(folder, own, name)?;
    Ok(())
}

/// Gives a file the name of another one, which is gone then.
pub(in crate::path) fn take_name(folder: &Dir, own: &Path, name: &Path) -> io::Result<()> {
    folder.rename(own, folder, name)
}

/// Moves a file to a name that no file has.
pub(in crate::path) fn take_free_name(
    (folder, own): (&Dir, &Path),
    (other, name): (&Dir, &Path),
) -> io::Result<()> {
    let moved = renameat_with(folder, own, other, name, RenameFlags::NOREPLACE);
    match moved.map_err(io::Error::from) {
        // For a moment it has both names.
        Err(error) if is_unsupported(&error) => {
            folder.hard_link(own, other, name)?;
            folder.remove_file(own)
        }
        moved => moved,
    }
}

/// Has the names of a folder on the disk; some file systems can only do so of files.
pub(in crate::path) fn sync_directory(folder: &Dir) -> io::Result<()> {
    match fsync(folder) {
        Err(Errno::INVAL | Errno::BADF) => Ok(()),
        synced => Ok(synced?),
    }
}

/// Whether a file system knows no such way to rename.
fn is_unsupported(error: &io::Error) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP]
        .iter()
        .any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}
