//! Access to files by Landlock (landlock(7)): what holds where mounts do not, or stands behind them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::SandboxError;
use crate::devices;
use crate::hidden::KERNEL_FOLDERS;

/// The newest version that these rules were tried with.
const VERSION: ABI = ABI::V7;

/// The files that a command may reach.
#[derive(Debug, Default)]
pub struct FileAccess {
    /// Folders and files that can be read and run.
    pub readable: Vec<PathBuf>,
    /// Folders that can be written, too.
    pub writable: Vec<PathBuf>,
    /// Whether there are no namespaces: then the kernel must also keep signals and abstract sockets
    /// inside, and terminals and shared memory are those of others.
    pub is_outside: bool,
}

impl FileAccess {
    /// Returns access to everything that is beneath no `hidden` file or folder, for reading; of devices
    /// to those alone that every program uses.
    ///
    /// What is made later beside a hidden one cannot be read.
    #[must_use]
    pub fn without(hidden: &[PathBuf]) -> Self {
        let of_the_machine = KERNEL_FOLDERS.iter().chain(&["/dev"]).map(Path::new);
        let hidden: BTreeSet<_> = hidden
            .iter()
            .map(PathBuf::as_path)
            .chain(of_the_machine)
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        let mut readable = Vec::new();
        read_around(Path::new("/"), &hidden, &mut readable);
        Self {
            readable,
            ..Self::default()
        }
    }

    /// Restricts this process and what it will run to these files, for good.
    ///
    /// # Errors
    ///
    /// The kernel has no Landlock, or none that keeps what must be kept.
    pub fn restrict(&self) -> Result<(), SandboxError> {
        let status = self
            .try_restrict()
            .map_err(|error| SandboxError::Landlock(error.to_string()))?;
        if status == RulesetStatus::NotEnforced {
            return Err(SandboxError::Landlock("this kernel has no Landlock".into()));
        }
        Ok(())
    }

    fn try_restrict(&self) -> Result<RulesetStatus, RulesetError> {
        // Nobody makes devices.
        let write = AccessFs::from_all(VERSION) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
        let device = AccessFs::ReadFile
            | AccessFs::ReadDir
            | AccessFs::WriteFile
            | AccessFs::IoctlDev
            | AccessFs::Truncate;
        let own: &[&str] = if self.is_outside {
            &[]
        } else {
            devices::OF_A_COMMAND
        };
        let devices = devices::FOR_ALL.iter().chain(own);
        let scopes = if self.is_outside {
            CompatLevel::HardRequirement
        } else {
            CompatLevel::BestEffort
        };
        let names: BitFlags<AccessFs> = AccessFs::ReadDir.into();
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(VERSION))?
            .set_compatibility(scopes)
            .scope(Scope::from_all(VERSION))?
            .set_compatibility(CompatLevel::BestEffort)
            .create()?
            .add_rules(path_beneath_rules(["/"], names))?
            .add_rules(path_beneath_rules(
                &self.readable,
                AccessFs::from_read(VERSION),
            ))?
            .add_rules(path_beneath_rules(&self.writable, write))?
            .add_rules(path_beneath_rules(devices, device))?
            .restrict_self()?;
        Ok(status.ruleset)
    }
}

/// Adds what is at and beneath a folder, but not what is hidden.
fn read_around(folder: &Path, hidden: &BTreeSet<PathBuf>, readable: &mut Vec<PathBuf>) {
    if hidden.contains(folder) {
        return;
    }
    if !hidden.iter().any(|path| path.starts_with(folder)) {
        readable.push(folder.into());
        return;
    }
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        // A link is followed when it is used, and what it leads to has a rule of its own.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            read_around(&entry.path(), hidden, readable);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_hidden_is_beneath_no_readable_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("home/keys/old")).unwrap();
        for name in ["home/keys/one", "home/notes", "home/token"] {
            fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("home/token"), root.join("link")).unwrap();
        let hidden = ["home/keys", "link", "none"].map(|name| root.join(name));

        let mut access = FileAccess::without(&hidden);
        access.readable.retain(|path| path.starts_with(&root));
        assert_eq!(access.readable, [root.join("home/notes")]);
    }

    #[test]
    fn devices_of_the_machine_are_hidden() {
        let readable = FileAccess::without(&[]).readable;
        assert!(
            readable
                .iter()
                .all(|path| !path.starts_with("/dev") && path != "/")
        );
        assert!(readable.contains(&"/usr".into()));
    }
}
