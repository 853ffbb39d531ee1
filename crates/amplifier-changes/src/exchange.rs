//! Exchanges all versions of a change, forth or back; what a crash interrupted is done again alike.

use std::path::Path;

use rustix::fs::{Mode, mkdirat};
use rustix::io::{Errno, Result};

use crate::clean::{clean, keep};
use crate::folder_state::{Setting, has_time, is_foreign, set};
use crate::manifest::{Clash, Direction, End, Start};
use crate::place::Place;
use crate::plan::{FolderChange, FolderState, Operation, Plan};
use crate::swap::{Versions, find_obstacle, swap};
use crate::tree::Tree;

const RIGHTS_CHANGED: &str = "somebody else changed its mode, owner or attributes";

pub(crate) struct Exchange<'exchange> {
    project: &'exchange Tree,
    layer: &'exchange Tree,
    folder: &'exchange Path,
    plan: &'exchange Plan,
    direction: Direction,
    is_recovery: bool,
}

impl<'exchange> Exchange<'exchange> {
    pub(crate) fn new(
        trees: &'exchange (Tree, Tree),
        folder: &'exchange Path,
        plan: &'exchange Plan,
        direction: Direction,
        is_recovery: bool,
    ) -> Self {
        Self {
            project: &trees.0,
            layer: &trees.1,
            folder,
            plan,
            direction,
            is_recovery,
        }
    }

    /// Why an operation cannot be done; None if it can.
    pub(crate) fn find_clash(&self, number: usize) -> Option<Clash> {
        let operation = &self.plan.operations[number];
        let versions = self.versions(operation);
        let reason = find_obstacle(self.project, self.layer, &operation.place, &versions)?;
        Some(self.leave(&operation.place, reason))
    }

    /// The folders whose times are as the change left them, so that they can be set.
    pub(crate) fn find_timed_folders(&self) -> Vec<usize> {
        let all = self.plan.folders.iter().enumerate();
        let timed =
            all.filter(|(_, folder)| has_time(self.project, &folder.place, self.states(folder).0));
        timed.map(|(number, _)| number).collect()
    }

    /// The folders whose modes, owners or attributes somebody else has changed.
    pub(crate) fn find_foreign_folders(&self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for folder in &self.plan.folders {
            let is_foreign = is_foreign(self.project, &folder.place, &self.setting(folder, false));
            if is_foreign.unwrap_or(true) {
                clashes.push(foreign(folder));
            }
        }
        clashes
    }

    /// Does all that a line of the manifest announces.
    pub(crate) fn perform(&self, start: &Start) -> Result<End> {
        let mut operations = Vec::new();
        let mut clashes = Vec::new();
        for (number, operation) in self.plan.operations.iter().enumerate() {
            let done = if start.operations.binary_search(&number).is_ok() {
                self.exchange(operation)
            } else if self.direction == Direction::Commit {
                Err(operation.conflict.clone().unwrap_or_default())
            } else {
                continue;
            };
            match done {
                Ok(()) => operations.push(number),
                Err(reason) => clashes.push(self.put_aside(number, operation, reason)?),
            }
        }
        for (number, folder) in self.plan.folders.iter().enumerate() {
            let setting = self.setting(folder, start.folders.binary_search(&number).is_ok());
            let is_set = set(self.project, &folder.place, &setting);
            match (&folder.conflict, is_set) {
                (Some(_), _) if self.direction != Direction::Commit => {}
                (None, Ok(true)) => {}
                (_, _) => clashes.push(foreign(folder)),
            }
        }
        Ok(End {
            direction: self.direction,
            operations,
            clashes,
        })
    }

    fn exchange(&self, operation: &Operation) -> std::result::Result<(), String> {
        if self.direction == Direction::Commit {
            self.clean(operation).map_err(|error| {
                let error = std::io::Error::from(error);
                format!("its version could not be made fit for the project: {error}")
            })?;
        }
        let versions = self.versions(operation);
        swap(self.project, self.layer, &operation.place, &versions)
    }

    fn clean(&self, operation: &Operation) -> Result<()> {
        if operation.cleanings.is_empty() {
            return Ok(());
        }
        clean(self.layer, &self.open_beside("rest")?, operation)
    }

    /// Names the version that is not in the project; that of a command is moved out of the layer.
    fn put_aside(&self, number: usize, operation: &Operation, reason: String) -> Result<Clash> {
        if self.direction != Direction::Commit {
            return Ok(self.leave(&operation.place, reason));
        }
        // What cannot be cleaned is kept as it is.
        let _ = self.clean(operation);
        let kept = keep(
            self.layer,
            &self.open_beside("kept")?,
            number,
            &operation.place,
        )?;
        Ok(Clash {
            place: operation.place.clone(),
            kept: kept.map(|place| beside("kept", &place)),
            reason,
        })
    }

    fn leave(&self, place: &Place, reason: String) -> Clash {
        let is_there = matches!(self.layer.stat(place), Ok(Some(_)));
        Clash {
            place: place.clone(),
            kept: is_there.then(|| beside("layer", place)),
            reason,
        }
    }

    fn versions<'plan>(&self, operation: &'plan Operation) -> Versions<'plan> {
        let (before, after) = (operation.before.as_ref(), operation.after.as_ref());
        match self.direction {
            Direction::Commit | Direction::Redo => Versions {
                have: before,
                want: after,
            },
            Direction::Undo => Versions {
                have: after,
                want: before,
            },
        }
    }

    fn states<'plan>(
        &self,
        folder: &'plan FolderChange,
    ) -> (&'plan FolderState, &'plan FolderState) {
        match self.direction {
            Direction::Commit | Direction::Redo => (&folder.before, &folder.after),
            Direction::Undo => (&folder.after, &folder.before),
        }
    }

    fn setting<'plan>(&self, folder: &'plan FolderChange, sets_modified: bool) -> Setting<'plan> {
        let (have, want) = self.states(folder);
        Setting {
            have,
            want,
            sets_rights: folder.conflict.is_none(),
            sets_modified,
            is_recovery: self.is_recovery,
        }
    }

    /// Opens a folder of the change, and makes it if it is missing.
    fn open_beside(&self, name: &str) -> Result<Tree> {
        let path = self.folder.join(name);
        match mkdirat(rustix::fs::CWD, &path, Mode::RWXU) {
            Err(error) if error != Errno::EXIST => Err(error),
            _ => Tree::open(&path),
        }
    }
}

fn beside(name: &str, place: &Place) -> Place {
    Place::default()
        .join(name.as_bytes())
        .join(place.as_bytes())
}

fn foreign(folder: &FolderChange) -> Clash {
    let reason = folder.conflict.clone();
    Clash {
        place: folder.place.clone(),
        kept: None,
        reason: reason.unwrap_or_else(|| RIGHTS_CHANGED.into()),
    }
}
