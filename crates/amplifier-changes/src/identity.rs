//! Which version of a path is which.

use std::collections::HashMap;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::moment::Moment;

/// The modes that lend the rights of its owner or group to whoever runs a file. Of a folder they say
/// only which group new files get.
const LENDING: u32 = 0o6000;

/// A version of a path: the file itself, not only what it contains.
///
/// Without its ctime, which each rename changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    inode: u64,
    mode: u32,
    /// Of a folder 0: it depends on the file system.
    size: u64,
    modified: Moment,
    owner: (u32, u32),
    /// Of a folder: of all that is beneath it.
    digest: Option<String>,
}

impl Identity {
    pub(crate) fn inode(&self) -> u64 {
        self.inode
    }

    pub(crate) fn of_stat(stat: &Stat) -> Self {
        let is_folder = is_folder(stat);
        Self {
            inode: stat.st_ino,
            mode: committed_mode(stat),
            size: if is_folder { 0 } else { size_of(stat) },
            modified: Moment::modified(stat),
            owner: (stat.st_uid, stat.st_gid),
            digest: None,
        }
    }

    /// When a folder was changed last; None of all else.
    pub(crate) fn folder_modified(&self) -> Option<Moment> {
        self.digest.as_ref().map(|_| self.modified)
    }

    /// Whether both are the same version.
    ///
    /// The time of a folder is left out: XFS sets it when the folder is exchanged.
    pub(crate) fn is_version(&self, other: &Self) -> bool {
        let mut it = self.clone();
        if self.folder_modified().is_some() && other.folder_modified().is_some() {
            it.modified = other.modified;
        }
        it == *other
    }

    pub(crate) fn with_digest(mut self, beneath: Beneath) -> Self {
        self.digest = Some(to_hex(&beneath.0.finalize()));
        self
    }
}

/// Copies that stand for files which are no more, as a later write of a tool has replaced those.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(HashMap<u64, (Identity, u64)>);

impl Copies {
    pub(crate) fn add(&mut self, copy: &Identity, original: &Identity) {
        self.0.insert(copy.inode, (copy.clone(), original.inode));
    }

    /// Returns what a version stands for: itself, or the first of which it is a copy of a copy.
    fn resolve(&self, mut identity: Identity) -> Identity {
        for _ in 0..self.0.len() {
            match self.0.get(&identity.inode) {
                Some((copy, original)) if *copy == identity => identity.inode = *original,
                _ => break,
            }
        }
        identity
    }

    pub(crate) fn identify(&self, stat: &Stat) -> Identity {
        self.resolve(Identity::of_stat(stat))
    }
}

/// Collects what is beneath a folder, in the order of a walk.
#[derive(Default)]
pub(crate) struct Beneath(Sha256);

impl Beneath {
    /// Adds a name in one of the folders, which have numbers: the paths of a long chain are too long.
    pub(crate) fn add(&mut self, folder_number: u64, name: &[u8], it: &Identity) {
        self.0.update(name);
        self.0.update([0]);
        for number in [folder_number, it.inode, u64::from(it.mode), it.size] {
            self.0.update(number.to_le_bytes());
        }
        self.0.update(it.modified.0.to_le_bytes());
        for number in [it.modified.1, it.owner.0, it.owner.1] {
            self.0.update(number.to_le_bytes());
        }
    }
}

/// The mode with which something is committed.
pub(crate) fn committed_mode(stat: &Stat) -> u32 {
    if lends_rights(stat) {
        stat.st_mode & !LENDING
    } else {
        stat.st_mode
    }
}

pub(crate) fn lends_rights(stat: &Stat) -> bool {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file && stat.st_mode & LENDING != 0
}

pub(crate) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}
