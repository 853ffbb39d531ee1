//! What a file has besides its content is kept, or the file is.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use amplifier_guard::{PathError, PathPolicy};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;

use super::{is_root, root, tree};

const OTHER_USER: u32 = 65534;

/// The root of the child that runs as another user.
const CHILD_ROOT: &str = "REPLACING_CHILD_ROOT";

/// Sets an attribute; false where the file system has none.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Err(Errno::NOTSUP) => false,
        set => {
            set.unwrap();
            true
        }
    }
}

fn get(path: &Path, name: &str) -> Result<Vec<u8>, Errno> {
    let mut value = [0; 256];
    let length = getxattr(path, name, &mut value[..])?;
    Ok(value[..length].to_vec())
}

/// An access list as Linux stores it: the owner, one more user, the group, the mask and others.
fn access_list() -> Vec<u8> {
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in [
        (1u16, 6u16, u32::MAX),
        (2, 6, 1234),
        (4, 4, u32::MAX),
        (16, 6, u32::MAX),
        (32, 0, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[test]
fn the_mode_is_kept() {
    let (root, policy) = root();
    let path = root.path().join("a.txt");
    for mode in [0o600, 0o640, 0o755, 0o666, 0o4755, 0o2755, 0o1644] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        policy.replace("a.txt", b"new", None, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
}

#[test]
fn extended_attributes_are_kept() {
    let (root, policy) = root();
    let path = root.path().join("a.txt");
    if !set(&path, "user.origin", b"elsewhere") || !set(&path, "user.empty", b"") {
        return;
    }
    policy.replace("a.txt", b"new", None, false).unwrap();
    assert_eq!(get(&path, "user.origin"), Ok(b"elsewhere".to_vec()));
    assert_eq!(get(&path, "user.empty"), Ok(vec![]));
}

#[test]
fn an_access_list_is_kept_and_that_of_the_folder_is_not_taken() {
    let (root, policy) = root();
    let (with, without) = (root.path().join("a.txt"), root.path().join("b.txt"));
    fs::write(&without, "old").unwrap();
    fs::set_permissions(&without, Permissions::from_mode(0o644)).unwrap();
    let list = access_list();
    if !set(&with, "system.posix_acl_access", &list)
        || !set(root.path(), "system.posix_acl_default", &list)
    {
        return;
    }
    for name in ["a.txt", "b.txt", "c.txt"] {
        policy.replace(name, b"new", None, false).unwrap();
    }
    assert_eq!(get(&with, "system.posix_acl_access"), Ok(list));
    assert_eq!(get(&without, "system.posix_acl_access"), Err(Errno::NODATA));
    assert_eq!(fs::metadata(&without).unwrap().mode() & 0o7777, 0o644);
    // A new file takes what its folder gives, as any other does.
    fs::write(root.path().join("d.txt"), "new").unwrap();
    let given = |name: &str| get(&root.path().join(name), "system.posix_acl_access");
    assert_eq!(given("c.txt"), given("d.txt"));
}

#[test]
fn root_keeps_the_owner_and_the_group() {
    if !is_root() {
        return;
    }
    let (root, policy) = root();
    let path = root.path().join("a.txt");
    chown(&path, Some(OTHER_USER), Some(1234)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
    policy.replace("a.txt", b"new", None, false).unwrap();
    let found = fs::metadata(&path).unwrap();
    assert_eq!(
        (found.uid(), found.gid(), found.mode() & 0o7777),
        (OTHER_USER, 1234, 0o6755)
    );
}

#[test]
fn a_file_of_another_user_is_refused_and_stays() {
    if let Ok(root) = std::env::var(CHILD_ROOT) {
        refuse_files_of_root(Path::new(&root));
        return;
    }
    if !is_root() {
        return; // nobody to become
    }
    let (root, _) = root();
    fs::set_permissions(root.path(), Permissions::from_mode(0o777)).unwrap();
    for name in ["a.txt", "group.txt"] {
        fs::write(root.path().join(name), "old").unwrap();
        fs::set_permissions(root.path().join(name), Permissions::from_mode(0o666)).unwrap();
    }
    chown(root.path().join("group.txt"), Some(OTHER_USER), Some(1234)).unwrap();
    let before = tree(root.path());
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "path::replacing::attributes::a_file_of_another_user_is_refused_and_stays",
        ])
        .env(CHILD_ROOT, root.path())
        .uid(OTHER_USER)
        .gid(OTHER_USER)
        .output();
    // The other user may have no way to the program.
    if let Ok(output) = child {
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("1 passed"), "{printed}");
    }
    assert_eq!(tree(root.path()), before);
}

fn refuse_files_of_root(root: &Path) {
    let policy = PathPolicy::new(root).unwrap();
    for (name, what) in [
        ("a.txt", "its owner (user 0)"),
        ("group.txt", "its group (1234)"),
    ] {
        let error = policy.replace(name, b"new", None, false).unwrap_err();
        assert!(matches!(error, PathError::NotKept { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!(
                "cannot replace `{name}`: {what} cannot be kept: \
                 Operation not permitted (os error 1)"
            )
        );
    }
}
