//! What is mounted where, as the kernel lists it (`proc_pid_mountinfo(5)`).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_remount};

use crate::SandboxError;

const TABLE: &str = "/proc/self/mountinfo";

/// Flags that must stay when those of a mount are set anew, as their names in the table.
const FLAGS: &[(&str, MountFlags)] = &[
    ("ro", MountFlags::RDONLY),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
];

/// One row of the table.
#[derive(Debug, PartialEq)]
struct Mount {
    path: PathBuf,
    flags: MountFlags,
}

/// Makes everything that is mounted read-only, and free of programs that change the user.
///
/// What nobody can reach, as something else lies over it or a folder above is closed, stays as it is.
pub(crate) fn make_all_read_only() -> Result<(), SandboxError> {
    for mount in read_table()? {
        add_flags(&mount, MountFlags::RDONLY | MountFlags::NOSUID)?;
    }
    Ok(())
}

/// Adds flags to what is mounted at `path`.
pub(crate) fn restrict(path: &Path, added: MountFlags) -> Result<(), SandboxError> {
    let mounts = read_table()?;
    // Of several at one path the last is on top.
    let Some(mount) = mounts.into_iter().rev().find(|mount| mount.path == path) else {
        return Err(SandboxError::path("find the mount at", path)(Errno::INVAL));
    };
    add_flags(&mount, added)
}

fn add_flags(mount: &Mount, added: MountFlags) -> Result<(), SandboxError> {
    if mount.flags.contains(added) {
        return Ok(());
    }
    match mount_remount(&mount.path, MountFlags::BIND | mount.flags | added, "") {
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::INVAL) => Ok(()),
        Err(error) => Err(SandboxError::path(
            "restrict what is mounted at",
            &mount.path,
        )(error)),
    }
}

fn read_table() -> Result<Vec<Mount>, SandboxError> {
    let table = fs::read(TABLE).map_err(SandboxError::path("read", TABLE))?;
    Ok(table
        .split(|byte| *byte == b'\n')
        .filter_map(parse_row)
        .collect())
}

/// Reads a row: number, parent, device, root, mount point, options, …
fn parse_row(row: &[u8]) -> Option<Mount> {
    let mut fields = row.split(|byte| *byte == b' ');
    let path = decode(fields.nth(4)?);
    let options = fields.next()?;
    let flags = options
        .split(|byte| *byte == b',')
        .filter_map(|option| FLAGS.iter().find(|(name, _)| name.as_bytes() == option))
        .fold(MountFlags::empty(), |flags, (_, flag)| flags | *flag);
    Some(Mount { path, flags })
}

/// Returns a path of which blanks and backslashes are written as `\040`.
fn decode(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_path_and_flags() {
        let row = b"36 35 98:0 /mnt1 /mnt\\040two ro,nodev,relatime master:1 - ext4 /dev/root rw";
        let expected = Mount {
            path: "/mnt two".into(),
            flags: MountFlags::RDONLY | MountFlags::NODEV | MountFlags::RELATIME,
        };
        assert_eq!(parse_row(row), Some(expected));
    }

    #[test]
    fn a_row_that_ends_early_is_none() {
        assert_eq!(parse_row(b""), None);
        assert_eq!(parse_row(b"36 35 98:0 / /mnt"), None);
    }

    #[test]
    fn a_path_that_is_not_text_stays_as_it_is() {
        let expected = OsString::from_vec(b"/\xff\\01".to_vec());
        assert_eq!(decode(b"/\xff\\01"), PathBuf::from(expected));
    }
}
