//! The regular files beneath a directory, links never followed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use cap_std::fs::{Dir, Metadata};

use super::PathPolicy;
use super::entry::Kind;
use super::error::{PathError, shown};
use super::expect_file;
use super::kept::{ITEM_BYTES, Kept, Order};
use super::pattern::NamePattern;

/// As much as the paths of directories that are still to be read may take.
const MAX_PENDING_BYTES: usize = 16 << 20;

/// A regular file that a walk came upon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalkedFile {
    /// The path from the root.
    pub path: PathBuf,
    /// The size.
    pub bytes: u64,
    /// When it was last modified, since 1970; zero if it is unknown.
    pub modified: Duration,
}

/// What a walk found; the figures are complete, whatever `files` was limited to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Walk {
    /// The files that come first.
    pub files: Vec<WalkedFile>,
    /// Files in all.
    pub total: u64,
    /// Their bytes in all.
    pub total_bytes: u64,
    /// How many files have each ending, such as `.rs`.
    pub endings: BTreeMap<OsString, u64>,
    /// Files whose endings were too many to be kept.
    pub other_endings: u64,
    /// How many directories could not be read, or were too many at once: their files are missing.
    pub unreadable: u64,
}

/// How to walk: what to leave out, what to keep, when to give up.
pub struct Walker<'caller> {
    /// Names of directories that are not entered, at any depth beneath the start.
    pub skip: &'caller [OsString],
    /// The files to keep, by their paths from the start; all if absent.
    pub pattern: Option<&'caller NamePattern>,
    /// Which files come first.
    pub order: Order,
    /// How many files are kept.
    pub limit: usize,
    /// About how many bytes what is kept takes; each kind of result by itself.
    pub most_bytes: usize,
    /// Asked now and then whether to give up.
    pub stopped: &'caller mut dyn FnMut() -> bool,
}

/// What takes each file, and may end the walk.
type Visit<'caller> =
    dyn FnMut(WalkedFile, &mut dyn FnMut() -> bool) -> Result<(), PathError> + 'caller;

/// Why a directory is not read to its end.
enum Halt {
    Unreadable(io::Error),
    Stopped,
    /// What `visit` said.
    Refused(PathError),
}

/// The directories that are still to be read: the parent of each, and its path from the root.
#[derive(Default)]
struct Pending {
    directories: Vec<(Rc<Dir>, PathBuf)>,
    bytes: usize,
    /// Directories without room here.
    dropped: u64,
}

impl Pending {
    fn push(&mut self, parent: &Rc<Dir>, path: PathBuf) {
        let bytes = path.capacity() + size_of::<(Rc<Dir>, PathBuf)>();
        if self.bytes + bytes > MAX_PENDING_BYTES {
            self.dropped += 1;
        } else {
            self.bytes += bytes;
            self.directories.push((Rc::clone(parent), path));
        }
    }

    fn pop(&mut self) -> Option<(Rc<Dir>, PathBuf)> {
        let (parent, path) = self.directories.pop()?;
        self.bytes -= path.capacity() + size_of::<(Rc<Dir>, PathBuf)>();
        Some((parent, path))
    }
}

impl PathPolicy {
    /// The regular files beneath `path`; if `path` is itself one, that file.
    pub fn walk(&self, path: impl AsRef<Path>, walker: &mut Walker) -> Result<Walk, PathError> {
        let (order, most_bytes) = (walker.order, walker.most_bytes);
        let mut kept = Kept::new(walker.limit, most_bytes);
        let mut walk = Walk::default();
        let mut room = most_bytes;
        let unreadable = self.visit(path.as_ref(), walker, &mut |file, _| {
            walk.total += 1;
            walk.total_bytes = walk.total_bytes.saturating_add(file.bytes);
            let ending = ending(&file.path);
            if let Some(count) = walk.endings.get_mut(&ending) {
                *count += 1;
            } else if room > 0 {
                room = room.saturating_sub(ITEM_BYTES + ending.len());
                walk.endings.insert(ending, 1);
            } else {
                walk.other_endings += 1;
            }
            let rank = rank(order, file.bytes, file.modified);
            let key = (Reverse(rank), file.path.into_os_string(), 0);
            kept.offer(key, 0, (file.bytes, file.modified));
            Ok(())
        })?;
        walk.unreadable = unreadable;
        walk.files = kept.into_items(|path, _, (bytes, modified)| WalkedFile {
            path: path.into(),
            bytes,
            modified,
        });
        Ok(walk)
    }

    /// Shows each regular file beneath `path` to `visit`, in any order, and counts the directories
    /// that could not be read.
    pub(crate) fn visit(
        &self,
        path: &Path,
        walker: &mut Walker,
        visit: &mut Visit,
    ) -> Result<u64, PathError> {
        let start = self.resolve(path)?;
        let metadata = self.metadata(&start)?;
        if !metadata.is_dir() {
            expect_file(path, &metadata)?;
            if walker.keeps(Path::new(start.file_name().unwrap_or_default())) {
                visit(walked(start, &metadata), walker.stopped)?;
            }
            return Ok(0);
        }
        let prefix = start.strip_prefix(".").unwrap_or(&start);
        // Depth first, each directory opened from its parent: few handles are open at a time, and
        // no path grows too long for the operating system.
        let mut pending = Pending::default();
        let mut unreadable = 0;
        let root = Rc::new(self.open_directory(&start)?);
        let told = |halt| match halt {
            Halt::Unreadable(source) => self.failure(path, source),
            Halt::Stopped => PathError::Stopped { path: shown(path) },
            Halt::Refused(error) => error,
        };
        let entered = walker.enter(&root, prefix, prefix, &mut pending, visit);
        entered.map_err(told)?;
        while let Some((parent, inner)) = pending.pop() {
            if (walker.stopped)() {
                return Err(told(Halt::Stopped));
            }
            let opened = parent.open_dir(inner.file_name().unwrap_or_default());
            drop(parent);
            let entered = opened.map_err(Halt::Unreadable).and_then(|directory| {
                walker.enter(&Rc::new(directory), &inner, prefix, &mut pending, visit)
            });
            match entered {
                Err(Halt::Unreadable(_)) => unreadable += 1,
                entered => entered.map_err(told)?,
            }
        }
        Ok(unreadable + pending.dropped)
    }
}

impl Walker<'_> {
    /// Reads one directory: its files go to `visit`, its directories to `pending`.
    fn enter(
        &mut self,
        directory: &Rc<Dir>,
        path: &Path,
        prefix: &Path,
        pending: &mut Pending,
        visit: &mut Visit,
    ) -> Result<(), Halt> {
        let entries = directory.entries().map_err(Halt::Unreadable)?;
        for (number, entry) in entries.enumerate() {
            if number % 1024 == 1023 && (self.stopped)() {
                return Err(Halt::Stopped);
            }
            let entry = entry.map_err(Halt::Unreadable)?;
            let name = entry.file_name();
            match entry.file_type().ok().map(Kind::from) {
                Some(Kind::Directory) if !self.skips(&name) => {
                    pending.push(directory, path.join(&name));
                }
                Some(Kind::File) => {
                    let path = path.join(&name);
                    let from_start = path.strip_prefix(prefix).unwrap_or(&path);
                    if self.keeps(from_start)
                        // What vanished since the directory was read is not there.
                        && let Ok(metadata) = entry.metadata()
                        && metadata.is_file()
                    {
                        visit(walked(path, &metadata), self.stopped).map_err(Halt::Refused)?;
                    }
                }
                _ => {}
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

/// What puts a file before others.
pub(crate) fn rank(order: Order, size: u64, modified: Duration) -> u128 {
    match order {
        Order::Path => 0,
        Order::Largest => size.into(),
        Order::Latest => modified.as_nanos(),
    }
}

/// The last `.` of a file's name and what follows it; the dots that hide a file begin no ending.
fn ending(path: &Path) -> OsString {
    let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
    let has_stem = stem.iter().any(|byte| *byte != b'.');
    let extension = path.extension().filter(|_| has_stem);
    let parts = extension.map(|extension| [OsStr::new("."), extension]);
    parts.into_iter().flatten().collect()
}

fn walked(path: PathBuf, metadata: &Metadata) -> WalkedFile {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
        .unwrap_or_default();
    WalkedFile {
        path,
        bytes: metadata.len(),
        modified,
    }
}
