//! The regular files beneath a directory, links never followed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::PathPolicy;
use super::endings::Endings;
use super::error::PathError;
use super::folder::Found;
use super::kept::{Kept, Order};
use super::tour::{Visitor, Walker};

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
    /// Files whose endings were too many to be kept; the first ones by name are.
    pub other_endings: u64,
    /// How many directories could not be read, or were too many at once: their files are missing.
    /// A file of git's rules that could not be read counts, too.
    pub unreadable: u64,
    /// Whether something was left out because git ignores it.
    pub has_ignored: bool,
}

impl PathPolicy {
    /// The regular files beneath `path`; if `path` is itself one, that file.
    pub fn walk(&self, path: impl AsRef<Path>, walker: &mut Walker) -> Result<Walk, PathError> {
        let (order, limit, most_bytes) = (walker.order, walker.limit, walker.most_bytes);
        let make = || Counted {
            order,
            total: 0,
            total_bytes: 0,
            kept: Kept::new(limit, most_bytes),
            endings: Endings::new(most_bytes),
        };
        let visited = self.visit(path.as_ref(), walker, make)?;
        let mut all = make();
        for counted in visited.visitors {
            all.total += counted.total;
            all.total_bytes = all.total_bytes.saturating_add(counted.total_bytes);
            all.kept.merge(counted.kept);
            all.endings.merge(counted.endings);
        }
        let file = |path: OsString, _, (bytes, modified)| WalkedFile {
            path: path.into(),
            bytes,
            modified,
        };
        Ok(Walk {
            files: all.kept.into_items(file),
            total: all.total,
            total_bytes: all.total_bytes,
            endings: all.endings.counts,
            other_endings: all.endings.others,
            unreadable: visited.unreadable,
            has_ignored: visited.has_ignored,
        })
    }
}

/// What one thread of a walk has counted.
struct Counted {
    order: Order,
    total: u64,
    total_bytes: u64,
    kept: Kept<(u64, Duration)>,
    endings: Endings,
}

impl Visitor for Counted {
    fn visit(&mut self, found: &Found<'_>, _: &mut dyn FnMut() -> bool) -> Result<(), PathError> {
        // What vanished since the directory was read is not there.
        let Ok(metadata) = found.metadata() else {
            return Ok(());
        };
        if !metadata.is_file() {
            return Ok(());
        }
        let bytes = metadata.len();
        self.total += 1;
        self.total_bytes = self.total_bytes.saturating_add(bytes);
        self.endings.add(ending(&found.path), 1);
        let modified = since_1970(
            metadata
                .modified()
                .ok()
                .map(cap_std::time::SystemTime::into_std),
        );
        let rank = rank(self.order, bytes, modified);
        let key = (Reverse(rank), found.path.clone().into_os_string(), 0);
        if self.kept.room_for(&key) > 0 {
            self.kept.offer(key, 0, (bytes, modified));
        }
        Ok(())
    }
}

/// What puts a file before others.
pub(super) fn rank(order: Order, size: u64, modified: Duration) -> u128 {
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

/// A time since 1970; zero for an unknown or an earlier one.
pub(super) fn since_1970(time: Option<SystemTime>) -> Duration {
    time.and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .unwrap_or_default()
}
