//! The second names that Windows gives to files, such as `SECRET~1.TXT`.

use std::ffi::OsStr;
use std::path::{Component, Path};

use cap_std::fs::Dir;

use super::PathPolicy;
use super::error::{PathError, shown};

impl PathPolicy {
    /// Refuses a path with such a name, as it is spelled: what it leads to has another one, by which
    /// it would be judged.
    pub(super) fn expect_long_names(&self, path: &Path, relative: &Path) -> Result<(), PathError> {
        for named in relative.ancestors() {
            if let Some(Component::Normal(name)) = named.components().next_back() {
                self.expect_long_name(path, named.parent().unwrap_or(named), name)?;
            }
        }
        Ok(())
    }

    /// Refuses such a name of something in a folder.
    pub(super) fn expect_long_name(
        &self,
        path: &Path,
        folder: &Path,
        name: &OsStr,
    ) -> Result<(), PathError> {
        if !name.as_encoded_bytes().contains(&b'~') {
            return Ok(());
        }
        match self.directory.open_dir(Path::new(".").join(folder)) {
            Ok(folder) if is_short(&folder, name) => Err(PathError::Form {
                path: shown(path),
                reason: "it has a short name of Windows, which is that of another file",
            }),
            _ => Ok(()),
        }
    }
}

/// Whether what `name` leads to in a folder has another name there.
fn is_short(folder: &Dir, name: &OsStr) -> bool {
    if folder.symlink_metadata(name).is_err() {
        return false;
    }
    let lower = name.to_string_lossy().to_lowercase();
    // What cannot be listed may have any name.
    let Ok(mut entries) = folder.entries() else {
        return true;
    };
    !entries.any(|entry| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().to_lowercase() == lower)
    })
}
