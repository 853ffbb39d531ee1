//! Makes a version of the layer fit for the project.

use std::os::fd::AsFd;

use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use crate::attributes::Marks;
use crate::identity::{Identity, is_folder};
use crate::place::Place;
use crate::plan::{Cleaning, Operation};
use crate::step;
use crate::tree::{Tree, stat_in};

/// Cleans the version of an operation in the layer, unless it is in the project already.
pub(crate) fn clean(layer: &Tree, rest: &Tree, operation: &Operation) -> Result<()> {
    if operation.cleanings.is_empty() {
        return Ok(());
    }
    let now = layer.stat(&operation.place)?;
    let is_ours = match (&operation.after, &now) {
        (Some(after), Some(stat)) => after.inode() == stat.st_ino,
        (Some(_), None) => false,
        // The mark of something deleted, or nothing: not what was deleted.
        (None, now) => {
            let inode = now.as_ref().map(|stat| stat.st_ino);
            operation.before.as_ref().map(Identity::inode) != inode
        }
    };
    if !is_ours {
        return Ok(());
    }
    for (number, cleaning) in operation.cleanings.iter().enumerate() {
        apply(layer, rest, number, cleaning)?;
        layer.give_back();
    }
    Ok(())
}

fn apply(layer: &Tree, rest: &Tree, number: usize, cleaning: &Cleaning) -> Result<()> {
    match cleaning {
        Cleaning::MakeFolder(place) => {
            let (folder, name) = layer.open_parent(place)?;
            if let Some(stat) = stat_in(&folder, name)? {
                if is_folder(&stat) {
                    return Ok(());
                }
                step::remove_file(&folder, name)?;
            }
            step::make_folder(&folder, name)
        }
        Cleaning::Remove(place) => {
            layer.lend(&place.split().0)?;
            layer.delete(place)
        }
        Cleaning::SetAside(place) => {
            if layer.stat(place)?.is_none() {
                return Ok(());
            }
            let (_, name) = place.split();
            let there = make_numbered(rest, number)?.join(name);
            layer.rename_as(place, rest, &there, RenameFlags::NOREPLACE)
        }
        Cleaning::Strip(place, mode, attributes) => {
            let (folder, name) = layer.open_parent(place)?;
            let Some(stat) = stat_in(&folder, name)? else {
                return Ok(());
            };
            match Marks::strip(folder.as_fd(), name, attributes) {
                Err(Errno::ACCESS) => {
                    step::set_mode_at(folder.as_fd(), name, stat.st_mode | 0o600)?;
                    Marks::strip(folder.as_fd(), name, attributes)?;
                }
                stripped => stripped?,
            }
            match stat_in(&folder, name)? {
                Some(stat) if stat.st_mode != *mode => {
                    step::set_mode_at(folder.as_fd(), name, *mode)
                }
                _ => Ok(()),
            }
        }
        Cleaning::SetModified(place, moment) => {
            let (folder, name) = layer.open_parent(place)?;
            step::set_modified_at(folder.as_fd(), name, *moment)
        }
    }
}

/// Makes an empty folder in another one, named by the first free number.
fn make_numbered(tree: &Tree, first: usize) -> Result<Place> {
    let root = tree.open_folder(&Place::default())?;
    let mut number = first;
    loop {
        let name = number.to_string();
        match step::make_folder(&root, name.as_bytes()) {
            Err(Errno::EXIST) => number += 1,
            made => return made.map(|()| Place::default().join(name.as_bytes())),
        }
    }
}

/// Moves a version out of the layer to where a person finds it; None if it is not there.
pub(crate) fn keep(
    layer: &Tree,
    kept: &Tree,
    number: usize,
    place: &Place,
) -> Result<Option<Place>> {
    if layer.stat(place)?.is_none() {
        return Ok(None);
    }
    let folder = make_numbered(kept, number)?;
    let there = folder.join(place.split().1);
    layer.rename_as(place, kept, &there, RenameFlags::NOREPLACE)?;
    layer.give_back();
    Ok(Some(there))
}
