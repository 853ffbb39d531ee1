//! Files that hold secrets are read after a person agreed, and not before.

use std::fs;
use std::os::unix::fs::symlink;

use amplifier_guard::{LineRange, LineSearch, Order, PathError, PathPolicy, Walker};
use tempfile::TempDir;

const SECRETS: [&str; 16] = [
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".aws/credentials",
    ".ssh/id_ed25519",
    ".config/gcloud/application_default_credentials.json",
    ".docker/config.json",
    ".cargo/credentials.toml",
    "keys/id_rsa",
    "pkg/.ENV",
    "a/.git-credentials",
];
const FREE: [&str; 8] = [
    ".env.example",
    ".env.sample",
    ".env.template",
    "env",
    "environment.py",
    "id_rsa.pub",
    ".docker/dockerfile",
    ".cargo/config.toml",
];

fn tree() -> (TempDir, PathPolicy) {
    let root = TempDir::new().unwrap();
    for name in SECRETS.iter().chain(&FREE) {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "A=1\n").unwrap();
    }
    symlink(".env", root.path().join("notes")).unwrap();
    symlink(".ssh", root.path().join("folder")).unwrap();
    let policy = PathPolicy::new(root.path()).unwrap();
    (root, policy)
}

fn is_secret<T>(result: &Result<T, PathError>) -> bool {
    matches!(result, Err(PathError::Secret { .. }))
}

#[test]
fn files_that_hold_secrets_are_read_after_a_person_agreed() {
    let (_root, policy) = tree();
    let agreed = policy.with_secrets().unwrap();
    let range = LineRange {
        first: 1,
        limit: 9,
        most_bytes: 99,
    };
    for path in SECRETS
        .iter()
        .chain(&["notes", "folder/id_ed25519", "pkg/../.env"])
    {
        assert!(is_secret(&policy.readable(path)), "{path}");
        assert!(is_secret(&policy.open(path)), "{path}");
        assert!(is_secret(&policy.read(path, 9)), "{path}");
        assert!(
            is_secret(&policy.lines(path, range, &mut || false)),
            "{path}"
        );
        assert_eq!(agreed.read(path, 9).unwrap(), b"A=1\n", "{path}");
    }
    for path in FREE {
        assert_eq!(policy.read(path, 9).unwrap(), b"A=1\n", "{path}");
    }
    assert!(matches!(
        policy.read("no/.env", 9),
        Err(PathError::Missing { .. })
    ));
}

#[test]
fn a_refusal_names_the_file_and_what_it_holds() {
    let (_root, policy) = tree();
    assert_eq!(
        policy.read("notes", 9).unwrap_err().to_string(),
        "`notes` may not be read without approval: `.env` holds secrets"
    );
}

#[test]
fn a_search_passes_over_files_that_hold_secrets() {
    let (_root, policy) = tree();
    let search = LineSearch::new("A", false).unwrap();
    let found = |policy: &PathPolicy, path: &str| {
        let mut walker = Walker {
            skip: &[],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit: 99,
            most_bytes: 9_999,
            stopped: &mut || false,
        };
        policy.search(path, &search, 99, &mut walker)
    };
    let report = found(&policy, ".").unwrap();
    assert_eq!(
        (report.total_files, report.secret_files, report.unreadable),
        (
            FREE.len().try_into().unwrap(),
            SECRETS.len().try_into().unwrap(),
            0
        )
    );
    assert!(is_secret(&found(&policy, ".env")));
    assert!(is_secret(&found(&policy, "folder")));
    let agreed = policy.with_secrets().unwrap();
    assert_eq!(found(&agreed, ".env").unwrap().total_matches, 1);
}
