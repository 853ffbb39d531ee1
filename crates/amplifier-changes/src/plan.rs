//! What a change does, path by path: what its manifest holds.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Result;
use serde::{Deserialize, Serialize};

use crate::attributes::{Attribute, is_of_overlay, read_own, read_own_in_layer};
use crate::identity::{Identity, size_of};
use crate::moment::Moment;
use crate::place::Place;

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It is new.
    Created,
    /// Another version takes its place.
    Modified,
    /// It goes away.
    Deleted,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathType {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
}

impl PathType {
    /// Reads the type of what a project can hold; None for pipes, sockets and devices.
    pub(crate) fn of_stat(stat: &Stat) -> Option<Self> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Some(Self::File),
            FileType::Directory => Some(Self::Folder),
            FileType::Symlink => Some(Self::Link),
            _ => None,
        }
    }
}

/// One path that a person is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
    pub(crate) path_type: PathType,
    pub(crate) size: u64,
}

impl Listed {
    /// None for what is never committed.
    pub(crate) fn new(place: &Place, kind: Kind, stat: &Stat) -> Option<Self> {
        let path_type = PathType::of_stat(stat)?;
        let is_folder = path_type == PathType::Folder;
        Some(Self {
            place: place.clone(),
            kind,
            path_type,
            size: if is_folder { 0 } else { size_of(stat) },
        })
    }
}

/// Something to do in the layer before a version of it goes into the project. Doing it again is harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cleaning {
    /// Have a folder where none is, for what is deleted there.
    MakeFolder(Place),
    /// Remove what is never committed.
    Remove(Place),
    /// Move away what was not chosen.
    SetAside(Place),
    /// Remove the marks of the kernel, and set the mode.
    Strip(Place, u32, Vec<Attribute>),
    /// Set back the time of a folder of which something was removed.
    SetModified(Place, Moment),
}

/// One exchange: a path in the project by the same one in the layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) place: Place,
    /// The version from before; None if there is none.
    pub(crate) before: Option<Identity>,
    /// The version of the change; None if there is none.
    pub(crate) after: Option<Identity>,
    pub(crate) listed: Vec<Listed>,
    pub(crate) cleanings: Vec<Cleaning>,
    /// Why it is not done.
    pub(crate) conflict: Option<String>,
}

/// What is set of a folder that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FolderState {
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) modified: Moment,
}

impl FolderState {
    pub(crate) fn read(folder: &OwnedFd) -> Result<Self> {
        let stat = fstat(folder)?;
        Ok(Self::new(&stat, read_own(folder.as_fd(), b"")?))
    }

    /// Reads that of a folder in a layer, as the command saw it over one of the project.
    pub(crate) fn read_in_layer(folder: &OwnedFd, below: &Self) -> Result<Self> {
        let stat = fstat(folder)?;
        let mut attributes = read_own_in_layer(folder.as_fd(), b"")?;
        // No command sees such attributes of the project, so that it cannot have removed them.
        let hidden = below.attributes.iter().filter(|each| is_of_overlay(each));
        attributes.extend(hidden.cloned());
        attributes.sort_unstable();
        attributes.dedup();
        Ok(Self::new(&stat, attributes))
    }

    fn new(stat: &Stat, attributes: Vec<Attribute>) -> Self {
        Self {
            mode: stat.st_mode,
            owner: (stat.st_uid, stat.st_gid),
            attributes,
            modified: Moment::modified(stat),
        }
    }

    /// Whether all but the time is the same.
    pub(crate) fn has_rights_of(&self, other: &Self) -> bool {
        self.mode == other.mode && self.owner == other.owner && self.attributes == other.attributes
    }
}

/// A folder that is there before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FolderChange {
    pub(crate) place: Place,
    pub(crate) before: FolderState,
    pub(crate) after: FolderState,
    /// Whether nobody else has touched it, so that its time can be set.
    pub(crate) sets_modified: bool,
    /// Why its mode, owner and attributes are not set.
    pub(crate) conflict: Option<String>,
}

/// All that a change does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// None lies beneath another one.
    pub(crate) operations: Vec<Operation>,
    pub(crate) folders: Vec<FolderChange>,
    /// What is never committed, and why.
    pub(crate) dropped: Vec<(Place, String)>,
}

/// What a tool is about to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recording {
    pub(crate) files: Vec<RecordedFile>,
    /// The folders that the files are in, as they were.
    pub(crate) folders: BTreeMap<Place, FolderState>,
    /// The topmost folders that the tool has to make.
    pub(crate) new_folders: BTreeSet<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedFile {
    pub(crate) place: Place,
    /// What was in the project, with its ctime.
    pub(crate) before: Option<(Identity, Moment)>,
    /// Its copy in the layer.
    pub(crate) copy: Option<Identity>,
    /// The digest of what will be there.
    pub(crate) announced: Option<String>,
}
