//! Walks, searches and windows are complete, bounded and repeatable.
#![cfg(unix)]

mod ignored;
mod search;
mod secret;
mod secret_list;
mod walk;
mod window;

use std::fs;

use amplifier_guard::{LineRange, LineSearch, Order, PathError, PathPolicy, SearchReport, Walker};
use tempfile::TempDir;

const ALL: LineRange = LineRange {
    first: 1,
    limit: u64::MAX,
    most_bytes: usize::MAX,
};

fn folder(files: &[(&str, &[u8])]) -> (TempDir, PathPolicy) {
    let folder = TempDir::new().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let policy = PathPolicy::new(folder.path()).unwrap();
    (folder, policy)
}

fn folder_of(text: &str) -> (TempDir, PathPolicy) {
    folder(&[("text", text.as_bytes())])
}

/// The memory of this process is a regular file of which the beginning cannot be read.
#[cfg(target_os = "linux")]
#[test]
fn a_read_that_fails_is_told_and_counted_and_never_tried_for_ever() {
    let policy = PathPolicy::new("/proc/self").unwrap();
    let told = "cannot read `mem`: Input/output error (os error 5)";

    assert_eq!(policy.read("mem", 1).unwrap_err().to_string(), told);
    let window = policy.lines("mem", ALL, &mut || false);
    assert_eq!(window.unwrap_err().to_string(), told);
    let search = LineSearch::new("x", false).unwrap();
    let walker = &mut Walker {
        skip: &[],
        skip_ignored: false,
        pattern: None,
        order: Order::Path,
        limit: usize::MAX,
        most_bytes: usize::MAX,
        stopped: &mut || false,
    };
    let expected = SearchReport {
        secret_files: 0,
        unreadable: 1,
        ..SearchReport::default()
    };
    assert_eq!(policy.search("mem", &search, 1, walker).unwrap(), expected);
}

#[test]
fn a_stopped_walk_says_so() {
    let (_folder, policy) = folder(&[("a/b/c.txt", b"x\n")]);
    let stopped = &mut || true;
    let walk = policy.walk(
        ".",
        &mut Walker {
            skip: &[],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit: usize::MAX,
            most_bytes: usize::MAX,
            stopped,
        },
    );
    assert!(matches!(walk, Err(PathError::Stopped { .. })));
    let window = policy.lines("a/b/c.txt", ALL, &mut || true);
    assert!(matches!(window, Err(PathError::Stopped { .. })));
}
