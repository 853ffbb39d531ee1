//! A project, a change of it, and what each of them holds.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, Timespec, Timestamps, UTIME_OMIT, XattrFlags, getxattr,
    listxattr, lsetxattr, mknodat, utimensat,
};
use tempfile::TempDir;

use crate::place::to_text;
use crate::{Change, Kind, Outcome};

/// What is seen of one path: type and mode, owner, mtime, content or target, attributes.
pub(crate) type Look = (u32, u32, u32, (i64, i64), Vec<u8>, Vec<(String, String)>);

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) change: Change,
}

impl World {
    /// A project that `fill` writes, and a change of it that begins.
    pub(crate) fn new(fill: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fill(&project);
        let change = Change::begin(&project, folder.path().join("change")).unwrap();
        Self { folder, change }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn layer(&self) -> PathBuf {
        self.change.layer()
    }

    pub(crate) fn look(&self) -> BTreeMap<Vec<u8>, Look> {
        look(&self.project())
    }
}

/// All of a folder, itself included.
pub(crate) fn look(folder: &Path) -> BTreeMap<Vec<u8>, Look> {
    let mut found = BTreeMap::new();
    let mut paths = vec![folder.to_path_buf()];
    while let Some(path) = paths.pop() {
        let it = fs::symlink_metadata(&path).unwrap();
        let mut content = Vec::new();
        let mut attributes = Vec::new();
        if it.is_dir() {
            paths.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if it.is_symlink() {
            content = fs::read_link(&path)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec();
        } else {
            content = fs::read(&path).unwrap();
        }
        if !it.is_symlink() {
            attributes = read_attributes(&path);
        }
        let name = path
            .strip_prefix(folder)
            .unwrap()
            .as_os_str()
            .as_bytes()
            .to_vec();
        let times = (it.mtime(), it.mtime_nsec());
        found.insert(
            name,
            (it.mode(), it.uid(), it.gid(), times, content, attributes),
        );
    }
    found
}

fn read_attributes(path: &Path) -> Vec<(String, String)> {
    let (mut names, mut value) = (vec![0; 4096], vec![0; 4096]);
    let length = listxattr(path, &mut names[..]).unwrap();
    let names = names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    let mut found = Vec::new();
    for name in names {
        let length = getxattr(path, name, &mut value[..]).unwrap();
        found.push((to_text(name), to_text(&value[..length])));
    }
    found.sort();
    found
}

pub(crate) fn write(folder: &Path, path: &str, content: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn write_bytes(folder: &Path, name: &[u8], content: &str) {
    fs::write(folder.join(OsStr::from_bytes(name)), content).unwrap();
}

pub(crate) fn set_time(path: &Path, seconds: i64) {
    let last_access = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_OMIT,
    };
    let last_modification = Timespec {
        tv_sec: seconds,
        tv_nsec: 123_456_789,
    };
    let times = Timestamps {
        last_access,
        last_modification,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn set_attribute(path: &Path, name: &str, value: &str) {
    lsetxattr(path, name, value.as_bytes(), XattrFlags::empty()).unwrap();
}

pub(crate) fn whiteout(layer: &Path, path: &str) {
    let path = layer.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

pub(crate) fn make_opaque(path: &Path) {
    fs::create_dir_all(path).unwrap();
    set_attribute(path, "user.overlay.opaque", "y");
}

/// The mark of what was there before.
pub(crate) fn mark_copied(path: &Path) {
    set_attribute(path, "user.overlay.origin", "handle");
}

pub(crate) fn link(target: &str, path: &Path) {
    symlink(target, path).unwrap();
}

/// The kinds and paths of what was done.
pub(crate) fn done(outcome: &Outcome) -> Vec<(Kind, String)> {
    let each = outcome.done.iter();
    each.map(|it| (it.kind, to_text(it.path.as_os_str().as_bytes())))
        .collect()
}

/// A commit or the like without conflicts.
pub(crate) fn expect_clean(outcome: &Outcome) {
    assert_eq!(outcome.conflicts, []);
}
