//! Folders that decide what runs by what is in them, whatever they are called.
//!
//! Holds: sink-10

use std::fs;
use std::path::Path;

use amplifier_guard::PathPolicy;
use tempfile::TempDir;

use super::variant;

/// A root with these files, which are empty unless they are configurations of git.
fn root_with(files: &[(&str, &str)]) -> (TempDir, PathPolicy) {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let policy = PathPolicy::new(root.path()).unwrap();
    (root, policy)
}

fn judged(policy: &PathPolicy, path: &str) -> Result<(), &'static str> {
    let judged = policy.writable(path, false).map(drop);
    assert!(policy.writable(path, true).is_ok(), "{path}");
    judged.map_err(|error| variant(&error))
}

#[test]
fn a_python_environment_of_any_name_is_written_only_with_a_person() {
    let (_root, policy) = root_with(&[("tools/py311/pyvenv.cfg", ""), ("tools/py312/x", "")]);
    for path in [
        "tools/py311/bin/python",
        "tools/py311/lib/python3.11/site-packages/a.py",
        "tools/py311/new",
        "venv/bin/activate",
        "ENV/Scripts/activate.ps1",
        "sub/env/x",
        "src/__pycache__/a.cpython-311.pyc",
        "web/node_modules/left-pad/index.js",
    ] {
        assert_eq!(judged(&policy, path), Err("protected"), "{path}");
    }
    for path in ["tools/py312/bin/python", "tools/run.py", "src/a.py"] {
        assert_eq!(judged(&policy, path), Ok(()), "{path}");
    }
    let message = policy
        .writable("tools/py311/x", false)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "`tools/py311/x` may not be written without approval: `tools/py311` is a Python environment"
    );
}

#[test]
fn of_a_root_that_is_a_python_environment_the_project_is_free() {
    let (_root, policy) = root_with(&[("pyvenv.cfg", "")]);
    for path in ["bin/python", "Lib/site-packages/a.py", "Scripts/a.exe"] {
        assert_eq!(judged(&policy, path), Err("protected"), "{path}");
    }
    for path in ["src/bin/main.rs", "a.py"] {
        assert_eq!(judged(&policy, path), Ok(()), "{path}");
    }
}

#[test]
fn hooks_of_any_folder_of_git_are_written_only_with_a_person() {
    let (_root, policy) = root_with(&[
        (".git/modules/lib/HEAD", ""),
        (".git/modules/lib/objects/x", ""),
        ("store/app.git/HEAD", ""),
        ("store/app.git/objects/x", ""),
        ("trees/one/HEAD", ""),
        ("trees/one/commondir", "../../store/app.git"),
        ("notes/HEAD", ""),
    ]);
    for path in [
        ".git/hooks/pre-commit",
        ".git/modules/lib/hooks/post-checkout",
        ".git/worktrees/one/hooks/x",
        "store/app.git/hooks/pre-receive",
        "store/app.git/config",
        "trees/one/hooks/pre-commit",
    ] {
        assert_eq!(judged(&policy, path), Err("protected"), "{path}");
    }
    for path in [
        "src/hooks/useTitle.ts",
        "hooks/a.md",
        "notes/hooks/x",
        "store/readme",
    ] {
        assert_eq!(judged(&policy, path), Ok(()), "{path}");
    }
}

#[test]
fn the_folder_that_a_repository_names_for_its_hooks_is_written_only_with_a_person() {
    let config = "[core]\n\tbare = false\n\thooksPath = \"tools/Git Hooks\" ; ours\n";
    let (root, policy) = root_with(&[
        (".git/config", config),
        ("sub/.git/config", "[core] HOOKSPATH=scripts/../ci"),
        ("sub/scripts/x", ""),
        ("all/.git/config", "[core]\nhooksPath = .\n"),
        (
            "none/.git/config",
            "[core]\nhooksPath =\n[a]\nhookspath\nhooksPath = ../../x\n",
        ),
    ]);
    for path in [
        "tools/Git Hooks/pre-commit",
        "tools/git hooks/sub/x",
        "sub/ci/pre-push",
        "all/a/b",
    ] {
        assert_eq!(judged(&policy, path), Err("protected"), "{path}");
    }
    for path in [
        "tools/other",
        "ci/pre-push",
        "sub/scripts/x",
        "none/a",
        "x/pre-commit",
    ] {
        assert_eq!(judged(&policy, path), Ok(()), "{path}");
    }
    let absolute = root.path().canonicalize().unwrap().join("sub/deep");
    let text = format!("[core]\nhooksPath = {}\n", absolute.display());
    fs::write(root.path().join("sub/.git/config"), text).unwrap();
    assert_eq!(judged(&policy, "sub/deep/pre-push"), Err("protected"));
    assert_eq!(judged(&policy, "sub/ci/pre-push"), Ok(()));
    assert!(policy.write("sub/deep/x", b"", false).is_err());
    assert!(!Path::new(&absolute).exists());
}

#[test]
#[cfg(unix)]
fn a_configuration_that_is_a_pipe_is_not_waited_for() {
    let (root, policy) = root_with(&[(".git/x", "")]);
    let pipe = root.path().join(".git/config");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, pipe, kind, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(judged(&policy, "src/a.py"), Ok(()));
}
