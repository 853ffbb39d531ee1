//! Writing beneath the root: new files with their folders, and existing regular files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};

use super::error::{PathError, shown};
use super::names::{self, MetadataExt};
use super::protected::{misread, protected};
use super::{PathPolicy, expect_file, names_directory};
use crate::trace::refused;

/// The longest name and the longest path that Linux takes, in bytes.
const MAX_NAME_BYTES: usize = 255;
const MAX_PATH_BYTES: usize = 4095;

impl PathPolicy {
    /// Where a write to `path` would land, relative to the root; nothing is changed.
    ///
    /// Links are followed inside the root. Refused are the names of files that decide what runs,
    /// unless `protected_too`, forms that other systems read as another path, files with several
    /// hard links and everything that is not a regular file.
    pub fn writable(
        &self,
        path: impl AsRef<Path>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        self.judge_write(path.as_ref(), protected_too)
            .inspect_err(|error| refused("path", error))
    }

    fn judge_write(&self, path: &Path, protected_too: bool) -> Result<PathBuf, PathError> {
        let relative = self.relative(path)?;
        if let Some(reason) = misread(&relative) {
            let path = shown(path);
            return Err(PathError::Form { path, reason });
        }
        let is_long = |name: &std::ffi::OsStr| name.len() > MAX_NAME_BYTES;
        if path.as_os_str().len() > MAX_PATH_BYTES || relative.iter().any(is_long) {
            let (path, bytes) = (shown(path), path.as_os_str().len());
            return Err(PathError::TooLong { path, bytes });
        }
        let target = self.follow(path, &relative)?;
        // `components` would pass over the dot that says directory.
        if target.as_os_str() == "." || names_directory(&target) {
            let (path, found) = (shown(path), crate::Kind::Directory);
            return Err(PathError::NotAFile { path, found });
        }
        let found = || protected(&target).or_else(|| self.known_folder(&target));
        if !protected_too && let Some((name, reason)) = found() {
            let path = shown(path);
            return Err(PathError::Protected { path, name, reason });
        }
        self.expect_folders(path, &target)?;
        match self.directory.symlink_metadata(&target) {
            Ok(metadata) => expect_own_file(path, &metadata)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(self.failure(path, error)),
        }
        Ok(target)
    }

    /// Writes `content` to a new or existing file, makes the folders that are missing, and returns
    /// where it landed, relative to the root.
    ///
    /// Refuses what [`PathPolicy::writable`] refuses. From the root to the file every name is
    /// opened on its own and no link is followed, so that one swapped in meanwhile leads nowhere.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let path = path.as_ref();
        let target = self.writable(path, protected_too)?;
        let fail = |error| self.write_failure(path, error);
        let folder = self.open_parent(&target, &mut |_| Ok(())).map_err(fail)?;
        let name = Path::new(target.file_name().unwrap_or_default());
        let opened = folder.open_with(name, names::options().write(true).create(true));
        let file = opened.map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        expect_own_file(path, &metadata)?;
        // Emptied only now: what is refused keeps its content.
        file.set_len(0).map_err(fail)?;
        let mut file = file.into_std();
        file.write_all(content).map_err(fail)?;
        Ok(target)
    }

    /// Opens the folder of `target` name by name, none through a link, and makes what is missing;
    /// `made` gets each folder in which one was made.
    pub(super) fn open_parent(
        &self,
        target: &Path,
        made: &mut dyn FnMut(&Dir) -> io::Result<()>,
    ) -> io::Result<Dir> {
        let mut folder = self.directory.try_clone()?;
        for name in target.parent().unwrap_or(Path::new("")) {
            folder = match names::open_directory(&folder, name.as_ref()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match names::make_directory(&folder, name.as_ref()) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                        _ => made(&folder)
                            .and_then(|()| names::open_directory(&folder, name.as_ref())),
                    }
                }
                opened => opened,
            }?;
        }
        Ok(folder)
    }

    /// Opens the folder of `target` name by name, none through a link; it must be there.
    pub(super) fn open_present_parent(&self, target: &Path) -> io::Result<Dir> {
        let folders = target.parent().unwrap_or(Path::new(""));
        folders
            .iter()
            .try_fold(self.directory.try_clone()?, |folder, name| {
                names::open_directory(&folder, name.as_ref())
            })
    }

    /// Refuses a path that leads through something other than directories.
    fn expect_folders(&self, path: &Path, target: &Path) -> Result<(), PathError> {
        let mut folders: Vec<_> = target.ancestors().skip(1).collect();
        folders.pop();
        for folder in folders.into_iter().rev() {
            match self.directory.symlink_metadata(folder) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) => {
                    let (path, found) = (shown(folder), metadata.file_type().into());
                    return Err(PathError::NotADirectory { path, found });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(self.failure(path, error)),
            }
        }
        Ok(())
    }

    pub(super) fn write_failure(&self, path: &Path, error: io::Error) -> PathError {
        match self.failure(path, error) {
            PathError::Io { path, source } => PathError::Unwritable { path, source },
            other => other,
        }
    }
}

/// Refuses what is not a regular file under this one name.
pub(super) fn expect_own_file(path: &Path, metadata: &Metadata) -> Result<(), PathError> {
    expect_file(path, metadata)?;
    let links = metadata.nlink();
    if links > 1 {
        let path = shown(path);
        return Err(PathError::HardLinks { path, links });
    }
    Ok(())
}
