//! Folders on the way of a walk: each is opened from the one around it, and no link is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cap_std::fs::{Dir, Metadata};

use super::git_ignore::Rules;
use super::one_name::{open_file, open_folder};
use super::protected::{folded_names, secret_names};
use super::rule_files::rules_in;

/// As many folders are kept open for those in them; others are opened again, from the nearest one
/// around them that is open.
const MAX_HANDLES: usize = 64;
/// Of deeper ones every so many are, until these are as many again.
const DEPTH_BETWEEN_HANDLES: usize = 32;

/// What all folders of a walk share.
#[derive(Clone, Default)]
pub(super) struct Sums {
    /// Folders that are open.
    handles: Arc<AtomicUsize>,
    /// Bytes of the rules of git.
    pub(super) rules: Arc<AtomicUsize>,
}

/// A folder beneath which something is still to be read.
pub(super) struct Folder {
    parent: Option<Arc<Folder>>,
    /// For the first one its path from the root.
    name: OsString,
    depth: usize,
    handle: Option<Arc<Handle>>,
    /// What git ignores in it.
    pub(super) rules: Option<Arc<Rules>>,
}

/// An open folder.
struct Handle {
    directory: Dir,
    count: Arc<AtomicUsize>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // One after the other: folders may be deeper than calls.
        let mut parent = self.parent.take();
        while let Some(mut folder) = parent.and_then(Arc::into_inner) {
            parent = folder.parent.take();
        }
    }
}

impl Folder {
    fn path(&self) -> PathBuf {
        let mut names = vec![self.name.as_os_str()];
        let mut next = self.parent.as_deref();
        while let Some(folder) = next {
            names.push(&folder.name);
            next = folder.parent.as_deref();
        }
        names.iter().rev().collect()
    }

    /// Opens the folder `name` in this one, from the nearest folder around it that is open.
    fn open_inner(&self, name: &OsStr) -> io::Result<Dir> {
        let mut names = vec![name];
        let mut next = Some(self);
        while let Some(folder) = next {
            if let Some(handle) = &folder.handle {
                let mut names = names.iter().rev();
                let first = names.next().unwrap_or(&name);
                let opened = open_folder(&handle.directory, first);
                return names.try_fold(opened?, |directory, name| open_folder(&directory, name));
            }
            names.push(&folder.name);
            next = folder.parent.as_deref();
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A folder that is being read.
pub(super) struct Opened {
    pub(super) folder: Arc<Folder>,
    handle: Arc<Handle>,
    /// From the root.
    pub(super) path: PathBuf,
    folded: OnceLock<Vec<String>>,
    /// Whether its rules of git could not be read.
    pub(super) lacks_rules: bool,
}

impl Opened {
    /// The folder where a walk begins, and the rules of the folders around it.
    pub(super) fn first(
        directory: Dir,
        path: PathBuf,
        outer: Option<Arc<Rules>>,
        reads_rules: bool,
        sums: &Sums,
    ) -> Self {
        Self::new(None, directory, path, outer, reads_rules, sums)
    }

    /// The folder `name` in another one.
    pub(super) fn inner(
        parent: &Arc<Folder>,
        name: OsString,
        reads_rules: bool,
        sums: &Sums,
    ) -> io::Result<Self> {
        let directory = parent.open_inner(&name)?;
        let outer = parent.rules.clone();
        let parent = Some(Arc::clone(parent));
        Ok(Self::new(
            parent,
            directory,
            name.into(),
            outer,
            reads_rules,
            sums,
        ))
    }

    fn new(
        parent: Option<Arc<Folder>>,
        directory: Dir,
        name: PathBuf,
        outer: Option<Arc<Rules>>,
        reads_rules: bool,
        sums: &Sums,
    ) -> Self {
        let path = parent
            .as_ref()
            .map_or_else(PathBuf::new, |parent| parent.path())
            .join(&name);
        let (rules, read) = if reads_rules {
            rules_in(&directory, &path, outer, &sums.rules)
        } else {
            (None, true)
        };
        let open = sums.handles.fetch_add(1, Ordering::Relaxed);
        let count = Arc::clone(&sums.handles);
        let handle = Arc::new(Handle { directory, count });
        let depth = parent.as_ref().map_or(0, |parent| parent.depth + 1);
        let is_milestone = depth.is_multiple_of(DEPTH_BETWEEN_HANDLES) && open < 2 * MAX_HANDLES;
        let stays = depth == 0 || open < MAX_HANDLES || is_milestone;
        let folder = Arc::new(Folder {
            parent,
            name: name.into(),
            depth,
            handle: stays.then(|| Arc::clone(&handle)),
            rules,
        });
        Self {
            folder,
            handle,
            path,
            folded: OnceLock::new(),
            lacks_rules: !read,
        }
    }

    pub(super) fn directory(&self) -> &Dir {
        &self.handle.directory
    }

    /// Whether a file or a folder that is here holds secrets, by its path.
    pub(super) fn has_secret(&self, name: &OsStr, is_folder: bool) -> bool {
        let folders = self.folded.get_or_init(|| folded_names(&self.path));
        secret_names(folders, name, is_folder)
    }
}

/// A regular file in an open folder.
pub(super) struct Found<'walk> {
    pub(super) opened: &'walk Opened,
    pub(super) name: &'walk OsStr,
    pub(super) path: PathBuf,
}

impl Found<'_> {
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.opened.directory().symlink_metadata(self.name)
    }

    /// Opens it; what has become a link, a pipe or a device meanwhile is refused and not waited for.
    pub(super) fn open(&self) -> io::Result<(File, std::fs::Metadata)> {
        let file = open_file(self.opened.directory(), self.name)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok((file, metadata))
    }

    /// Whether it holds secrets, by its path.
    pub(super) fn is_secret(&self) -> bool {
        self.opened.has_secret(self.name, false)
    }
}
