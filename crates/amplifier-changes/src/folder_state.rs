//! Sets modes, owners, attributes and times of folders that stay.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, Result};

use crate::attributes::replace_own;
use crate::place::Place;
use crate::plan::FolderState;
use crate::step;
use crate::tree::Tree;

/// What its owner needs in a folder, and may have got from an operation that a crash ended.
const ACCESS: u32 = 0o700;

/// Which states a folder has and gets, and what of it is set.
pub(crate) struct Setting<'states> {
    pub(crate) have: &'states FolderState,
    pub(crate) want: &'states FolderState,
    pub(crate) sets_rights: bool,
    pub(crate) sets_modified: bool,
    /// Whether the mode may be one that a crash left.
    pub(crate) is_recovery: bool,
}

/// Whether somebody else has changed the rights of a folder that are to be set.
pub(crate) fn is_foreign(project: &Tree, place: &Place, setting: &Setting<'_>) -> Result<bool> {
    let now = read(project, place)?;
    Ok(setting.has_rights() && now.is_none_or(|(_, now)| !setting.knows(&now)))
}

/// Whether the time of a folder is the one that it has by the change.
pub(crate) fn has_time(project: &Tree, place: &Place, state: &FolderState) -> bool {
    matches!(read(project, place), Ok(Some((_, now))) if now.modified == state.modified)
}

/// Sets what is to be set; returns false if somebody else has changed the rights.
pub(crate) fn set(project: &Tree, place: &Place, setting: &Setting<'_>) -> Result<bool> {
    let Some((folder, now)) = read(project, place)? else {
        return Ok(!setting.has_rights());
    };
    let is_known = setting.knows(&now);
    let want = setting.want;
    if is_known && (setting.has_rights() || setting.is_recovery) {
        if now.attributes != want.attributes {
            match replace_own(&folder, b"", &want.attributes) {
                Err(Errno::ACCESS) => {
                    step::set_mode(folder.as_fd(), now.mode | ACCESS)?;
                    replace_own(&folder, b"", &want.attributes)?;
                }
                replaced => replaced?,
            }
        }
        if now.owner != want.owner {
            step::set_owner(folder.as_fd(), want.owner)?;
        }
        if rustix::fs::fstat(&folder)?.st_mode != want.mode {
            step::set_mode(folder.as_fd(), want.mode)?;
        }
    }
    if setting.sets_modified {
        step::set_modified(folder.as_fd(), want.modified)?;
    }
    Ok(is_known || !setting.has_rights())
}

impl Setting<'_> {
    /// Whether rights are set at all.
    fn has_rights(&self) -> bool {
        self.sets_rights && !self.have.has_rights_of(self.want)
    }

    /// Whether the rights are those before or after, or what a crash can have left of both.
    fn knows(&self, now: &FolderState) -> bool {
        let states = [self.have, self.want];
        if states.iter().any(|state| now.has_rights_of(state)) {
            return true;
        }
        let has_mode = states
            .iter()
            .any(|it| [it.mode, it.mode | ACCESS].contains(&now.mode));
        let has_owner = states.iter().any(|it| it.owner == now.owner);
        let has_attributes = now
            .attributes
            .iter()
            .all(|each| states.iter().any(|state| state.attributes.contains(each)));
        self.is_recovery && has_mode && has_owner && has_attributes
    }
}

fn read(project: &Tree, place: &Place) -> Result<Option<(OwnedFd, FolderState)>> {
    let opened = project.open_folder(place);
    project.give_back();
    match opened {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
        Ok(folder) => {
            let state = FolderState::read(&folder)?;
            Ok(Some((folder, state)))
        }
    }
}
