//! What lies over files and folders that a command must not read.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};

use crate::SandboxError;

/// Folders by which the kernel shows its inside.
pub(crate) const KERNEL_FOLDERS: &[&str] = &[
    "/sys/firmware",
    "/sys/fs/bpf",
    "/sys/kernel/config",
    "/sys/kernel/debug",
    "/sys/kernel/security",
    "/sys/kernel/tracing",
];

const MAKE: &str = "make what hides files at";
const PLACE: &str = "/dev/.cover";
const FILE: &str = "/dev/.cover/file";
const FOLDER: &str = "/dev/.cover/folder";

/// A file and a folder that nobody can open, in a file system that nobody can change.
pub(crate) struct Cover {
    file: &'static str,
    folder: &'static str,
}

impl Cover {
    /// Makes them in the new `/dev`.
    pub(crate) fn make() -> Result<Self, SandboxError> {
        fs::create_dir(PLACE).map_err(SandboxError::path(MAKE, PLACE))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("tmpfs", PLACE, "tmpfs", flags, Some(c"size=64k,mode=0755"))
            .map_err(SandboxError::path(MAKE, PLACE))?;
        File::create(FILE).map_err(SandboxError::path(MAKE, FILE))?;
        fs::create_dir(FOLDER).map_err(SandboxError::path(MAKE, FOLDER))?;
        for path in [FILE, FOLDER] {
            fs::set_permissions(path, Permissions::from_mode(0o0))
                .map_err(SandboxError::path(MAKE, path))?;
        }
        mount_remount(PLACE, flags | MountFlags::RDONLY, "")
            .map_err(SandboxError::path(MAKE, PLACE))?;
        Ok(Self {
            file: FILE,
            folder: FOLDER,
        })
    }

    /// Hides a file or folder, and where a link leads; what is not there stays so.
    pub(crate) fn put_over(&self, path: &Path) -> Result<(), SandboxError> {
        let Ok(path) = path.canonicalize() else {
            return Ok(());
        };
        let Ok(found) = fs::symlink_metadata(&path) else {
            return Ok(());
        };
        let cover = if found.is_dir() {
            self.folder
        } else {
            self.file
        };
        mount_bind(cover, &path).map_err(SandboxError::path("hide", path))
    }

    /// Takes away the place where they were made; what lies over files stays.
    pub(crate) fn finish() -> Result<(), SandboxError> {
        unmount(PLACE, UnmountFlags::DETACH).map_err(SandboxError::path("remove", PLACE))?;
        fs::remove_dir(PLACE).map_err(SandboxError::path("remove", PLACE))?;
        mount_remount(
            "/dev",
            MountFlags::BIND | MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::RDONLY,
            "",
        )
        .map_err(SandboxError::path("remove", "/dev"))
    }
}
