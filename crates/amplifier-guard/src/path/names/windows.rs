//! By the paths of open folders, which cannot change meanwhile: Windows renames and removes no folder
//! in which something is open without leave to do so, and `cap-std` opens folders without it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use winx::file::get_file_path;

pub(in crate::path) use cap_fs_ext::MetadataExt;

use super::windows_calls::calls;

/// How a file is opened: not through a link.
pub(in crate::path) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.follow(FollowSymlinks::No);
    options
}

/// Others may remove an open file.
const SHARE_DELETE: u32 = 4;

/// How a new file is made, which nobody else can read until it is closed: by then it may have the
/// access list of another.
pub(in crate::path) fn new_file_options(_is_private: bool) -> OpenOptions {
    let mut options = options();
    options
        .write(true)
        .create_new(true)
        .share_mode(SHARE_DELETE);
    options
}

/// Closes a new file, as no open one is put in the place of another; files of Windows get no number
/// a second time.
pub(in crate::path) fn keep_open(_: File) -> Option<File> {
    None
}

/// Opens the directory `name` in `folder`, but not through a link.
pub(in crate::path) fn open_directory(folder: &Dir, name: &Path) -> io::Result<Dir> {
    folder.open_dir_nofollow(name)
}

pub(in crate::path) fn make_directory(folder: &Dir, name: &Path) -> io::Result<()> {
    fs::create_dir(locate(folder, name)?)
}

pub(in crate::path) fn remove_file(folder: &Dir, name: &Path) -> io::Result<()> {
    fs::remove_file(locate(folder, name)?)
}

/// Exchanges two names: the new file, which has the first, gets all but the content of the other.
///
/// Between its steps no file has the second name; the one that had it has it again if one fails.
pub(in crate::path) fn exchange(folder: &Dir, own: &Path, name: &Path) -> io::Result<bool> {
    let calls = calls()?;
    let (own, name) = (locate(folder, own)?, locate(folder, name)?);
    let aside = own.with_extension("old");
    calls
        .replace(&name, &own, &aside)
        .inspect_err(|_| drop(calls.rename(&aside, &name)))?;
    calls.rename(&aside, &own)?;
    Ok(true)
}

/// Exchanges two names that [`exchange`] has exchanged.
pub(in crate::path) fn exchange_back(folder: &Dir, own: &Path, name: &Path) -> io::Result<()> {
    let calls = calls()?;
    let (own, name) = (locate(folder, own)?, locate(folder, name)?);
    let aside = own.with_extension("old");
    // Not as above: it cannot be done with a file that is open.
    calls.rename(&name, &aside)?;
    calls.rename(&own, &name)?;
    calls.rename(&aside, &own)
}

/// Gives a file the name of another one: never, as names can be exchanged.
pub(in crate::path) fn take_name(_: &Dir, _: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Moves a file to a name that no file has.
pub(in crate::path) fn take_free_name(
    (folder, own): (&Dir, &Path),
    (other, name): (&Dir, &Path),
) -> io::Result<()> {
    calls()?.rename(&locate(folder, own)?, &locate(other, name)?)
}

/// Nothing: Windows writes names to the disk by itself, and for folders has no call to wait for it.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(in crate::path) fn sync_directory(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// The path of a name in an open folder, in the form that Windows takes as it is.
fn locate(folder: &Dir, name: &Path) -> io::Result<PathBuf> {
    Ok(get_file_path(&folder.try_clone()?.into_std_file())?.join(name))
}
