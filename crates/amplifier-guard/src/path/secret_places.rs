//! Files and folders outside of projects that hold secrets: in the home, and of the system.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::protected::{secret_names, secret_rows};
use super::spelling::plain;

/// The places of the list; its head says how it is written.
fn rows() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("secret_places.txt").lines();
    lines.filter(|line| line.starts_with(['~', '/']))
}

/// The absolute paths of what holds secrets outside of projects and is there, sorted.
///
/// That is what a [`PathPolicy`](super::PathPolicy) of the home would not read without approval
/// directly beneath it, and the places of the list `secret_places.txt`. A place that a link leads
/// to is named by its own path, and none in which the whole home is.
#[must_use]
pub fn secret_places(home: &Path) -> Vec<PathBuf> {
    let own = names_in(home)
        .filter(|name| secret_names(&[], name, home.join(name).is_dir()))
        .map(|name| home.join(name));
    let deeper = secret_rows()
        .filter(|names| names.len() > 1)
        .flat_map(|names| find(home, names.iter().copied()));
    let listed = rows().flat_map(|row| match row.strip_prefix("~/") {
        Some(names) => find(home, names.split('/')),
        None => find(Path::new("/"), row.trim_start_matches('/').split('/')),
    });
    let whole_home = home.canonicalize().ok().map(|home| plain(&home));
    let places: BTreeSet<_> = own
        .chain(deeper)
        .chain(listed)
        .filter_map(|path| Some(plain(&path.canonicalize().ok()?)))
        .filter(|path| {
            !whole_home
                .as_ref()
                .is_some_and(|home| home.starts_with(path))
        })
        .collect();
    places.into_iter().collect()
}

/// What is there at some names in a row, each with at most one `*`.
fn find<'row>(start: &Path, names: impl Iterator<Item = &'row str>) -> Vec<PathBuf> {
    let mut paths = vec![start.to_owned()];
    for name in names {
        paths = match name.split_once('*') {
            None => paths.iter().map(|path| path.join(name)).collect(),
            Some((head, tail)) => paths
                .iter()
                .flat_map(|path| names_in(path).map(|found| path.join(found)))
                .filter(|path| {
                    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
                    let rest = name.strip_prefix(head.as_bytes());
                    rest.is_some_and(|rest| rest.ends_with(tail.as_bytes()))
                })
                .collect(),
        };
    }
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths
}

/// The names in a folder; none if it is not there, or cannot be read.
fn names_in(folder: &Path) -> impl Iterator<Item = OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.file_name())
}
