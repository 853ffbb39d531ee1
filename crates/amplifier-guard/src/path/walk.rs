//! The regular files beneath a directory, links never followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use cap_std::fs::{Dir, DirEntry, Metadata};

use super::PathPolicy;
use super::entry::Kind;
use super::error::PathError;
use super::error::shown;
use super::expect_file;
use super::pattern::NamePattern;

/// A regular file that a walk came upon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalkedFile {
    /// The path from the root.
    pub path: PathBuf,
    /// The size.
    pub bytes: u64,
    /// When it was last modified, in nanoseconds since 1970; 0 if it is unknown.
    pub modified: i64,
}

/// What a walk found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Walk {
    /// The files, by the bytes of their paths.
    pub files: Vec<WalkedFile>,
    /// How many directories could not be read, so that their files are missing.
    pub unreadable: u64,
}

/// How to walk: what to leave out, what to keep, when to give up.
pub struct Walker<'caller> {
    /// Names of directories that are not entered, at any depth beneath the start.
    pub skip: &'caller [OsString],
    /// The files to keep, by their paths from the start; all if absent.
    pub pattern: Option<&'caller NamePattern>,
    /// Asked at each directory and each file whether to give up.
    pub stopped: &'caller mut dyn FnMut() -> bool,
}

/// A directory to be read: its parent, its name there, and its path from the root.
struct Pending {
    parent: Rc<Dir>,
    name: OsString,
    path: PathBuf,
}

impl PathPolicy {
    /// The regular files beneath `path`; if `path` is itself one, that file.
    pub fn walk(&self, path: impl AsRef<Path>, walker: &mut Walker) -> Result<Walk, PathError> {
        let path = path.as_ref();
        let start = self.resolve(path)?;
        let metadata = self.metadata(&start)?;
        let mut walk = Walk::default();
        if !metadata.is_dir() {
            expect_file(path, &metadata)?;
            if walker.keeps(Path::new(start.file_name().unwrap_or_default())) {
                walk.files.push(walked(start, &metadata));
            }
            return Ok(walk);
        }
        let prefix = if start == Path::new(".") {
            Path::new("")
        } else {
            &start
        };
        // Depth first, each directory opened from its parent: few handles are open at a time, and
        // no path grows too long for the operating system.
        let mut pending = Vec::new();
        let root = Rc::new(self.open_directory(&start)?);
        walker
            .enter(&root, prefix, prefix, &mut walk, &mut pending)
            .map_err(|source| self.failure(path, source))?;
        while let Some(Pending {
            parent,
            name,
            path: inner,
        }) = pending.pop()
        {
            if (walker.stopped)() {
                return Err(PathError::Stopped { path: shown(path) });
            }
            let entered = parent.open_dir(&name).and_then(|directory| {
                drop(parent);
                walker.enter(&Rc::new(directory), &inner, prefix, &mut walk, &mut pending)
            });
            if entered.is_err() {
                walk.unreadable += 1;
            }
        }
        walk.files
            .sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        Ok(walk)
    }
}

impl Walker<'_> {
    /// Reads one directory: its files go to `walk`, its directories to `pending`.
    fn enter(
        &mut self,
        directory: &Rc<Dir>,
        path: &Path,
        prefix: &Path,
        walk: &mut Walk,
        pending: &mut Vec<Pending>,
    ) -> io::Result<()> {
        for entry in directory.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            match kind(&entry) {
                Some(Kind::Directory) if !self.skips(&name) => {
                    let path = path.join(&name);
                    pending.push(Pending {
                        parent: Rc::clone(directory),
                        name,
                        path,
                    });
                }
                Some(Kind::File) => {
                    let path = path.join(&name);
                    let from_start = path.strip_prefix(prefix).unwrap_or(&path);
                    if self.keeps(from_start)
                        // What vanished since the directory was read is not there.
                        && let Ok(metadata) = entry.metadata()
                        && metadata.is_file()
                    {
                        walk.files.push(walked(path, &metadata));
                    }
                }
                Some(Kind::Directory | Kind::Link | Kind::Other) | None => {}
            }
        }
        Ok(())
    }

    fn skips(&self, name: &OsStr) -> bool {
        self.skip.iter().any(|skipped| skipped == name)
    }

    fn keeps(&self, path: &Path) -> bool {
        self.pattern.is_none_or(|pattern| pattern.matches(path))
    }
}

fn kind(entry: &DirEntry) -> Option<Kind> {
    entry.file_type().ok().map(Kind::from)
}

fn walked(path: PathBuf, metadata: &Metadata) -> WalkedFile {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
        .and_then(|age| i64::try_from(age.as_nanos()).ok())
        .unwrap_or(0);
    WalkedFile {
        path,
        bytes: metadata.len(),
        modified,
    }
}
