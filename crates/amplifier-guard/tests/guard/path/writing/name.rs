//! Which names are written, how long they may be, and which need a person.

use std::fs;
use std::path::Path;

use super::{tree, variant};

#[test]
fn the_longest_names_and_paths_of_the_system_are_taken_and_longer_ones_are_not() {
    let (_outer, policy) = tree();
    let name = "x".repeat(255);
    let path = vec![name.as_str(); 16].join("/");
    assert_eq!(
        (path.len(), policy.writable(&path, false).unwrap()),
        (4095, path.clone().into())
    );
    assert_eq!(
        policy.write(&name, b"new", false).unwrap(),
        Path::new(&name)
    );
    for longer in [format!("{name}y"), format!("./{path}")] {
        assert_eq!(
            policy.writable(&longer, false).unwrap_err().to_string(),
            format!(
                "path `{}…` is too long ({} bytes)",
                &longer[..200],
                longer.len()
            )
        );
    }
}

#[test]
fn names_that_decide_what_runs_are_written_only_with_a_person() {
    for path in [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        ".Git/config",
        ".g\u{200c}it/config",
        "sub/.git/config",
        ".git",
        "GIT~1/config",
        "door/pre-commit",
        ".claude/settings.json",
        ".CLAUDE/settings.local.json",
        ".cursor/mcp.json",
        ".Cursor/mcp.json",
        ".vscode/tasks.json",
        ".mcp.json",
        ".github/workflows/ci.yml",
        ".env",
        ".ENV",
        ".env.production",
        ".envrc",
        "home/.bashrc",
        ".ssh/authorized_keys",
        "pkg/.npmrc",
    ] {
        let (_outer, policy) = tree();
        let refusal = policy
            .write(path, b"new", false)
            .map_err(|error| variant(&error));
        assert_eq!(refusal, Err("protected"), "{path}");
        let allowed = policy.writable(path, true).map_err(|error| variant(&error));
        assert!(allowed.is_ok() || path == ".git", "{path}: {allowed:?}");
    }
    let (_outer, policy) = tree();
    policy.write("door/pre-commit", b"new", true).unwrap();
    assert_eq!(
        fs::read(policy.root().join(".git/hooks/pre-commit")).unwrap(),
        b"new"
    );
}

#[test]
fn a_refusal_names_the_path_and_the_reason() {
    let (_outer, policy) = tree();
    for (path, message) in [
        (
            ".GIT/config",
            "`.GIT/config` may not be written without approval: `.git` belongs to version control",
        ),
        (
            "C:\\x",
            "path `C:\\x` is refused: it is a Windows path (use `/` between names, relative to the root)",
        ),
        (
            "hard",
            "`hard` has 2 hard links, so a write may change a file elsewhere",
        ),
    ] {
        assert_eq!(
            policy.writable(path, false).unwrap_err().to_string(),
            message
        );
    }
}
