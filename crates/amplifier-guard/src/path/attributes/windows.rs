//! The owner, the access list and the attributes; other streams are kept by the call that replaces it.

use std::path::Path;

use cap_std::fs::File;
use winx::file::get_file_path;

use crate::path::error::{PathError, shown};
use crate::path::names::calls;

/// Gives `new` the owner, the access list and the attributes of `old`.
pub(in crate::path) fn copy_attributes(
    path: &Path,
    old: &File,
    new: &std::fs::File,
) -> Result<(), PathError> {
    let copied = old.try_clone().and_then(|old| {
        let old = get_file_path(&old.into_std())?;
        calls()?.copy_access(&old, &get_file_path(new)?)
    });
    copied.map_err(|source| {
        let (path, what) = (shown(path), "its owner or its access list".to_owned());
        PathError::NotKept { path, what, source }
    })
}
