//! A file is replaced whole, keeps what it has besides its content, and is never one that changed.
//!
//! Holds: sink-60
#![cfg(target_os = "linux")]

mod attributes;
mod crashes;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use amplifier_guard::{PathError, PathPolicy};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

/// A root with `a.txt`, which holds `old`.
fn root() -> (TempDir, PathPolicy) {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("a.txt"), "old").unwrap();
    let policy = PathPolicy::new(root.path()).unwrap();
    (root, policy)
}

/// Whether this user may do everything; nothing in a folder of its own belongs to another.
fn is_root() -> bool {
    let folder = TempDir::new().unwrap();
    fs::metadata(folder.path()).unwrap().uid() == 0
}

/// The names in a folder and what the files hold, sorted.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut found: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap_or_default())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn the_new_file_is_another_one_and_nothing_else_is_left() {
    let (root, policy) = root();
    let mut old = fs::File::open(root.path().join("a.txt")).unwrap();
    assert_eq!(
        policy.replace("a.txt", b"new", None, false).unwrap(),
        Path::new("a.txt")
    );
    assert_eq!(tree(root.path()), [("a.txt".into(), b"new".to_vec())]);
    // Whoever had the old one open reads it to its end.
    let mut content = String::new();
    std::io::Read::read_to_string(&mut old, &mut content).unwrap();
    assert_eq!(content, "old");
}

#[test]
fn a_link_leads_to_what_is_replaced_and_stays() {
    let (root, policy) = root();
    symlink("a.txt", root.path().join("link")).unwrap();
    let landed = policy.replace("link", b"new", Some(b"old"), false).unwrap();
    assert_eq!(landed, Path::new("a.txt"));
    assert!(root.path().join("link").is_symlink());
    assert_eq!(fs::read(root.path().join("a.txt")).unwrap(), b"new");
}

#[test]
fn a_new_file_has_the_usual_mode_and_its_folders_are_made() {
    let (root, policy) = root();
    policy.create("docs/deep/b.txt", b"new", false).unwrap();
    policy
        .replace("docs/deep/c.txt", b"new", None, false)
        .unwrap();
    let mode = |path: &str| fs::metadata(root.path().join(path)).unwrap().mode();
    assert_eq!(mode("docs/deep/b.txt"), mode("a.txt"));
    assert_eq!(mode("docs/deep/c.txt"), mode("a.txt"));
    let names: Vec<_> = tree(&root.path().join("docs/deep"));
    assert_eq!(
        names,
        [
            ("b.txt".into(), b"new".to_vec()),
            ("c.txt".into(), b"new".to_vec())
        ]
    );
}

#[test]
fn a_file_that_is_not_as_expected_is_not_replaced() {
    let (root, policy) = root();
    let before = tree(root.path());
    let refused = |error: PathError| {
        assert!(matches!(error, PathError::Changed { .. }), "{error:?}");
        error.to_string()
    };
    for expected in [&b""[..], b"ol", b"oldd", b"new", b"OLD"] {
        let replaced = policy.replace("a.txt", b"new", Some(expected), false);
        assert_eq!(
            refused(replaced.unwrap_err()),
            "`a.txt` has another content, so it was not changed"
        );
    }
    assert_eq!(
        refused(policy.create("a.txt", b"new", false).unwrap_err()),
        "`a.txt` exists already, so it was not changed"
    );
    assert_eq!(
        refused(
            policy
                .replace("b.txt", b"new", Some(b""), false)
                .unwrap_err()
        ),
        "`b.txt` is gone, so it was not changed"
    );
    assert_eq!(tree(root.path()), before);
}

#[test]
fn a_change_that_no_size_and_no_time_shows_is_found() {
    let (root, policy) = root();
    let path = root.path().join("a.txt");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "OLD").unwrap();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    let replaced = policy.replace("a.txt", b"new", Some(b"old"), false);
    assert!(matches!(replaced, Err(PathError::Changed { .. })));
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced_either() {
    if is_root() {
        return; // may write every file
    }
    let (root, policy) = root();
    let path = root.path().join("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let replaced = policy.replace("a.txt", b"new", None, false);
    assert!(matches!(replaced, Err(PathError::Unwritable { .. })));
    assert_eq!(tree(root.path()), [("a.txt".into(), b"old".to_vec())]);
}

#[test]
fn of_many_that_create_a_file_at_once_one_does() {
    let (root, policy) = root();
    for round in 0..100 {
        let start = Barrier::new(3);
        let create = |writer: u8| {
            start.wait();
            let path = format!("new-{round}");
            policy.create(path, &[writer], false).is_ok()
        };
        let made = thread::scope(|scope| {
            let create = &create;
            let writers = [0, 1, 2].map(|writer| scope.spawn(move || create(writer)));
            writers.map(|writer| writer.join().unwrap())
        });
        let winner = made.iter().position(|made| *made).unwrap();
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        let content = fs::read(root.path().join(format!("new-{round}"))).unwrap();
        assert_eq!(content, [u8::try_from(winner).unwrap()]);
    }
    assert_eq!(tree(root.path()).len(), 101);
}

/// Another program replaces the file as editors do, over and over, and keeps what it displaced.
///
/// What one of the two has put there must have been seen by the one that took it away, or be left.
#[test]
fn no_version_that_somebody_puts_there_meanwhile_is_lost() {
    let (root, policy) = root();
    let target = root.path().join("a.txt");
    let (done, start) = (AtomicBool::new(false), Barrier::new(2));
    let (mut put, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let (mut replaced, mut refused) = (0, 0);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (mut put, mut seen) = (BTreeSet::new(), BTreeSet::new());
            let own = root.path().join("own");
            start.wait();
            for round in 0.. {
                let token = format!("other {round}");
                fs::write(&own, &token).unwrap();
                renameat_with(CWD, &own, CWD, &target, RenameFlags::EXCHANGE).unwrap();
                put.insert(token.into_bytes());
                seen.insert(fs::read(&own).unwrap());
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
            fs::remove_file(&own).unwrap();
            (put, seen)
        });
        start.wait();
        for round in 0..3000 {
            let content = policy.read("a.txt", 100).unwrap();
            let token = format!("ours {round}").into_bytes();
            match policy.replace("a.txt", &token, Some(&content), false) {
                Ok(_) => {
                    put.insert(token);
                    seen.insert(content);
                    replaced += 1;
                }
                Err(PathError::Changed { .. }) => refused += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        done.store(true, Ordering::Relaxed);
        let (others_put, others_seen) = other.join().unwrap();
        put.extend(others_put);
        seen.extend(others_seen);
    });
    seen.extend(tree(root.path()).into_iter().map(|(_, content)| content));
    let lost: Vec<_> = put.difference(&seen).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(
        replaced > 0 && refused > 0,
        "{replaced} replaced, {refused} refused"
    );
}
