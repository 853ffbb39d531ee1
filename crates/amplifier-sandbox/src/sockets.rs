//! The sockets that programs of this machine listen at under a path.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::SandboxError;

const TABLE: &str = "/proc/net/unix";

/// Returns the paths of the sockets in the network namespace of this process, each once.
///
/// # Errors
///
/// The table of the kernel cannot be read.
pub fn find_sockets() -> Result<Vec<PathBuf>, SandboxError> {
    let table = fs::read(TABLE).map_err(SandboxError::path("read", TABLE))?;
    let mut paths: Vec<_> = table
        .split(|byte| *byte == b'\n')
        .filter_map(path_of)
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The path in a row of the table: after seven columns, the rest of the row.
fn path_of(row: &[u8]) -> Option<PathBuf> {
    let path = &row[row.iter().position(|byte| *byte == b'/')?..];
    Some(Path::new(OsStr::from_bytes(path)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_with_its_path() {
        let rows: [&[u8]; 4] = [
            b"Num       RefCount Protocol Flags    Type St Inode Path",
            b"0000000000000000: 00000002 00000000 00010000 0001 01 16215 /run/a socket",
            b"0000000000000000: 00000003 00000000 00000000 0001 03 16216",
            b"0000000000000000: 00000002 00000000 00010000 0001 01 16217 @/abstract",
        ];
        let paths: Vec<_> = rows.into_iter().map(path_of).collect();
        assert_eq!(paths[..3], [None, Some("/run/a socket".into()), None]);
    }
}
