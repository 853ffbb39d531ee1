//! The way of several threads through the files beneath a directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::PathPolicy;
use super::crew::{Crew, Job};
use super::entry::Kind;
use super::error::{PathError, shown};
use super::expect_file;
use super::folder::{Found, Opened, Sums};
use super::kept::Order;
use super::pattern::NamePattern;

/// So many files are handed to a thread that has nothing to do.
const FILES_AT_ONCE: usize = 32;
/// So many folders are read one within another where there is no room to read them later.
const MAX_NESTED: usize = 64;

/// How to walk: what to leave out, what to keep, when to give up.
pub struct Walker<'caller> {
    /// Names of files and directories that are left out, at any depth beneath the start.
    pub skip: &'caller [OsString],
    /// Whether what git ignores is left out: by `.gitignore` files from the root on, and by
    /// `.git/info/exclude`. A start that is named is not.
    pub skip_ignored: bool,
    /// The files to keep, by their paths from the start; all if absent.
    pub pattern: Option<&'caller NamePattern>,
    /// Which files come first.
    pub order: Order,
    /// How many files are kept.
    pub limit: usize,
    /// About how many bytes what is kept takes; each kind of result by itself.
    pub most_bytes: usize,
    /// Asked now and then whether to give up, by the calling thread.
    pub stopped: &'caller mut dyn FnMut() -> bool,
}

/// What one thread shows each file to.
pub(super) trait Visitor: Send {
    /// Whether to walk through the folder `name` in an open one.
    fn enters(&mut self, _opened: &Opened, _name: &OsStr) -> bool {
        true
    }

    /// Takes a file, and may end the walk.
    fn visit(
        &mut self,
        found: &Found<'_>,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), PathError>;
}

/// What a walk leaves behind.
pub(super) struct Visited<V> {
    pub(super) visitors: Vec<V>,
    pub(super) unreadable: u64,
    pub(super) has_ignored: bool,
    /// Whether folders were left out because there were too many at once.
    pub(super) was_full: bool,
}

impl PathPolicy {
    /// Shows each regular file beneath `path` to the visitor of one of several threads, in any order.
    pub(super) fn visit<V: Visitor>(
        &self,
        path: &Path,
        walker: &mut Walker,
        make: impl Fn() -> V + Sync,
    ) -> Result<Visited<V>, PathError> {
        let start = self.resolve(path)?;
        let metadata = self.metadata(&start)?;
        let sums = Sums::default();
        if !metadata.is_dir() {
            expect_file(path, &metadata)?;
            let mut visitor = make();
            let name = start.file_name().unwrap_or_default();
            if walker
                .pattern
                .is_none_or(|pattern| pattern.matches(name.as_ref()))
            {
                let above = start.parent().unwrap_or(Path::new("")).to_owned();
                let directory = self.open_directory(&Path::new(".").join(&above))?;
                let opened = &Opened::first(directory, above, None, false, &sums);
                let found = Found {
                    opened,
                    name,
                    path: start.clone(),
                };
                let visited = visitor.visit(&found, walker.stopped);
                visited.map_err(|failure| match failure {
                    PathError::Stopped { .. } => PathError::Stopped { path: shown(path) },
                    failure => failure,
                })?;
            }
            return Ok(Visited {
                visitors: vec![visitor],
                unreadable: 0,
                has_ignored: false,
                was_full: false,
            });
        }
        let prefix = start.strip_prefix(".").unwrap_or(&start);
        let outer = walker
            .skip_ignored
            .then(|| self.rules_above(prefix, &sums.rules))
            .flatten();
        let directory = self.open_directory(&start)?;
        let first = Opened::first(directory, prefix.into(), outer, walker.skip_ignored, &sums);
        let tour = Tour {
            policy: self,
            path,
            prefix,
            skip: walker.skip,
            skip_ignored: walker.skip_ignored,
            pattern: walker.pattern,
            crew: Crew::default(),
            sums,
            unreadable: u64::from(first.lacks_rules).into(),
            has_ignored: false.into(),
            was_full: false.into(),
        };
        tour.crew.offer(Job::Start(first));
        let (visitors, failure) = tour
            .crew
            .run(walker.stopped, make, |visitor, job, stopped| {
                tour.work(visitor, job, stopped, 0);
            });
        if let Some(failure) = failure {
            return Err(failure);
        }
        if tour.crew.is_stopped() {
            return Err(PathError::Stopped { path: shown(path) });
        }
        Ok(Visited {
            visitors,
            unreadable: tour.unreadable.into_inner(),
            has_ignored: tour.has_ignored.into_inner(),
            was_full: tour.was_full.into_inner(),
        })
    }
}

/// One walk, as its threads see it.
struct Tour<'walk> {
    policy: &'walk PathPolicy,
    /// The start as the caller named it, and from the root.
    path: &'walk Path,
    prefix: &'walk Path,
    skip: &'walk [OsString],
    skip_ignored: bool,
    pattern: Option<&'walk NamePattern>,
    crew: Crew,
    sums: Sums,
    unreadable: AtomicU64,
    has_ignored: AtomicBool,
    was_full: AtomicBool,
}

impl Tour<'_> {
    fn work(
        &self,
        visitor: &mut impl Visitor,
        job: Job,
        stopped: &mut dyn FnMut() -> bool,
        nesting: usize,
    ) {
        match job {
            Job::Start(first) => {
                if let Err(source) = self.read(visitor, first, stopped, nesting) {
                    self.crew.stop(Some(self.policy.failure(self.path, source)));
                }
            }
            Job::Folder(parent, name) => {
                let opened = Opened::inner(&parent, name, self.skip_ignored, &self.sums);
                drop(parent);
                let read = opened.and_then(|opened| {
                    self.count_unreadable(opened.lacks_rules);
                    self.read(visitor, opened, stopped, nesting)
                });
                self.count_unreadable(read.is_err());
            }
            Job::Files(opened, names) => self.show(visitor, &opened, &names, stopped),
        }
    }

    /// Reads one directory: its files are shown, its directories are left for later.
    fn read(
        &self,
        visitor: &mut impl Visitor,
        opened: Opened,
        stopped: &mut dyn FnMut() -> bool,
        nesting: usize,
    ) -> io::Result<()> {
        let opened = Arc::new(opened);
        let mut names = Vec::new();
        for (number, entry) in opened.directory().entries()?.enumerate() {
            if self.crew.is_stopped() || number % 1024 == 1023 && stopped() {
                return Ok(());
            }
            let entry = entry?;
            let name = entry.file_name();
            let kind = entry.file_type().ok().map(Kind::from);
            if self.leaves_out(&opened, &name, kind) {
                continue;
            }
            match kind {
                Some(Kind::Directory) if visitor.enters(&opened, &name) => {
                    let job = Job::Folder(Arc::clone(&opened.folder), name);
                    let Some(job) = self.crew.offer(job) else {
                        continue;
                    };
                    if nesting < MAX_NESTED {
                        self.work(visitor, job, stopped, nesting + 1);
                    } else {
                        self.count_unreadable(true);
                        self.was_full.store(true, Relaxed);
                    }
                }
                Some(Kind::File) => {
                    names.push(name);
                    if names.len() == FILES_AT_ONCE {
                        self.hand_over(visitor, &opened, std::mem::take(&mut names), stopped);
                    }
                }
                _ => {}
            }
        }
        self.hand_over(visitor, &opened, names, stopped);
        Ok(())
    }

    fn leaves_out(&self, opened: &Opened, name: &OsStr, kind: Option<Kind>) -> bool {
        if self.skip.iter().any(|skipped| skipped == name) {
            return true;
        }
        let Some(rules) = &opened.folder.rules else {
            return false;
        };
        let path = opened.path.join(name);
        let is_folder = kind == Some(Kind::Directory);
        let is_ignored = rules.ignore(path.as_os_str().as_encoded_bytes(), is_folder);
        if is_ignored && (is_folder || kind == Some(Kind::File) && self.keeps(&path)) {
            self.has_ignored.store(true, Relaxed);
        }
        is_ignored
    }

    /// Gives files to a thread that has nothing to do; without one, they are shown at once.
    fn hand_over(
        &self,
        visitor: &mut impl Visitor,
        opened: &Arc<Opened>,
        names: Vec<OsString>,
        stopped: &mut dyn FnMut() -> bool,
    ) {
        let is_for_later = names.len() == FILES_AT_ONCE && self.crew.is_alone();
        if !is_for_later && !self.crew.is_idle() {
            return self.show(visitor, opened, &names, stopped);
        }
        let job = Job::Files(Arc::clone(opened), names);
        if let Some(Job::Files(_, names)) = self.crew.offer(job) {
            self.show(visitor, opened, &names, stopped);
        }
    }

    fn show(
        &self,
        visitor: &mut impl Visitor,
        opened: &Opened,
        names: &[OsString],
        stopped: &mut dyn FnMut() -> bool,
    ) {
        for name in names {
            if stopped() {
                return;
            }
            let path = opened.path.join(name);
            if self.keeps(&path)
                && let Err(failure) = visitor.visit(&Found { opened, name, path }, stopped)
            {
                let is_reason = !matches!(failure, PathError::Stopped { .. });
                return self.crew.stop(is_reason.then_some(failure));
            }
        }
    }

    fn keeps(&self, path: &Path) -> bool {
        let from_start = path.strip_prefix(self.prefix).unwrap_or(path);
        self.pattern
            .is_none_or(|pattern| pattern.matches(from_start))
    }

    fn count_unreadable(&self, is_unreadable: bool) {
        self.unreadable.fetch_add(is_unreadable.into(), Relaxed);
    }
}
