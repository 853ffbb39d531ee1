//! The file system as a command sees it.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind_recursive,
    mount_change, move_mount, open_tree,
};

use crate::devices::mount_devices;
use crate::hidden::{Cover, KERNEL_FOLDERS};
use crate::{Overlay, SandboxError, mount_table};

/// Folders of everybody, in whose place a command has a folder of its session.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What of `/proc` changes the machine, as seen in every namespace.
const SETTINGS: &[&str] = &[
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// What of `/proc` is the same in every namespace and for nobody's eyes.
const KERNEL_FILES: &[&str] = &["/proc/kcore", "/proc/key-users", "/proc/keys"];

/// What of the file system a command sees, and what it can change.
///
/// Everything else is there and read-only. Paths are absolute; of those that lead to nothing, none
/// is an error but a folder that can be written.
#[derive(Debug, Default)]
pub struct View {
    /// Folders that can be written.
    pub writable: Vec<PathBuf>,
    /// One of them whose changes go into a layer of their own.
    pub overlay: Option<Overlay>,
    /// Folders that can be seen, even where something else lies over what is around them.
    pub shown: Vec<PathBuf>,
    /// The folder that stands in the place of `/tmp` and `/var/tmp`.
    pub temporary: PathBuf,
    /// Files and folders beneath `writable` that stay as they are, and cannot be moved.
    pub read_only: Vec<PathBuf>,
    /// Folders beneath `writable` that cannot be moved, nor be replaced.
    pub kept: Vec<PathBuf>,
    /// Files and folders that nobody can read.
    pub hidden: Vec<PathBuf>,
}

impl View {
    /// Mounts everything, in a mount namespace of its own; the first process of a namespace of
    /// processes calls this.
    ///
    /// # Errors
    ///
    /// A folder to write is not there, or the kernel refuses a mount.
    pub fn mount(&self) -> Result<(), SandboxError> {
        mount_change(
            "/",
            MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
        )
        .map_err(SandboxError::step("leave the mounts of the machine alone"))?;
        let temporary = TEMPORARY.map(|_| clone(&self.temporary));
        let read_only = self.shown.iter().map(|path| (path, MountFlags::RDONLY));
        let writable = self.writable.iter().map(|path| (path, MountFlags::empty()));
        let folders: Vec<_> = read_only
            .chain(writable)
            .map(|(path, flags)| Ok((path, flags, self.take(path)?)))
            .collect::<Result<_, SandboxError>>()?;

        mount_table::make_all_read_only()?;
        mount_devices()?;
        for (path, tree) in TEMPORARY.iter().zip(temporary) {
            if Path::new(path).is_dir() {
                place(&tree?, Path::new(path), MountFlags::empty())?;
            }
        }
        for (path, flags, tree) in folders {
            if TEMPORARY
                .iter()
                .any(|temporary| path.starts_with(temporary))
            {
                fs::create_dir_all(path).map_err(SandboxError::path("make the folder", path))?;
            }
            place(&tree, path, flags)?;
        }
        mount_process_table()?;
        self.protect()
    }

    /// Returns what is mounted at a path, or what stands in its place.
    fn take(&self, path: &Path) -> Result<OwnedFd, SandboxError> {
        match &self.overlay {
            Some(overlay) if overlay.folder == path => overlay.make(),
            _ => clone(path),
        }
    }

    /// Takes away what is not for the command in what it sees.
    fn protect(&self) -> Result<(), SandboxError> {
        for path in self.kept.iter().filter_map(|path| path.canonicalize().ok()) {
            pin(&path)?;
        }
        for path in self
            .read_only
            .iter()
            .filter_map(|path| path.canonicalize().ok())
        {
            pin(&path)?;
            mount_table::restrict(&path, MountFlags::RDONLY)?;
        }
        let cover = Cover::make()?;
        for path in self.hidden.iter().map(PathBuf::as_path) {
            cover.put_over(path)?;
        }
        for path in KERNEL_FOLDERS.iter().chain(KERNEL_FILES) {
            cover.put_over(Path::new(path))?;
        }
        Cover::finish()
    }
}

/// Returns a copy of what is mounted at and beneath a path, with its flags as they are now.
fn clone(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(SandboxError::path("take hold of", path))
}

/// Puts a copy at a path, without devices and programs that change the user, and with further flags.
fn place(tree: &OwnedFd, path: &Path, flags: MountFlags) -> Result<(), SandboxError> {
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(SandboxError::path("mount", path))?;
    mount_table::restrict(path, MountFlags::NOSUID | MountFlags::NODEV | flags)
}

/// Makes a mount of its own of a file or folder: what is mounted cannot be moved or replaced.
fn pin(path: &Path) -> Result<(), SandboxError> {
    mount_bind_recursive(path, path).map_err(SandboxError::path("mount", path))
}

/// Mounts the table of the processes in this namespace, with the settings of the machine read-only.
fn mount_process_table() -> Result<(), SandboxError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).map_err(SandboxError::path("mount", "/proc"))?;
    for path in SETTINGS.iter().map(Path::new).filter(|path| path.exists()) {
        pin(path)?;
        mount_table::restrict(path, MountFlags::RDONLY)?;
    }
    Ok(())
}
