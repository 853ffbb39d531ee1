//! How paths are spelled for people, models and other programs.

use std::path::{Component, Path, PathBuf, Prefix};

/// A path as people and other programs write it, without the prefix `\\?\` of canonical paths on
/// Windows; elsewhere the path.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut components = path.components();
    let Some(Component::Prefix(prefix)) = components.next() else {
        return path.to_owned();
    };
    let start = match prefix.kind() {
        Prefix::VerbatimDisk(drive) => format!("{}:", char::from(drive)).into(),
        Prefix::VerbatimUNC(server, share) => {
            let mut start = std::ffi::OsString::from(r"\\");
            start.push(server);
            start.push(r"\");
            start.push(share);
            start
        }
        _ => return path.to_owned(),
    };
    // What follows begins with the separator.
    Path::new(&start).join(components.as_path())
}

/// A path with `/` between its names, as models and bash write it; on Windows the system has `\`.
#[must_use]
pub fn with_slashes(path: PathBuf) -> PathBuf {
    match path.to_str() {
        Some(text) if cfg!(windows) => text.replace('\\', "/").into(),
        _ => path,
    }
}
