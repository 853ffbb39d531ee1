//! A file is removed or renamed if it is the one that the caller knows, and nothing else is.
//!
//! Holds: sink-65
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use amplifier_guard::{PathError, PathPolicy};
use tempfile::TempDir;

/// A folder with a root in it, which holds `a.txt` with `old`, `b.txt`, links and hard links.
fn root() -> (TempDir, PathPolicy) {
    let outside = TempDir::new().unwrap();
    let root = outside.path().join("root");
    fs::create_dir_all(root.join("docs")).unwrap();
    fs::write(outside.path().join("secret"), "theirs").unwrap();
    fs::write(root.join("a.txt"), "old").unwrap();
    fs::write(root.join("b.txt"), "other").unwrap();
    fs::write(root.join("one"), "two names").unwrap();
    fs::hard_link(root.join("one"), root.join("two")).unwrap();
    symlink("a.txt", root.join("link")).unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink("missing", root.join("nowhere")).unwrap();
    symlink("docs", root.join("folder")).unwrap();
    symlink("..", root.join("up")).unwrap();
    let policy = PathPolicy::new(&root).unwrap();
    (outside, policy)
}

/// All paths beneath a folder, and what the files hold, sorted.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(tree(&path));
        } else {
            let name = path.to_str().unwrap().to_owned();
            found.push((name, fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_file_that_is_as_expected_is_removed_and_nothing_is_left() {
    let (outside, policy) = root();
    let before = tree(outside.path());
    let removed = policy.remove("./docs/../a.txt", Some(b"old"), false);
    assert_eq!(removed.unwrap(), Path::new("a.txt"));
    let after = tree(outside.path());
    let gone: Vec<_> = before.iter().filter(|file| !after.contains(file)).collect();
    // The link to it now leads nowhere.
    assert_eq!(gone.len(), 2);
    assert_eq!(before.len(), after.len() + 1);
    fs::write(policy.root().join("docs/c.txt"), "").unwrap();
    let removed = policy.remove("folder/c.txt", None, false).unwrap();
    assert_eq!(removed, Path::new("docs/c.txt"));
}

#[test]
fn a_file_that_gets_another_name_is_the_same_one() {
    let (_outside, policy) = root();
    let old = policy.root().join("a.txt");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::metadata(&old).unwrap();
    let renamed = policy.rename("a.txt", "new/deep/c.txt", Some(b"old"), false);
    assert_eq!(renamed.unwrap(), Path::new("new/deep/c.txt"));
    assert!(!old.exists());
    let after = fs::metadata(policy.root().join("new/deep/c.txt")).unwrap();
    assert_eq!(
        (after.ino(), after.mode(), after.mtime_nsec()),
        (before.ino(), before.mode(), before.mtime_nsec())
    );
}

#[test]
fn what_is_not_as_expected_or_must_not_be_changed_stays() {
    let (outside, policy) = root();
    fs::create_dir(policy.root().join(".git")).unwrap();
    fs::write(policy.root().join(".git/config"), "").unwrap();
    fs::write(policy.root().join(".env"), "").unwrap();
    let before = tree(outside.path());
    let cases = [
        ("link", "`link` is a link, not a regular file"),
        ("up/root/a.txt", "leads outside"),
        ("out", "leads outside"),
        ("../secret", "leads outside"),
        ("nowhere", "`nowhere` is a link, not a regular file"),
        ("docs", "`docs` is a directory, not a regular file"),
        ("folder", "`folder` is a directory, not a regular file"),
        ("missing", "no file or directory `missing`"),
        ("none/a.txt", "no file or directory `none/a.txt`"),
        ("two", "`two` has 2 hard links"),
        (".env", "`.env` holds secrets"),
        (".git/config", "`.git` belongs to version control"),
        (
            "b.txt",
            "`b.txt` has another content, so it was not changed",
        ),
    ];
    for (path, message) in cases {
        for changed in [
            policy.remove(path, Some(b"old"), false),
            policy.rename(path, "new.txt", Some(b"old"), false),
        ] {
            let found = changed.unwrap_err().to_string();
            assert!(found.contains(message), "{path}: {found}");
            // What it is is said before anything is done, what it holds only then.
            match policy.removable(path, false) {
                Ok(target) => assert_eq!(target, Path::new("b.txt")),
                Err(error) => assert_eq!(error.to_string(), found),
            }
        }
    }
    let cases = [
        ("b.txt", "`b.txt` exists already, so it was not changed"),
        ("a.txt", "`a.txt` exists already, so it was not changed"),
        ("link", "`link` exists already, so it was not changed"),
        (".env", "`.env` holds secrets"),
        ("../new", "leads outside"),
        ("docs", "`docs` is a directory"),
        ("aux", "reserved for a device"),
    ];
    for (path, message) in cases {
        let found = policy.rename("a.txt", path, None, false).unwrap_err();
        assert!(found.to_string().contains(message), "{path}: {found}");
    }
    assert_eq!(tree(outside.path()), before);
    policy.remove(".git/config", Some(b""), true).unwrap();
    policy.rename("a.txt", ".git/config", None, true).unwrap();
}

/// Another program replaces the file over and over while it is removed.
#[test]
fn no_version_that_somebody_puts_there_meanwhile_is_removed() {
    let (_outside, policy) = root();
    let root = policy.root();
    let (done, start) = (AtomicBool::new(false), Barrier::new(2));
    let (mut removed, mut refused) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for round in 0.. {
                fs::write(root.join("own"), format!("theirs {round}")).unwrap();
                fs::rename(root.join("own"), root.join("a.txt")).unwrap();
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        start.wait();
        for _ in 0..2000 {
            match policy.remove("a.txt", Some(b"old"), false) {
                Ok(_) => removed += 1,
                Err(PathError::Changed { .. } | PathError::Missing { .. }) => refused += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(removed <= 1, "{removed} removed, {refused} refused");
    let last = fs::read_to_string(root.join("a.txt")).unwrap();
    assert!(last.starts_with("theirs"), "{last}");
}
