//! The devices that a command sees: none by which it could read or change the machine.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use crate::SandboxError;

const SHARED: &[&str] = &["full", "null", "random", "tty", "urandom", "zero"];
const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
];

/// Files that every program may write to.
pub(crate) const FOR_ALL: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Files and folders of the new `/dev` that a command writes to as well: its own terminals and
/// shared memory.
pub(crate) const OF_A_COMMAND: &[&str] = &["/dev/ptmx", "/dev/pts", "/dev/shm"];

/// Mounts a new `/dev`, with terminals and shared memory of its own.
pub(crate) fn mount_devices() -> Result<(), SandboxError> {
    let devices = SHARED
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .filter(|path| path.exists())
        .map(|path| Ok((take(&path)?, path)))
        .collect::<Result<Vec<(OwnedFd, PathBuf)>, SandboxError>>()?;

    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let failed = |path| SandboxError::path("mount", path);
    mount("tmpfs", "/dev", "tmpfs", flags, Some(c"mode=0755")).map_err(failed("/dev"))?;
    for (device, path) in devices {
        File::create(&path).map_err(SandboxError::path("make", &path))?;
        move_mount(
            &device,
            "",
            CWD,
            &path,
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
        )
        .map_err(SandboxError::path("mount", &path))?;
    }
    for (target, path) in LINKS {
        symlink(target, path).map_err(SandboxError::path("make", path))?;
    }
    for path in ["/dev/pts", "/dev/shm"] {
        fs::create_dir(path).map_err(SandboxError::path("make the folder", path))?;
    }
    let options = Some(c"newinstance,ptmxmode=0666,mode=0620");
    mount("devpts", "/dev/pts", "devpts", flags, options).map_err(failed("/dev/pts"))?;
    let options = Some(c"mode=1777");
    mount(
        "tmpfs",
        "/dev/shm",
        "tmpfs",
        flags | MountFlags::NODEV,
        options,
    )
    .map_err(failed("/dev/shm"))
}

fn take(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, flags).map_err(SandboxError::path("take hold of", path))
}
