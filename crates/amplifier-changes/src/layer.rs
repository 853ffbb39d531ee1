//! Reads the upper layer of an overlay: what a command did to a project.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Stat, fstat};
use rustix::io::{Errno, Result};

use crate::attributes::Marks;
use crate::chosen::{Choice, Chosen};
use crate::identity::{Beneath, Identity, committed_mode, is_folder, lends_rights};
use crate::moment::{Begin, Moment};
use crate::place::Place;
use crate::plan::{Cleaning, FolderChange, FolderState, Kind, Listed, Operation, PathType, Plan};
use crate::same_file::is_same_file;
use crate::seen::{Seen, look};
use crate::tree::{Tree, list_names, stat_in};

const CHANGED_SINCE: &str = "somebody else changed it while the command ran";
const GONE: &str = "somebody else removed it while the command ran";
const LENDING: &str = "its set-user-ID and set-group-ID modes were removed";
const SPECIAL: &str = "a pipe, a socket or a device is not put into a project";

/// Reads what of a layer is to be committed.
pub(crate) fn read_layer(
    project: &Tree,
    layer: &Tree,
    begin: &Begin,
    chosen: &Chosen,
) -> Result<Plan> {
    let mut reader = Reader {
        project,
        layer,
        begin,
        chosen,
        plan: Plan::default(),
        folders: vec![(Place::default(), false)],
    };
    let read = reader.read();
    layer.give_back();
    project.give_back();
    read?;
    let mut plan = reader.plan;
    plan.operations
        .sort_by(|one, other| one.place.cmp(&other.place));
    // Exchanges change the times of the folders that they are in.
    let parents: BTreeSet<_> = plan
        .operations
        .iter()
        .map(|each| each.place.split().0)
        .collect();
    plan.folders
        .retain(|each| parents.contains(&each.place) || each.before != each.after);
    plan.folders
        .sort_by(|one, other| one.place.cmp(&other.place));
    plan.dropped.sort();
    Ok(plan)
}

struct Reader<'reader> {
    project: &'reader Tree,
    layer: &'reader Tree,
    begin: &'reader Begin,
    chosen: &'reader Chosen,
    plan: Plan,
    /// Folders of both trees that are still to be read, and whether nothing is seen through them.
    folders: Vec<(Place, bool)>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<()> {
        while let Some((place, is_opaque)) = self.folders.pop() {
            let folder = self.layer.open_folder(&place)?;
            self.add_folder(&place)?;
            for name in list_names(&folder)? {
                let Some(stat) = stat_in(&folder, &name)? else {
                    continue;
                };
                let place = place.join(&name);
                match self.chosen.of(&place) {
                    Choice::Nothing => {}
                    choice => self.read_entry(&place, &stat, is_opaque, choice)?,
                }
            }
            if is_opaque {
                self.delete_unseen(&place, &[])?;
            }
        }
        Ok(())
    }

    fn read_entry(
        &mut self,
        place: &Place,
        stat: &Stat,
        is_opaque: bool,
        choice: Choice,
    ) -> Result<()> {
        let below = self.project.stat(place)?;
        let is_folder_below = below.as_ref().is_some_and(is_folder);
        if is_whiteout(stat) {
            return match below {
                Some(_) if choice == Choice::Partly && is_folder_below => {
                    self.delete_unseen(place, &[Cleaning::MakeFolder(place.clone())])
                }
                Some(_) => self.delete(place, vec![Cleaning::Remove(place.clone())]),
                None => Ok(()),
            };
        }
        if PathType::of_stat(stat).is_none() {
            self.plan.dropped.push((place.clone(), SPECIAL.into()));
            return Ok(());
        }
        let (folder, name) = self.layer.open_parent(place)?;
        let marks = read_marks(&folder, name, stat)?;
        if is_folder(stat) && is_folder_below {
            let is_opaque = is_opaque || marks.is_opaque;
            if !is_opaque || choice == Choice::Partly {
                self.folders.push((place.clone(), is_opaque));
                return Ok(());
            }
        }
        let before = look(self.project, place)?;
        if before.is_some() && marks.is_copied && is_same_file((self.project, self.layer), place)? {
            return Ok(());
        }
        let conflict = match &before {
            Some(seen) if self.begin.may_precede(seen.newest) => Some(CHANGED_SINCE.into()),
            None if marks.is_copied && self.is_parent_touched(place)? => Some(GONE.into()),
            _ => None,
        };
        let mut operation = Operation {
            place: place.clone(),
            before: before.map(|seen| seen.identity),
            after: None,
            listed: Vec::new(),
            cleanings: Vec::new(),
            conflict,
        };
        self.read_version(&mut operation, stat, marks)?;
        self.list(&mut operation, stat, below.as_ref())?;
        self.plan.operations.push(operation);
        Ok(())
    }

    /// Whether somebody else can have removed or renamed something in the folder of a path. A file that
    /// the command renamed is marked as copied, too, and was never there.
    fn is_parent_touched(&self, place: &Place) -> Result<bool> {
        let parent = self.project.stat(&place.split().0)?;
        Ok(parent.is_none_or(|stat| self.begin.may_precede(Moment::changed(&stat))))
    }

    /// Reads the version of the layer: what is to be cleaned, and what it then is.
    fn read_version(&mut self, operation: &mut Operation, stat: &Stat, marks: Marks) -> Result<()> {
        let place = &operation.place;
        let dropped = &mut self.plan.dropped;
        let cleanings = &mut operation.cleanings;
        let mut clean = |place: &Place, stat: &Stat, marks: Marks| {
            if lends_rights(stat) {
                dropped.push((place.clone(), LENDING.into()));
            }
            if lends_rights(stat) || marks.has_any {
                let mode = committed_mode(stat);
                cleanings.push(Cleaning::Strip(place.clone(), mode, marks.unescaped));
            }
        };
        clean(place, stat, marks);
        let mut identity = Identity::of_stat(stat);
        let mut special = Vec::new();
        if is_folder(stat) {
            let mut beneath = Beneath::default();
            let mut removed = Vec::new();
            let mut times = BTreeMap::from([(place.clone(), Moment::modified(stat))]);
            self.layer.walk(place, |found| {
                let stat = &found.stat;
                if is_folder(stat) {
                    times.insert(found.place.clone(), Moment::modified(stat));
                }
                if is_whiteout(stat) {
                    removed.push(Cleaning::Remove(found.place.clone()));
                    return Ok(false);
                }
                if self.chosen.of(found.place) == Choice::Nothing {
                    removed.push(Cleaning::SetAside(found.place.clone()));
                    return Ok(false);
                }
                if PathType::of_stat(stat).is_none() {
                    special.push((found.place.clone(), SPECIAL.into()));
                    removed.push(Cleaning::Remove(found.place.clone()));
                    return Ok(false);
                }
                let marks = read_marks(found.folder, &found.name(), stat)?;
                clean(found.place, stat, marks);
                let (_, name) = found.place.split();
                beneath.add(found.folder_number, name, &Identity::of_stat(&found.stat));
                Ok(true)
            })?;
            identity = identity.with_digest(beneath);
            let emptied: BTreeSet<_> = removed.iter().filter_map(parent_of_removed).collect();
            cleanings.extend(removed);
            cleanings.extend(emptied.into_iter().filter_map(|folder| {
                let modified = times.get(&folder)?;
                Some(Cleaning::SetModified(folder, *modified))
            }));
        }
        self.plan.dropped.extend(special);
        operation.after = Some(identity);
        Ok(())
    }

    /// Deletes what a folder of the project has and the one of the layer has not.
    fn delete_unseen(&mut self, top: &Place, cleanings: &[Cleaning]) -> Result<()> {
        let mut folders = vec![(top.clone(), cleanings.to_vec())];
        while let Some((place, cleanings)) = folders.pop() {
            let folder = match self.project.open_folder(&place) {
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                opened => opened?,
            };
            if !cleanings.is_empty() {
                // Its own time stays: the command removed it, and that was not chosen.
                let before = FolderState::read(&folder)?;
                let after = before.clone();
                self.push_folder(&place, &folder, before, after)?;
            }
            for name in list_names(&folder)? {
                let place = place.join(&name);
                if self.layer.stat(&place)?.is_some() {
                    continue;
                }
                match self.chosen.of(&place) {
                    Choice::Nothing => {}
                    Choice::Whole => self.delete(&place, cleanings.clone())?,
                    Choice::Partly => {
                        let mut cleanings = cleanings.clone();
                        cleanings.push(Cleaning::MakeFolder(place.clone()));
                        folders.push((place, cleanings));
                    }
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, place: &Place, cleanings: Vec<Cleaning>) -> Result<()> {
        let (Some(Seen { identity, newest }), Some(stat)) =
            (look(self.project, place)?, self.project.stat(place)?)
        else {
            return Ok(());
        };
        let conflict = self.begin.may_precede(newest).then(|| CHANGED_SINCE.into());
        let mut operation = Operation {
            place: place.clone(),
            before: Some(identity),
            after: None,
            listed: Vec::new(),
            cleanings,
            conflict,
        };
        list_tree(self.project, place, &stat, |place, stat| {
            operation
                .listed
                .extend(Listed::new(place, Kind::Deleted, stat));
        })?;
        self.plan.operations.push(operation);
        Ok(())
    }

    /// Lists what a version of the layer does, path by path.
    fn list(&self, operation: &mut Operation, stat: &Stat, below: Option<&Stat>) -> Result<()> {
        let place = operation.place.clone();
        let mut listed = BTreeMap::new();
        if let Some(below) = below {
            list_tree(self.project, &place, below, |place, stat| {
                let each = Listed::new(place, Kind::Deleted, stat);
                listed.extend(each.map(|each| (place.clone(), each)));
            })?;
        }
        list_tree(self.layer, &place, stat, |place, stat| {
            if self.chosen.of(place) == Choice::Nothing {
                return;
            }
            let kind = if listed.contains_key(place) {
                Kind::Modified
            } else {
                Kind::Created
            };
            let each = Listed::new(place, kind, stat);
            listed.extend(each.map(|each| (place.clone(), each)));
        })?;
        operation.listed = listed.into_values().collect();
        Ok(())
    }

    fn add_folder(&mut self, place: &Place) -> Result<()> {
        let below = self.project.open_folder(place)?;
        let before = FolderState::read(&below)?;
        let folder = self.layer.open_folder(place)?;
        let mut after = FolderState::read_in_layer(&folder, &before)?;
        if self.chosen.of(place) != Choice::Whole {
            after = FolderState {
                modified: after.modified,
                ..before.clone()
            };
        }
        self.push_folder(place, &below, before, after)
    }

    fn push_folder(
        &mut self,
        place: &Place,
        folder: &OwnedFd,
        before: FolderState,
        after: FolderState,
    ) -> Result<()> {
        let changed = Moment::changed(&fstat(folder)?);
        let is_touched = self.begin.may_precede(changed);
        let is_conflict = is_touched && !after.has_rights_of(&before);
        self.plan.folders.push(FolderChange {
            place: place.clone(),
            before,
            after,
            sets_modified: !is_touched,
            conflict: is_conflict.then(|| CHANGED_SINCE.into()),
        });
        Ok(())
    }
}

fn read_marks(folder: &impl AsFd, name: &[u8], stat: &Stat) -> Result<Marks> {
    // Links have no attributes that a person can set.
    match PathType::of_stat(stat) {
        Some(PathType::File | PathType::Folder) => Marks::read(folder.as_fd(), name),
        Some(PathType::Link) | None => Ok(Marks::default()),
    }
}

fn list_tree(
    tree: &Tree,
    place: &Place,
    stat: &Stat,
    mut add: impl FnMut(&Place, &Stat),
) -> Result<()> {
    add(place, stat);
    if is_folder(stat) {
        tree.walk(place, |found| {
            add(found.place, &found.stat);
            Ok(true)
        })?;
    }
    Ok(())
}

fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn parent_of_removed(cleaning: &Cleaning) -> Option<Place> {
    match cleaning {
        Cleaning::Remove(place) | Cleaning::SetAside(place) => Some(place.split().0),
        Cleaning::MakeFolder(_) | Cleaning::Strip(..) | Cleaning::SetModified(..) => None,
    }
}
