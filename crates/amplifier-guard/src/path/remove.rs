//! Removing and renaming a file beneath the root, if it is still the one that the caller knows.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File};

use super::error::{PathError, shown};
use super::replace::{Expected, changed, expect_same, own_name};
use super::{PathPolicy, expect_file, names};
use crate::Kind;

impl PathPolicy {
    /// Removes the regular file at `path`, and returns where it was, relative to the root.
    ///
    /// Refuses what [`PathPolicy::write`] refuses, and a link in the place of the file, which is not
    /// followed. With `expected`, the file must have exactly this content; otherwise nothing is
    /// changed ([`PathError::Changed`]). The file takes a name of its own in the same folder before
    /// it is looked at for the last time and removed, so that a file that another program puts
    /// there meanwhile is not lost; a crash can leave it under that name.
    pub fn remove(
        &self,
        path: impl AsRef<Path>,
        expected: Option<&[u8]>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let path = path.as_ref();
        let fail = |error| self.write_failure(path, error);
        let found = self.find(path, expected, protected_too)?;
        let place = Place {
            folder: &found.folder,
            name: &own_name(0),
        };
        self.shift(path, &found, &place, expected)?;
        names::remove_file(&found.folder, place.name).map_err(fail)?;
        names::sync_directory(&found.folder).map_err(fail)?;
        Ok(found.target)
    }

    /// Gives the regular file at `path` another path, and returns that relative to the root.
    ///
    /// The file keeps all that it has. As [`PathPolicy::remove`] where it was, and as
    /// [`PathPolicy::create`] where it comes to be: missing folders are made, and nothing may be
    /// there ([`PathError::Changed`]).
    pub fn rename(
        &self,
        path: impl AsRef<Path>,
        new_path: impl AsRef<Path>,
        expected: Option<&[u8]>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let (path, new_path) = (path.as_ref(), new_path.as_ref());
        let fail = |error| self.write_failure(new_path, error);
        let found = self.find(path, expected, protected_too)?;
        let target = self.writable(new_path, protected_too)?;
        if self.directory.symlink_metadata(&target).is_ok() {
            return Err(changed(new_path, "exists already"));
        }
        let folder = self
            .open_parent(&target, &mut names::sync_directory)
            .map_err(fail)?;
        let place = Place {
            folder: &folder,
            name: Path::new(target.file_name().unwrap_or_default()),
        };
        self.shift(new_path, &found, &place, expected)?;
        names::sync_directory(&folder).map_err(fail)?;
        names::sync_directory(&found.folder).map_err(fail)?;
        Ok(target)
    }

    /// Where the file is that a removal of `path` would remove, relative to the root; nothing is
    /// changed.
    ///
    /// Refused is what [`PathPolicy::writable`] refuses, what is not there, and a link in its place.
    pub fn removable(
        &self,
        path: impl AsRef<Path>,
        protected_too: bool,
    ) -> Result<PathBuf, PathError> {
        let path = path.as_ref();
        let target = self.writable(path, protected_too)?;
        let named = self.follow_folders(path)?;
        // A link that leads to another name, or to nothing.
        if named != target || self.directory.read_link_contents(&named).is_ok() {
            let (path, found) = (shown(path), Kind::Link);
            return Err(PathError::NotAFile { path, found });
        }
        expect_file(path, &self.metadata(&target)?)?;
        Ok(target)
    }

    /// Opens a file that is to lose its name.
    fn find(
        &self,
        path: &Path,
        expected: Option<&[u8]>,
        protected_too: bool,
    ) -> Result<FoundFile, PathError> {
        let fail = |error| self.write_failure(path, error);
        let target = self.removable(path, protected_too)?;
        let folder = self.open_present_parent(&target).map_err(fail)?;
        let name = PathBuf::from(target.file_name().unwrap_or_default());
        let Some(mut old) = self.open_old(path, &folder, &name)? else {
            return Err(changed(path, "is gone"));
        };
        Expected::of(expected).compare(path, Some(&mut old), &fail)?;
        Ok(FoundFile {
            folder,
            name,
            target,
            old,
        })
    }

    /// Where `path` leads without its last name, relative to the root, and then that name.
    fn follow_folders(&self, path: &Path) -> Result<PathBuf, PathError> {
        let relative = self.relative(path)?;
        let folder = relative.parent().unwrap_or(Path::new(""));
        let followed = self.follow(path, folder)?;
        let followed = followed.strip_prefix(".").unwrap_or(&followed);
        Ok(followed.join(relative.file_name().unwrap_or_default()))
    }

    /// Gives a file another name, and the old one back if it is not as expected.
    fn shift(
        &self,
        path: &Path,
        found: &FoundFile,
        place: &Place<'_>,
        expected: Option<&[u8]>,
    ) -> Result<(), PathError> {
        let fail = |error| self.write_failure(path, error);
        let mut old = found.old.try_clone().map_err(fail)?;
        let known = old.metadata().map_err(fail)?;
        expect_same(path, &found.folder, &found.name, &known, &fail)?;
        let own = Place {
            folder: &found.folder,
            name: &found.name,
        };
        own.move_to(place).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                changed(path, "exists already")
            } else {
                fail(error)
            }
        })?;
        let as_expected = expect_same(path, place.folder, place.name, &known, &fail)
            .and_then(|()| Expected::of(expected).compare(path, Some(&mut old), &fail));
        if let Err(error) = as_expected {
            // Should the name be taken again, both files stay.
            place.move_to(&own).map_err(fail)?;
            return Err(error);
        }
        Ok(())
    }
}

/// A file that is to lose its name.
struct FoundFile {
    folder: Dir,
    name: PathBuf,
    /// From the root.
    target: PathBuf,
    old: File,
}

/// A name in an open folder.
struct Place<'place> {
    folder: &'place Dir,
    name: &'place Path,
}

impl Place<'_> {
    /// Moves what is here to a name that no file has.
    fn move_to(&self, other: &Place<'_>) -> io::Result<()> {
        names::take_free_name((self.folder, self.name), (other.folder, other.name))
    }
}
