//! Path containment: every open happens beneath one directory.

mod attributes;
mod crew;
mod endings;
mod entry;
mod error;
mod folder;
mod git_ignore;
mod kept;
mod known_folder;
mod line_search;
mod lines;
mod log_path;
mod many_lines;
mod names;
mod one_name;
mod pattern;
mod protected;
mod remove;
mod replace;
mod rule_files;
mod scan;
mod search;
mod secret_files;
mod secret_places;
#[cfg(windows)]
mod short_names;
mod spelling;
mod tour;
mod walk;
mod wildcard;
mod write;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
#[cfg(unix)]
use {cap_std::fs::OpenOptionsExt, rustix::fs::OFlags};

use crate::trace::refused;

pub use entry::{Entry, Kind};
pub use error::PathError;
pub use kept::Order;
pub use line_search::LineSearch;
pub use lines::{LineRange, LineWindow};
pub use log_path::log_path;
#[cfg(windows)]
pub use names::{WindowsCalls, provide_windows_calls};
pub use pattern::{NamePattern, PatternError};
pub use search::{FileMatches, LineMatch, SearchReport};
pub use secret_places::secret_places;
pub use spelling::with_slashes;
pub use tour::Walker;
pub use walk::{Walk, WalkedFile};

use error::shown;
use kept::Kept;
use protected::misleading;
pub(crate) use protected::{misread, secret};
use spelling::plain;

/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// Keeps every read inside one directory, the root.
///
/// The root is opened once; all that follows is opened relative to that handle by the operating
/// system's own containment (`openat2` on Linux), so a link that is swapped in between a check and
/// an open leads nowhere. Links inside the root are followed as long as they stay inside.
#[doc = include_str!("../docs/path.md")]
#[derive(Debug)]
pub struct PathPolicy {
    pub(crate) directory: Dir,
    root: PathBuf,
    /// The root as the caller spelled it, made absolute: absolute paths may begin with either.
    spelled: PathBuf,
    /// Whether files that hold secrets may be read: a person agreed.
    reads_secrets: bool,
}

impl PathPolicy {
    /// Opens `root`, which must be a directory.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, PathError> {
        let given = root.as_ref();
        let fail = |source: io::Error| {
            let (path, root, found) = (shown(given), "/".into(), Kind::File);
            match source.kind() {
                io::ErrorKind::NotFound => PathError::Missing { path, root },
                io::ErrorKind::NotADirectory => PathError::NotADirectory { path, found },
                _ => PathError::Io { path, source },
            }
        };
        if given.as_os_str().is_empty() {
            return Err(PathError::Empty);
        }
        let root = given.canonicalize().map_err(fail)?;
        let directory = Dir::open_ambient_dir(&root, ambient_authority()).map_err(fail)?;
        let spelled = std::path::absolute(given).map_err(fail)?;
        Ok(Self {
            directory,
            root: plain(&root),
            spelled,
            reads_secrets: false,
        })
    }

    /// A policy of the same root that also reads files that hold secrets: a person agreed.
    pub fn with_secrets(&self) -> Result<Self, PathError> {
        let directory = self.directory.try_clone();
        Ok(Self {
            directory: directory.map_err(|source| self.failure(Path::new("."), source))?,
            root: self.root.clone(),
            spelled: self.spelled.clone(),
            reads_secrets: true,
        })
    }

    /// Where `path` leads, relative to the root, if it may be read; nothing is opened.
    ///
    /// Refused are names of files that hold secrets, such as `.env`.
    pub fn readable(&self, path: impl AsRef<Path>) -> Result<PathBuf, PathError> {
        let path = path.as_ref();
        let judge = || {
            let target = self.follow(path, &self.relative(path)?)?;
            match secret(&target).filter(|_| !self.reads_secrets) {
                Some(name) => Err(PathError::Secret {
                    path: shown(path),
                    name,
                }),
                None => Ok(target),
            }
        };
        judge().inspect_err(|error| refused("path", error))
    }

    /// The canonical path of the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The canonical path of something that exists, relative to the root; `.` for the root itself.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, PathError> {
        self.beneath(path.as_ref(), |directory, path| {
            directory.canonicalize(path)
        })
    }

    /// Opens a regular file for reading; a pipe or a device is refused and never waited for, a file
    /// that holds secrets is refused unless a person agreed.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<std::fs::File, PathError> {
        let path = path.as_ref();
        let file = self.open_any(path)?;
        if !self.reads_secrets {
            self.readable(path)?;
        }
        Ok(file)
    }

    /// The same for a file whose name was judged.
    fn open_any(&self, path: &Path) -> Result<std::fs::File, PathError> {
        // Merely opening a device can act on it, so the kind is checked before as well as after.
        expect_file(path, &self.metadata(path)?)?;
        let file = self.beneath(path, |directory, path| {
            directory.open_with(path, &reading())
        })?;
        let metadata = file
            .metadata()
            .map_err(|source| self.failure(path, source))?;
        expect_file(path, &metadata)?;
        Ok(file.into_std())
    }

    /// The first `limit` bytes of a regular file.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, PathError> {
        let path = path.as_ref();
        let mut content = Vec::new();
        self.open(path)?
            .take(limit)
            .read_to_end(&mut content)
            .map_err(|source| self.failure(path, source))?;
        Ok(content)
    }

    /// All entries of a directory, by name.
    pub fn list(&self, path: impl AsRef<Path>) -> Result<Vec<Entry>, PathError> {
        let (entries, _) = self.first_entries(path, usize::MAX, usize::MAX, &mut || false)?;
        Ok(entries)
    }

    /// The first `limit` entries of a directory within `most_bytes`, by name, and how many it has.
    pub fn first_entries(
        &self,
        path: impl AsRef<Path>,
        limit: usize,
        most_bytes: usize,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(Vec<Entry>, u64), PathError> {
        let path = path.as_ref();
        let (mut kept, mut total) = (Kept::new(limit, most_bytes), 0);
        let listing = self
            .open_directory(path)?
            .entries()
            .map_err(|source| self.failure(path, source))?;
        for entry in listing {
            if stopped() {
                return Err(PathError::Stopped { path: shown(path) });
            }
            let entry = entry.map_err(|source| self.failure(path, source))?;
            // What vanished since the listing began is not there.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            total += 1;
            let kind = Kind::from(metadata.file_type());
            let is_file = kind == Kind::File;
            let bytes = if is_file { metadata.len() } else { 0 };
            kept.offer((Reverse(0), entry.file_name(), 0), 0, (kind, bytes));
        }
        let entries = kept.into_items(|name, _, (kind, bytes)| Entry { name, kind, bytes });
        Ok((entries, total))
    }

    /// What is at `path`, links followed inside the root.
    pub(crate) fn metadata(&self, path: &Path) -> Result<Metadata, PathError> {
        self.beneath(path, |directory, path| directory.metadata(path))
    }

    pub(crate) fn open_directory(&self, path: &Path) -> Result<Dir, PathError> {
        let metadata = self.metadata(path)?;
        if !metadata.is_dir() {
            let (path, found) = (shown(path), metadata.file_type().into());
            return Err(PathError::NotADirectory { path, found });
        }
        self.beneath(path, |directory, path| directory.open_dir(path))
    }

    /// Runs `operation` on `path` beneath the root.
    fn beneath<T>(
        &self,
        path: &Path,
        operation: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<T, PathError> {
        let attempt = || {
            let relative = self.relative(path)?;
            match operation(&self.directory, &relative) {
                Ok(value) => Ok(value),
                Err(error) if is_escape(&error) => {
                    let followed = self.follow(path, &relative)?;
                    operation(&self.directory, &followed).map_err(|error| self.failure(path, error))
                }
                Err(error) => Err(self.failure(path, error)),
            }
        };
        attempt().inspect_err(|error| refused("path", error))
    }

    /// `path` as it counts from the root, or why no path of this form can.
    pub(crate) fn relative<'path>(&self, path: &'path Path) -> Result<Cow<'path, Path>, PathError> {
        let relative = self.count_from_root(path)?;
        #[cfg(windows)]
        self.expect_long_names(path, &relative)?;
        Ok(relative)
    }

    fn count_from_root<'path>(&self, path: &'path Path) -> Result<Cow<'path, Path>, PathError> {
        if path.as_os_str().is_empty() {
            return Err(PathError::Empty);
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(PathError::Nul { path: shown(path) });
        }
        // On Windows `C:a` is one too, from the directory that the drive had last.
        if path.has_root() || matches!(path.components().next(), Some(Component::Prefix(_))) {
            self.inside(path).ok_or_else(|| self.outside(path))
        } else {
            Ok(path.into())
        }
    }

    /// An absolute path as it counts from the root, if it is spelled as lying inside.
    fn inside<'path>(&self, path: &'path Path) -> Option<Cow<'path, Path>> {
        let relative = path
            .strip_prefix(&self.root)
            .or_else(|_| path.strip_prefix(&self.spelled))
            .ok()?;
        // Stripping drops an ending that says directory.
        Some(if relative.as_os_str().is_empty() {
            Path::new(".").into()
        } else if names_directory(path) {
            relative.join(".").into()
        } else {
            relative.into()
        })
    }

    /// Follows the links of a path by hand: the operating system refuses every absolute link, also
    /// one that points back into the root. What this finds is opened beneath the root all the same.
    pub(crate) fn follow(&self, path: &Path, relative: &Path) -> Result<PathBuf, PathError> {
        let mut followed = PathBuf::new();
        let mut links = 0;
        let mut pending = Vec::new();
        push_components(&mut pending, relative);
        while let Some(component) = pending.pop() {
            if component == ".." {
                if followed.as_os_str().is_empty() {
                    return Err(self.outside(path));
                }
                let metadata = self.directory.metadata(&followed);
                let metadata = metadata.map_err(|error| self.failure(path, error))?;
                if !metadata.is_dir() {
                    return Err(self.failure(path, io::ErrorKind::NotADirectory.into()));
                }
                followed.pop();
                continue;
            }
            #[cfg(windows)]
            self.expect_long_name(path, &followed, &component)?;
            followed.push(component);
            let Ok(target) = self.directory.read_link_contents(&followed) else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(PathError::Loop { path: shown(path) });
            }
            let target = plain(&target);
            let target = if target.has_root() {
                followed.clear();
                self.inside(&target).ok_or_else(|| self.outside(path))?
            } else {
                followed.pop();
                target.as_path().into()
            };
            push_components(&mut pending, &target);
        }
        if followed.as_os_str().is_empty() || names_directory(relative) {
            // The operating system sees to it.
            followed.push(".");
        }
        Ok(followed)
    }

    /// Whether a link of `path` leads out of the root, or in a circle; what is missing is no link.
    pub(crate) fn leads_out(&self, path: &Path) -> bool {
        let followed = self
            .relative(path)
            .and_then(|relative| self.follow(path, &relative));
        !matches!(
            followed,
            Ok(_) | Err(PathError::Empty | PathError::Missing { .. } | PathError::Form { .. })
        )
    }

    /// Whether a file that holds secrets is where `path` leads.
    pub(crate) fn is_secret(&self, path: &Path) -> bool {
        matches!(self.readable(path), Err(PathError::Secret { .. }))
    }

    fn outside(&self, path: &Path) -> PathError {
        let (path, root) = (shown(path), shown(&self.root));
        PathError::Outside { path, root }
    }

    /// What the operating system said about `path`, as one of ours.
    pub(crate) fn failure(&self, path: &Path, source: io::Error) -> PathError {
        if is_escape(&source) {
            return self.outside(path);
        }
        let bytes = path.as_os_str().len();
        let form = misleading(self.inside(path).as_deref().unwrap_or(path));
        let path = shown(path);
        match (source.kind(), form) {
            // What is there is read whatever it is called; what is not may be meant as another.
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Some(reason)) => {
                PathError::Form { path, reason }
            }
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, None) => PathError::Missing {
                path,
                root: shown(&self.root),
            },
            (io::ErrorKind::InvalidFilename, _) => PathError::TooLong { path, bytes },
            _ if is_loop(&source) => PathError::Loop { path },
            _ => PathError::Io { path, source },
        }
    }
}

/// Refuses what is not a regular file.
pub(crate) fn expect_file(path: &Path, metadata: &Metadata) -> Result<(), PathError> {
    if metadata.is_file() {
        return Ok(());
    }
    let (path, found) = (shown(path), metadata.file_type().into());
    Err(PathError::NotAFile { path, found })
}

/// Whether `path` is spelled as only a directory may be.
fn names_directory(path: &Path) -> bool {
    let spelled = path.as_os_str().as_encoded_bytes();
    let spelled = spelled.strip_suffix(b".").unwrap_or(spelled);
    spelled
        .last()
        .is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

/// Pushes the parts of a relative path so that they pop in order.
fn push_components(pending: &mut Vec<OsString>, path: &Path) {
    let start = pending.len();
    pending.extend(path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    }));
    pending[start..].reverse();
}

/// Whether cap-std refused: its own refusal carries no number of the operating system's.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(error: &io::Error) -> bool {
    const STOPPED_ON_SYMLINK: i32 = 681;
    error.raw_os_error() == Some(STOPPED_ON_SYMLINK)
}

/// How files are opened: without waiting, should it turn out to be a pipe.
fn reading() -> OpenOptions {
    #[cfg(unix)]
    let mut options = with_flags(OFlags::NONBLOCK | OFlags::NOCTTY);
    #[cfg(not(unix))]
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// How files are opened with these flags of the operating system.
#[cfg(unix)]
fn with_flags(flags: OFlags) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(flags.bits().cast_signed());
    options
}
