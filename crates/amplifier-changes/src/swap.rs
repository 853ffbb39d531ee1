//! Exchanges the versions of one path: the step that commits, undoes and redoes alike.

use std::os::fd::AsFd;

use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use crate::identity::Identity;
use crate::moment::Moment;
use crate::place::Place;
use crate::seen::{Seen, look};
use crate::step;
use crate::tree::{Tree, stat_in};

const CHANGED: &str = "somebody else changed it";
const OTHER_CHANGED: &str = "the version to put there was changed";

/// The versions of a path: the one that is in the project, and the one that is to be there.
pub(crate) struct Versions<'versions> {
    pub(crate) have: Option<&'versions Identity>,
    pub(crate) want: Option<&'versions Identity>,
}

/// Returns why a path cannot be exchanged; None if it can, or was already.
pub(crate) fn find_obstacle(
    project: &Tree,
    layer: &Tree,
    place: &Place,
    versions: &Versions<'_>,
) -> Option<String> {
    match compare(project, layer, place, versions) {
        Ok(Sides::Before | Sides::After) => None,
        Ok(Sides::Other(reason)) => Some(reason.into()),
        Err(error) => Some(describe("it cannot be read", error)),
    }
}

/// Exchanges a path; returns why it was not, and that it is then as it was.
pub(crate) fn swap(
    project: &Tree,
    layer: &Tree,
    place: &Place,
    versions: &Versions<'_>,
) -> std::result::Result<(), String> {
    let swapped = match compare(project, layer, place, versions) {
        Ok(Sides::After) => Ok(()),
        Ok(Sides::Before) => move_versions(project, layer, place, versions),
        Ok(Sides::Other(reason)) => Err(reason.into()),
        Err(error) => Err(describe("it cannot be read", error)),
    };
    if swapped.is_ok() {
        for (tree, version) in [(project, versions.want), (layer, versions.have)] {
            set_folder_time(tree, place, version);
        }
    }
    project.give_back();
    layer.give_back();
    swapped
}

/// Where the versions of a path are.
enum Sides {
    /// As they are before an exchange.
    Before,
    After,
    Other(&'static str),
}

fn compare(project: &Tree, layer: &Tree, place: &Place, versions: &Versions<'_>) -> Result<Sides> {
    let (there, here) = (look(project, place)?, look(layer, place)?);
    Ok(
        if is(there.as_ref(), versions.want) && is(here.as_ref(), versions.have) {
            Sides::After
        } else if !is(there.as_ref(), versions.have) {
            Sides::Other(CHANGED)
        } else if !is(here.as_ref(), versions.want) {
            Sides::Other(OTHER_CHANGED)
        } else {
            Sides::Before
        },
    )
}

fn move_versions(
    project: &Tree,
    layer: &Tree,
    place: &Place,
    versions: &Versions<'_>,
) -> std::result::Result<(), String> {
    let cannot = |error| describe("it cannot be put there", error);
    match (versions.have, versions.want) {
        (None, None) => return Ok(()),
        (None, Some(_)) => {
            let moved = layer.rename_to(place, project, RenameFlags::NOREPLACE);
            return moved.map_err(|error| match error {
                Errno::EXIST => CHANGED.into(),
                error => cannot(error),
            });
        }
        (Some(_), None) => project.rename_to(place, layer, RenameFlags::NOREPLACE),
        (Some(_), Some(_)) => project.rename_to(place, layer, RenameFlags::EXCHANGE),
    }
    .map_err(cannot)?;
    // Between the look and the exchange somebody may have put another file there.
    match look(layer, place) {
        Ok(displaced) if is(displaced.as_ref(), versions.have) => Ok(()),
        _ => {
            let flags = match versions.want {
                Some(_) => RenameFlags::EXCHANGE,
                None => RenameFlags::NOREPLACE,
            };
            // If a third version is there by now, the second one stays in the layer.
            layer.rename_to(place, project, flags).map_err(cannot)?;
            Err(CHANGED.into())
        }
    }
}

/// Gives a folder the time of its version, which the exchange may have changed.
///
/// Where it cannot be set, only the time is another one.
fn set_folder_time(tree: &Tree, place: &Place, version: Option<&Identity>) {
    let Some((inode, modified)) = version.and_then(|it| Some((it.inode(), it.folder_modified()?)))
    else {
        return;
    };
    if let Ok((parent, name)) = tree.open_parent(place)
        && let Ok(Some(stat)) = stat_in(&parent, name)
        && stat.st_ino == inode
        && Moment::modified(&stat) != modified
    {
        let _ = step::set_modified_at(parent.as_fd(), name, modified);
    }
}

fn is(seen: Option<&Seen>, version: Option<&Identity>) -> bool {
    match (seen, version) {
        (Some(seen), Some(version)) => seen.identity.is_version(version),
        (seen, version) => seen.is_none() && version.is_none(),
    }
}

fn describe(what: &str, error: Errno) -> String {
    let error = std::io::Error::from(error);
    format!("{what}: {error}")
}
