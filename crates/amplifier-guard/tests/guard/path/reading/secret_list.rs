//! The list of what holds secrets is complete, and has nothing else.
//!
//! Holds: sink-66

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use amplifier_guard::{PathError, PathPolicy};
use proptest::prelude::*;
use tempfile::TempDir;

use super::folder;

fn find(policy: &PathPolicy) -> Vec<String> {
    let found = policy.find_secrets(&mut || false).unwrap();
    let paths = found
        .into_iter()
        .map(|path| path.into_os_string().into_string());
    paths.collect::<Result<_, _>>().unwrap()
}

#[test]
fn secrets_are_listed_by_path_and_their_folders_once() {
    let (root, policy) = folder(&[
        (".gitignore", b".env\nignored/\n"),
        (".env", b""),
        (".env.example", b""),
        ("ignored/deep/id_rsa", b""),
        ("ignored/deep/id_rsa.pub", b""),
        ("a/.ssh/config", b""),
        ("a/.ssh/id_ed25519", b""),
        ("a/.docker/config.json", b""),
        ("a/.docker/dockerfile", b""),
        ("a/.config/gh/hosts.yml", b""),
        ("a/Key.P12", b""),
        ("a/.ENV.Local", b""),
        (".git/HEAD", b""),
        (".git/.env", b""),
        ("sub/.git/.env", b""),
        ("src/main.rs", b""),
        ("venv/.env/bin/python", b""),
        ("venv/.env/.env.x/y", b""),
    ]);
    symlink(".env", root.path().join(".netrc")).unwrap();
    symlink("a/.ssh", root.path().join(".aws")).unwrap();
    symlink("a", root.path().join("again")).unwrap();
    assert_eq!(
        find(&policy),
        [
            ".env",
            "a/.ENV.Local",
            "a/.config/gh",
            "a/.docker/config.json",
            "a/.ssh",
            "a/Key.P12",
            "ignored/deep/id_rsa",
            "venv/.env/.env.x",
        ]
    );
    // Who may read them finds them, too.
    assert_eq!(find(&policy.with_secrets().unwrap()), find(&policy));
}

#[test]
fn the_search_for_secrets_can_be_stopped() {
    let (_root, policy) = folder(&[("a/.env", b"")]);
    let found = policy.find_secrets(&mut || true);
    assert!(matches!(found, Err(PathError::Stopped { .. })), "{found:?}");
}

const NAMES: [&str; 16] = [
    "a",
    ".env",
    ".env.example",
    ".env.x",
    ".config",
    "gcloud",
    "gh",
    "git",
    "ignore",
    ".docker",
    "config.json",
    ".SSH",
    "id_rsa",
    ".cargo",
    "credentials",
    "x.pem.p12",
];

/// Whether a file is beneath one of some paths, or is one.
fn covers(paths: &BTreeSet<PathBuf>, file: &Path) -> bool {
    file.ancestors().any(|path| paths.contains(path))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is listed is exactly what is not read without approval.
    #[test]
    fn the_list_is_what_a_read_refuses(
        paths in prop::collection::vec(prop::collection::vec(prop::sample::select(&NAMES), 1..5), 1..12)
    ) {
        let root = TempDir::new().unwrap();
        let policy = PathPolicy::new(root.path()).unwrap();
        let mut files = Vec::new();
        for names in paths {
            let path: PathBuf = names.iter().collect();
            // A name may be that of a file and of a folder.
            let parent = root.path().join(path.parent().unwrap());
            if fs::create_dir_all(parent).is_ok() && fs::write(root.path().join(&path), "").is_ok() {
                files.push(path);
            }
        }
        let found: BTreeSet<_> = policy.find_secrets(&mut || false).unwrap().into_iter().collect();
        for file in files {
            let is_secret = matches!(policy.readable(&file), Err(PathError::Secret { .. }));
            prop_assert_eq!(is_secret, covers(&found, &file), "{:?} in {:?}", file, &found);
        }
        for path in &found {
            let outer = path.parent().unwrap();
            prop_assert!(!covers(&found, outer), "{:?}", &found);
        }
    }
}
