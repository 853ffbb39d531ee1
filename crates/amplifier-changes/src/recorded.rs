//! Writes of file tools, which need no overlay: the versions from before are copied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat, fstat, openat, readlinkat, symlinkat};
use rustix::io::{Errno, Result};
use sha2::{Digest as _, Sha256};

use crate::attributes::{read_own, replace_own};
use crate::identity::{Identity, is_folder, to_hex};
use crate::manifest::{Clash, Direction, End};
use crate::moment::Moment;
use crate::place::Place;
use crate::plan::{
    FolderChange, FolderState, Kind, Listed, Operation, PathType, Plan, RecordedFile, Recording,
};
use crate::seen::{Seen, look};
use crate::step;
use crate::tree::{Tree, stat_in};

const FOREIGN: &str = "somebody else wrote it meanwhile";

/// Copies files into the layer, durably, and returns what the manifest says of them.
pub(crate) fn keep_files(
    (project, layer): &(Tree, Tree),
    places: &[Place],
    after: &[Option<Vec<u8>>],
) -> Result<Recording> {
    if places.len() != after.len() {
        return Err(Errno::INVAL);
    }
    let mut recording = Recording {
        files: Vec::new(),
        folders: BTreeMap::new(),
        new_folders: BTreeSet::new(),
    };
    for (place, content) in places.iter().zip(after) {
        keep_folders(&mut recording, project, layer, place)?;
        let before = look(project, place)?;
        let copy = match &before {
            Some(seen) => Some(copy_file(project, layer, place, seen)?),
            None => None,
        };
        recording.files.push(RecordedFile {
            place: place.clone(),
            before: before.map(|seen| (seen.identity, seen.newest)),
            copy,
            announced: content
                .as_ref()
                .map(|content| to_hex(&Sha256::digest(content))),
        });
    }
    Ok(recording)
}

/// Makes the folders above a file in the layer, as far as the project has them.
fn keep_folders(
    recording: &mut Recording,
    project: &Tree,
    layer: &Tree,
    place: &Place,
) -> Result<()> {
    let mut above = Place::default();
    let mut names = place.names().peekable();
    while let Some(name) = names.next() {
        let next = above.join(name);
        let is_missing = project.stat(&next)?.is_none();
        if is_missing || names.peek().is_none() {
            let state = FolderState::read(&project.open_folder(&above)?)?;
            recording.folders.entry(above).or_insert(state);
            if names.peek().is_some() {
                recording.new_folders.insert(next);
            }
            return Ok(());
        }
        let folder = layer.open_folder(&above)?;
        match step::make_folder(&folder, name) {
            Err(Errno::EXIST) => {}
            made => {
                made?;
                step::sync(&folder)?;
            }
        }
        above = next;
    }
    Ok(())
}

fn copy_file(project: &Tree, layer: &Tree, place: &Place, seen: &Seen) -> Result<Identity> {
    let (from, name) = project.open_parent(place)?;
    let (to, _) = layer.open_parent(place)?;
    let stat = stat_in(&from, name)?.ok_or(Errno::NOENT)?;
    match PathType::of_stat(&stat) {
        Some(PathType::File) => copy_content(&from, &to, name)?,
        Some(PathType::Link) => symlinkat(readlinkat(&from, name, Vec::new())?, &to, name)?,
        Some(PathType::Folder) => return Err(Errno::ISDIR),
        None => return Err(Errno::INVAL),
    }
    step::set_modified_at(to.as_fd(), name, Moment::modified(&stat))?;
    step::sync(&to)?;
    if look(project, place)?.as_ref() != Some(seen) {
        return Err(Errno::BUSY);
    }
    let copy = look(layer, place)?.ok_or(Errno::NOENT)?;
    Ok(copy.identity)
}

fn copy_content(from: &OwnedFd, to: &OwnedFd, name: &[u8]) -> Result<()> {
    let mut file = open(from, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
    let mut copy = open(to, name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    let stat = fstat(&file)?;
    io::copy(&mut file, &mut copy).map_err(to_errno)?;
    let owner = (stat.st_uid, stat.st_gid);
    if owner_of(&fstat(&copy)?) != owner {
        step::set_owner(copy.as_fd(), owner)?;
    }
    replace_own(&copy, b"", &read_own(file.as_fd(), b"")?)?;
    step::set_mode(copy.as_fd(), stat.st_mode)?;
    step::set_modified(copy.as_fd(), Moment::modified(&stat))?;
    step::sync(&copy)
}

/// Decides what became of each file: nothing, what was announced, or what somebody else wrote.
pub(crate) fn settle(trees: &(Tree, Tree), recording: &Recording) -> Result<(Plan, End)> {
    let (project, layer) = trees;
    let mut plan = Plan::default();
    let mut clashes = Vec::new();
    for file in &recording.files {
        let now = look(project, &file.place)?;
        let is_untouched = match (&now, &file.before) {
            (Some(now), Some((identity, changed))) => {
                now.identity == *identity && now.newest == *changed
            }
            (None, None) => true,
            _ => false,
        };
        if is_untouched {
            continue;
        }
        if read_digest(project, &file.place)? == file.announced {
            let listed = list(trees, file, now.is_some())?;
            plan.operations.push(Operation {
                place: file.place.clone(),
                before: file.copy.clone(),
                after: now.map(|seen| seen.identity),
                listed: listed.into_iter().collect(),
                cleanings: Vec::new(),
                conflict: None,
            });
        } else {
            let is_kept = layer.stat(&file.place)?.is_some();
            let there = Place::default().join(b"layer").join(file.place.as_bytes());
            clashes.push(Clash {
                place: file.place.clone(),
                kept: is_kept.then_some(there),
                reason: FOREIGN.into(),
            });
        }
    }
    for folder in &recording.new_folders {
        add_new_folder(project, folder, &mut plan)?;
    }
    plan.operations
        .sort_by(|one, other| one.place.cmp(&other.place));
    for (place, before) in &recording.folders {
        let Ok(folder) = project.open_folder(place) else {
            continue;
        };
        let modified = FolderState::read(&folder)?.modified;
        plan.folders.push(FolderChange {
            place: place.clone(),
            before: before.clone(),
            after: FolderState {
                modified,
                ..before.clone()
            },
            sets_modified: true,
            conflict: None,
        });
    }
    let end = End {
        direction: Direction::Commit,
        operations: (0..plan.operations.len()).collect(),
        clashes,
    };
    Ok((plan, end))
}

/// Has a folder that the tool made be one operation, if all that is in it is of the tool.
fn add_new_folder(project: &Tree, folder: &Place, plan: &mut Plan) -> Result<()> {
    let (Some(seen), Some(stat)) = (look(project, folder)?, project.stat(folder)?) else {
        return Ok(());
    };
    if !is_folder(&stat) {
        return Ok(());
    }
    let known: BTreeSet<_> = plan
        .operations
        .iter()
        .map(|each| each.place.clone())
        .collect();
    let mut is_ours = true;
    let mut listed: Vec<_> = Listed::new(folder, Kind::Created, &stat)
        .into_iter()
        .collect();
    project.walk(folder, |found| {
        is_ours &= is_folder(&found.stat) || known.contains(found.place);
        listed.extend(Listed::new(found.place, Kind::Created, &found.stat));
        Ok(true)
    })?;
    if is_ours {
        plan.operations
            .retain(|each| !each.place.is_beneath(folder));
        plan.operations.push(Operation {
            place: folder.clone(),
            before: None,
            after: Some(seen.identity),
            listed,
            cleanings: Vec::new(),
            conflict: None,
        });
    }
    Ok(())
}

fn list(
    (project, layer): &(Tree, Tree),
    file: &RecordedFile,
    is_there: bool,
) -> Result<Option<Listed>> {
    let (kind, tree) = match (&file.before, is_there) {
        (Some(_), true) => (Kind::Modified, project),
        (Some(_), false) => (Kind::Deleted, layer),
        (None, _) => (Kind::Created, project),
    };
    let stat = tree.stat(&file.place)?;
    Ok(stat.and_then(|stat| Listed::new(&file.place, kind, &stat)))
}

/// The digest of what a file contains; None if there is none.
fn read_digest(project: &Tree, place: &Place) -> Result<Option<String>> {
    let Some(stat) = project.stat(place)? else {
        return Ok(None);
    };
    if PathType::of_stat(&stat) != Some(PathType::File) {
        return Ok(Some(String::new()));
    }
    let (folder, name) = project.open_parent(place)?;
    let mut file = open(&folder, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(to_errno)? {
            0 => break,
            length => digest.update(&piece[..length]),
        }
    }
    Ok(Some(to_hex(&digest.finalize())))
}

fn open(folder: &OwnedFd, name: &[u8], flags: OFlags) -> Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(openat(folder, name, flags, mode)?.into())
}

fn owner_of(stat: &Stat) -> (u32, u32) {
    (stat.st_uid, stat.st_gid)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn to_errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
