//! Paths for logs and error contexts, without the names of users and machines.

use std::path::{Component, Path, PathBuf};

use super::spelling::with_slashes;
use crate::shown::one_line;

/// `path` for a log: relative to `root` if it lies beneath, else to `home` as `~`, without doubled
/// separators and `.`, without `..` if its spelling allows, and with control and invisible characters
/// escaped.
///
/// Nothing is looked up: links are not followed.
#[must_use]
pub fn log_path(path: &Path, root: Option<&Path>, home: Option<&Path>) -> String {
    let path = normalised(path);
    let beneath = |folder: Option<&Path>| {
        let folder = normalised(folder?);
        // A root of `/` says nothing about anyone.
        let is_known = folder.components().count() > 1;
        is_known.then(|| path.strip_prefix(&folder).ok().map(Path::to_owned))?
    };
    let shortened = match (beneath(root), beneath(home)) {
        (Some(relative), _) if relative.as_os_str().is_empty() => PathBuf::from("."),
        (Some(relative), _) => relative,
        (None, Some(relative)) => Path::new("~").join(relative),
        (None, None) => path,
    };
    let mut text = one_line(with_slashes(shortened).as_os_str().as_encoded_bytes());
    // The remainder of a folder's own path is empty.
    if text.len() > 1 && text.ends_with('/') {
        text.pop();
    }
    text
}

fn normalised(path: &Path) -> PathBuf {
    let mut normalised = PathBuf::new();
    for component in path.components() {
        match (component, normalised.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                normalised.pop();
            }
            _ => normalised.push(component),
        }
    }
    normalised
}
