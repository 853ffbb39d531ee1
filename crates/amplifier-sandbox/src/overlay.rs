//! A folder whose changes go into a layer of its own (overlayfs).

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use crate::SandboxError;

const MAKE: &str = "make the layer of changes over";

/// A folder that stays as it is, while what changes in it is kept elsewhere.
///
/// All folders are in one file system; `layer` and `work` are empty, and used once.
#[derive(Debug)]
pub struct Overlay {
    /// The folder that is seen, and stays as it is.
    pub folder: PathBuf,
    /// Takes what changes: files that are new or other than before, and marks of deleted ones.
    pub layer: PathBuf,
    /// What the kernel needs beside it.
    pub work: PathBuf,
}

impl Overlay {
    /// Makes the mount, which is nowhere yet.
    ///
    /// The command waits for no disk: whoever takes the changes does.
    pub(crate) fn make(&self) -> Result<OwnedFd, SandboxError> {
        let failed = SandboxError::step_on(MAKE, &self.folder);
        let options = [
            ("lowerdir", &self.folder),
            ("upperdir", &self.layer),
            ("workdir", &self.work),
        ];
        // Some kernels look at them only when all is said.
        let opened: Vec<_> = options
            .into_iter()
            .map(|(option, path)| Ok((option, open_folder(path)?)))
            .collect::<Result<_, SandboxError>>()?;
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).map_err(&failed)?;
        for (option, folder) in &opened {
            // By its descriptor: in paths, some characters would mean something.
            let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
            fsconfig_set_string(context.as_fd(), *option, path).map_err(&failed)?;
        }
        for option in ["userxattr", "volatile"] {
            fsconfig_set_flag(context.as_fd(), option).map_err(&failed)?;
        }
        fsconfig_create(context.as_fd()).map_err(&failed)?;
        fsmount(
            context.as_fd(),
            FsMountFlags::FSMOUNT_CLOEXEC,
            MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
        )
        .map_err(&failed)
    }
}

fn open_folder(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty()).map_err(SandboxError::path("open", path))
}
