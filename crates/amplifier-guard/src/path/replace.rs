//! Replacing a file beneath the root whole, so that nobody ever sees a part of the new content.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata};

use super::PathPolicy;
use super::attributes::copy_attributes;
use super::error::{PathError, shown};
use super::names::{self, MetadataExt};
use super::write::expect_own_file;

/// How often a name for the new content is tried.
const MOST_NAMES: usize = 16;

impl PathPolicy {
    /// Makes a new file with `content` and the folders that are missing, and returns where it is.
    ///
    /// As [`PathPolicy::replace`], but [`PathError::Changed`] if there is a file already.
    pub fn create(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let path = path.as_ref();
        self.place(path, content, Expected::Nothing, protected_too)
    }

    /// Puts a file with `content` in the place of the one at `path`, or where none is, and returns
    /// where it is, relative to the root.
    ///
    /// Refuses what [`PathPolicy::write`] refuses, and makes missing folders as it does. The content
    /// is written beside the file and to the disk before it takes the name, so that whoever reads,
    /// and whoever comes after a crash, finds the old file or the new one. Owner, group, mode,
    /// extended attributes and access lists are those of the old file; if one cannot be kept,
    /// nothing is changed ([`PathError::NotKept`]).
    ///
    /// With `expected`, the file that gives way must have exactly this content; otherwise nothing is
    /// changed ([`PathError::Changed`]). A content is compared, not a size and a time: a clock has
    /// steps, in which a file can change twice, and a time can be set.
    pub fn replace(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        expected: Option<&[u8]>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        self.place(
            path.as_ref(),
            content,
            Expected::of(expected),
            protected_too,
        )
    }

    fn place(
        &self,
        path: &Path,
        content: &[u8],
        expected: Expected<'_>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let target = self.writable(path, protected_too)?;
        let fail = |error| self.write_failure(path, error);
        let folder = self
            .open_parent(&target, &mut names::sync_directory)
            .map_err(fail)?;
        let name = Path::new(target.file_name().unwrap_or_default());
        let mut old = self.open_old(path, &folder, name)?;
        expected.compare(path, old.as_mut(), &fail)?;
        let (mut file, new) = NewFile::create(&folder, old.is_some()).map_err(fail)?;
        file.write_all(content).map_err(fail)?;
        if let Some(old) = &old {
            copy_attributes(path, old, &file)?;
        }
        file.sync_all().map_err(fail)?;
        let _open = names::keep_open(file);
        match old {
            Some(old) => self.exchange(path, new, name, old, expected)?,
            None => new.take_free_name(name).map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    changed(path, "was made meanwhile")
                } else {
                    fail(error)
                }
            })?,
        }
        names::sync_directory(&folder).map_err(fail)?;
        Ok(target)
    }

    /// Opens what is to be replaced as one who may change it; None if nothing is there.
    pub(super) fn open_old(
        &self,
        path: &Path,
        folder: &Dir,
        name: &Path,
    ) -> Result<Option<File>, PathError> {
        // Merely opening a device can act on it, so the kind is checked before as well as after.
        let metadata = match folder.symlink_metadata(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata.map_err(|error| self.write_failure(path, error))?,
        };
        expect_own_file(path, &metadata)?;
        let opened = folder.open_with(name, names::options().read(true).write(true));
        let file = opened.map_err(|error| self.write_failure(path, error))?;
        let metadata = file.metadata();
        expect_own_file(
            path,
            &metadata.map_err(|error| self.write_failure(path, error))?,
        )?;
        Ok(Some(file))
    }

    /// Gives the new file the name of the old one, and the old one back if it is not as expected.
    ///
    /// The two change names and only then the old one is removed: a file that somebody put there
    /// since it was opened is not lost.
    fn exchange(
        &self,
        path: &Path,
        mut new: NewFile<'_>,
        name: &Path,
        mut old: File,
        expected: Expected<'_>,
    ) -> Result<(), PathError> {
        let fail = |error| self.write_failure(path, error);
        let known = old.metadata().map_err(fail)?;
        // Before the new one is seen at all; what comes in between is found below.
        expect_same(path, new.folder, name, &known, &fail)?;
        expected.compare(path, Some(&mut old), &fail)?;
        if !new.swap(name).map_err(fail)? {
            // A file system that cannot exchange names, such as NFS.
            return new.take_name(name).map_err(fail);
        }
        let given_way = expect_same(path, new.folder, &new.name, &known, &fail)
            .and_then(|()| expected.compare(path, Some(&mut old), &fail));
        if let Err(error) = given_way {
            names::exchange_back(new.folder, &new.name, name).map_err(fail)?;
            return Err(error);
        }
        new.remove_old(&known).map_err(fail)
    }
}

/// What must be there before a file is put in its place.
#[derive(Clone, Copy)]
pub(super) enum Expected<'content> {
    Anything,
    Nothing,
    Content(&'content [u8]),
}

impl<'content> Expected<'content> {
    /// Expects this content, or any.
    pub(super) fn of(content: Option<&'content [u8]>) -> Self {
        content.map_or(Self::Anything, Self::Content)
    }

    /// Refuses a file that is not what is expected.
    pub(super) fn compare(
        self,
        path: &Path,
        old: Option<&mut File>,
        fail: &impl Fn(io::Error) -> PathError,
    ) -> Result<(), PathError> {
        let (expected, old) = match (self, old) {
            (Self::Anything, _) | (Self::Nothing, None) => return Ok(()),
            (Self::Nothing, Some(_)) => return Err(changed(path, "exists already")),
            (Self::Content(_), None) => return Err(changed(path, "is gone")),
            (Self::Content(expected), Some(old)) => (expected, old),
        };
        // A byte more shows that it goes on.
        let most = expected.len() as u64 + 1;
        let mut found = Vec::with_capacity(expected.len() + 1);
        old.rewind().map_err(fail)?;
        old.take(most).read_to_end(&mut found).map_err(fail)?;
        if found == expected {
            Ok(())
        } else {
            Err(changed(path, "has another content"))
        }
    }
}

/// Refuses a name that another file has got since `old` was opened, or a file with a second name.
pub(super) fn expect_same(
    path: &Path,
    folder: &Dir,
    name: &Path,
    old: &Metadata,
    fail: &impl Fn(io::Error) -> PathError,
) -> Result<(), PathError> {
    match folder.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(changed(path, "is gone")),
        Err(error) => Err(fail(error)),
        Ok(found) if is_same(&found, old) => expect_own_file(path, &found),
        Ok(_) => Err(changed(path, "is another file")),
    }
}

pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

pub(super) fn changed(path: &Path, how: &'static str) -> PathError {
    let path = shown(path);
    PathError::Changed { path, how }
}

/// The new content under a name of its own, which is removed unless it takes another one.
struct NewFile<'folder> {
    folder: &'folder Dir,
    name: PathBuf,
    /// What tells it from a file of somebody else, as long as it is open.
    metadata: Metadata,
    is_placed: bool,
}

impl<'folder> NewFile<'folder> {
    /// Makes an empty file that only its owner may read, if it is to get the mode of another.
    fn create(folder: &'folder Dir, is_private: bool) -> io::Result<(std::fs::File, Self)> {
        let options = names::new_file_options(is_private);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let name = own_name(attempt);
            match folder.open_with(&name, &options) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempt < MOST_NAMES => {}
                file => {
                    let file = file?;
                    let new = Self {
                        folder,
                        name,
                        metadata: file.metadata()?,
                        is_placed: false,
                    };
                    return Ok((file.into_std(), new));
                }
            }
        }
    }

    /// Exchanges the names; false if the file system cannot.
    fn swap(&self, name: &Path) -> io::Result<bool> {
        names::exchange(self.folder, &self.name, name)
    }

    /// Takes the name of another file, which is gone then.
    fn take_name(mut self, name: &Path) -> io::Result<()> {
        names::take_name(self.folder, &self.name, name)?;
        self.is_placed = true;
        Ok(())
    }

    /// Takes a name that no file has.
    fn take_free_name(mut self, name: &Path) -> io::Result<()> {
        names::take_free_name((self.folder, &self.name), (self.folder, name))?;
        self.is_placed = true;
        Ok(())
    }

    /// Removes the old file, which has the own name after the exchange.
    fn remove_old(&mut self, old: &Metadata) -> io::Result<()> {
        self.is_placed = true;
        if is_same(&self.folder.symlink_metadata(&self.name)?, old) {
            names::remove_file(self.folder, &self.name)?;
        }
        Ok(())
    }

    /// Whether the own name is that of the new content, and not of a file of somebody else.
    fn has_own_name(&self) -> io::Result<bool> {
        let named = self.folder.symlink_metadata(&self.name)?;
        Ok(is_same(&named, &self.metadata))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.is_placed && self.has_own_name().unwrap_or(false) {
            // What cannot be removed stays behind under a name that says whose it is.
            let _ = names::remove_file(self.folder, &self.name);
        }
    }
}

/// A name for a file of our own, until it has the right one or is removed; one of 2⁶⁴.
pub(super) fn own_name(attempt: usize) -> PathBuf {
    let number = RandomState::new().hash_one(attempt);
    PathBuf::from(format!(".amplifier-{number:016x}.tmp"))
}
