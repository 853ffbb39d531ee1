//! Nothing outside the root is ever written, and nothing that decides what runs.
#![cfg(unix)]

mod known_folder;
mod name;
mod protected;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use amplifier_guard::{PathError, PathPolicy};
use proptest::prelude::*;
use tempfile::TempDir;

const OLD: &[u8] = b"old";

type Write = fn(&PathPolicy, &str, bool) -> Result<PathBuf, PathError>;

/// In place and by a new file.
const WAYS: [Write; 2] = [
    |policy, path, protected_too| policy.write(path, b"new", protected_too),
    |policy, path, protected_too| policy.replace(path, b"new", None, protected_too),
];

/// `proj` is the root; `secret` and `elsewhere/` lie beside it.
fn tree() -> (TempDir, PathPolicy) {
    let outer = TempDir::new().unwrap();
    let at = |path: &str| outer.path().join(path);
    for directory in ["proj/src", "proj/.git/hooks", "elsewhere"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for file in [
        "secret",
        "elsewhere/x",
        "proj/src/main.rs",
        "proj/README.md",
    ] {
        fs::write(at(file), OLD).unwrap();
    }
    for (link, target) in [
        ("up", ".."),
        ("out", "../secret"),
        ("far", "/etc"),
        ("chain", "out"),
        ("loop", "loop"),
        ("dangling", "../new"),
        ("gone", "/nowhere/new"),
        ("near", "src/main.rs"),
        ("fresh", "src/fresh.rs"),
        ("sources", "src"),
        ("door", ".git/hooks"),
    ] {
        symlink(target, at("proj").join(link)).unwrap();
    }
    fs::hard_link(at("secret"), at("proj/hard")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("proj/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let policy = PathPolicy::new(at("proj")).unwrap();
    (outer, policy)
}

/// What a refusal is, without its words.
fn variant(error: &PathError) -> &'static str {
    match error {
        PathError::Empty => "empty",
        PathError::Nul { .. } => "nul",
        PathError::Outside { .. } => "outside",
        PathError::Missing { .. } => "missing",
        PathError::NotAFile { .. } => "not a file",
        PathError::NotADirectory { .. } => "not a directory",
        PathError::Loop { .. } => "loop",
        PathError::TooLong { .. } => "too long",
        PathError::Protected { .. } => "protected",
        PathError::Form { .. } => "form",
        PathError::HardLinks { .. } => "hard links",
        _ => "other",
    }
}

#[test]
fn files_are_written_where_the_path_leads_and_missing_folders_are_made() {
    for (path, landed) in [
        ("src/new.rs", "src/new.rs"),
        ("README.md", "README.md"),
        ("docs/deep/new/page.md", "docs/deep/new/page.md"),
        ("src/../top.txt", "top.txt"),
        ("src//main.rs", "src/main.rs"),
        ("near", "src/main.rs"),
        ("fresh", "src/fresh.rs"),
        ("sources/other.rs", "src/other.rs"),
        ("sources/deep/other.rs", "src/deep/other.rs"),
        (".gitignore", ".gitignore"),
        (".github/notes.md", ".github/notes.md"),
        (".github/workflows-notes.md", ".github/workflows-notes.md"),
        (".env.example", ".env.example"),
        ("environment.py", "environment.py"),
        ("..foo/...bar", "..foo/...bar"),
        ("git/hooks", "git/hooks"),
        ("100%.txt", "100%.txt"),
        ("a%20b.txt", "a%20b.txt"),
        ("\u{65e5}\u{672c}.md", "\u{65e5}\u{672c}.md"),
        ("wait\u{2026}.md", "wait\u{2026}.md"),
        ("console.rs", "console.rs"),
        ("com10", "com10"),
        ("comb.txt", "comb.txt"),
        ("lpt", "lpt"),
        ("a b (1).txt", "a b (1).txt"),
    ] {
        for write in WAYS {
            let (_outer, policy) = tree();
            assert_eq!(
                policy.writable(path, false).unwrap(),
                Path::new(landed),
                "{path}"
            );
            assert_eq!(
                write(&policy, path, false).unwrap(),
                Path::new(landed),
                "{path}"
            );
            assert_eq!(
                fs::read(policy.root().join(landed)).unwrap(),
                b"new",
                "{path}"
            );
        }
    }
    let (_outer, policy) = tree();
    let absolute = policy.root().join("src/absolute.rs");
    policy.write(&absolute, b"new", false).unwrap();
    assert_eq!(fs::read(absolute).unwrap(), b"new");
}

#[test]
fn a_shorter_content_leaves_nothing_of_the_old_one() {
    let (_outer, policy) = tree();
    policy.write("README.md", b"n", false).unwrap();
    assert_eq!(fs::read(policy.root().join("README.md")).unwrap(), b"n");
}

#[test]
fn writers_that_make_the_same_folder_at_once_all_succeed() {
    let (_outer, policy) = tree();
    for round in 0..200 {
        let start = std::sync::Barrier::new(3);
        let write = |writer: usize| {
            let path = format!("{round}/{writer}");
            start.wait();
            policy
                .write(&path, b"new", false)
                .map_err(|error| error.to_string())
        };
        let written = std::thread::scope(|scope| {
            let write = &write;
            let writers = [0, 1, 2].map(|writer| scope.spawn(move || write(writer)));
            writers.map(|writer| writer.join().unwrap())
        });
        let expected = [0, 1, 2].map(|writer| Ok(format!("{round}/{writer}").into()));
        assert_eq!(written, expected);
    }
}

#[test]
fn writes_are_refused_for_what_they_are_and_change_nothing() {
    let (outer, policy) = tree();
    let names = |folder: &Path| {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = (names(outer.path()), names(policy.root()));
    for (path, expected) in [
        ("", "empty"),
        ("a\0b", "nul"),
        (".", "not a file"),
        ("src", "not a file"),
        ("src/", "not a file"),
        ("new/", "not a file"),
        ("sources", "not a file"),
        ("pipe", "not a file"),
        ("../secret", "outside"),
        ("src/../../x", "outside"),
        ("/etc/passwd", "outside"),
        ("up/secret", "outside"),
        ("out", "outside"),
        ("chain", "outside"),
        ("far/x", "outside"),
        ("dangling", "outside"),
        ("gone", "outside"),
        ("loop", "loop"),
        ("loop/x", "loop"),
        ("hard", "hard links"),
        ("README.md/x", "not a directory"),
        ("README.md/x/y", "not a directory"),
        ("none/../x", "missing"),
        (&"x".repeat(256), "too long"),
        (&format!("new/{}", "x".repeat(256)), "too long"),
        (&"a/".repeat(2100), "too long"),
        ("\\\\server\\share\\x", "form"),
        ("C:\\Windows\\x", "form"),
        ("c:/x", "form"),
        ("src\\main.rs", "form"),
        ("src/main.rs::$DATA", "form"),
        ("a\nb", "form"),
        ("%2e%2e%2fx", "form"),
        ("..%252f..%252fx", "form"),
        ("..%c0%afx", "form"),
        ("%2E%2e/x", "form"),
        ("\u{ff0e}\u{ff0e}/x", "form"),
        ("\u{2025}/x", "form"),
        ("..\u{2215}x", "form"),
        ("src/main.rs.", "form"),
        ("src/main.rs ", "form"),
        ("aux", "form"),
        ("src/NUL.txt", "form"),
        ("COM1", "form"),
        ("lpt9.log", "form"),
    ] {
        let judged = policy.writable(path, true).map_err(|error| variant(&error));
        assert_eq!(judged, Err(expected), "{path}");
        for write in WAYS {
            let written = write(&policy, path, true).map_err(|error| variant(&error));
            assert_eq!(written, Err(expected), "{path}");
        }
    }
    assert_eq!((names(outer.path()), names(policy.root())), before);
    assert_eq!(fs::read(outer.path().join("secret")).unwrap(), OLD);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_lies_inside_and_reads_back(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "..", ".", "", "src", "main.rs", "up", "out", "far", "chain", "loop", "dangling",
                "gone", "near", "fresh", "sources", "door", "hard", "pipe", "new", ".git", "hooks",
                "%2e%2e", "secret", "elsewhere", "proj", "README.md",
            ]),
            1..7,
        ),
        write in prop::sample::select(&WAYS[..]),
    ) {
        let (outer, policy) = tree();
        let path = parts.join("/");
        let judged = policy.writable(&path, false).map_err(|error| variant(&error));
        let written = write(&policy, &path, false).map_err(|error| variant(&error));
        prop_assert_eq!(&judged, &written);
        if let Ok(landed) = written {
            let real = fs::canonicalize(policy.root().join(&landed)).unwrap();
            prop_assert_eq!(&real, &policy.root().join(&landed));
            prop_assert!(!landed.starts_with(".git"));
            prop_assert_eq!(policy.read(&path, 10).unwrap(), b"new");
        }
        prop_assert_eq!(fs::read(outer.path().join("secret")).unwrap(), OLD);
        prop_assert_eq!(fs::read(outer.path().join("elsewhere/x")).unwrap(), OLD);
        prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 3);
    }

    #[test]
    fn no_string_panics(path in ".*") {
        thread_local! {
            static TREE: (TempDir, PathPolicy) = tree();
        }
        TREE.with(|(_outer, policy)| {
            let _ = policy.writable(&path, false);
            let _ = policy.writable(&path, true);
        });
    }
}
