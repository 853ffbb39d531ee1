//! Nothing outside the root is ever read.
#![cfg(unix)]

mod reference;
mod refusal;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use amplifier_guard::{Entry, Kind, PathError, PathPolicy};
use tempfile::TempDir;

const SECRET: &[u8] = b"the secret";

/// `proj` is the root; beside it lie `proj-evil/secret`, `secret` and, inside, links of all kinds.
fn tree() -> (TempDir, PathPolicy) {
    let outer = TempDir::new().unwrap();
    let at = |path: &str| outer.path().join(path);
    for directory in ["proj/src", "proj/a/b", "proj-evil"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    fs::write(at("secret"), SECRET).unwrap();
    fs::write(at("proj-evil/secret"), SECRET).unwrap();
    fs::write(at("proj/src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(at("proj/a/b/c.txt"), "c\n").unwrap();
    fs::write(at("proj/..."), "dots\n").unwrap();
    for (link, target) in [
        ("up", ".."),
        ("out", "../secret"),
        ("far", "/etc"),
        ("chain", "out"),
        ("loop", "loop"),
        ("dangling", "nothing"),
        ("near", "src/main.rs"),
        ("a/back", "../src"),
        ("a/leave", "../../secret"),
        ("magic", "/proc/self/root"),
    ] {
        symlink(target, at("proj").join(link)).unwrap();
    }
    symlink(at("proj-evil/secret"), at("proj/evil")).unwrap();
    symlink(at("proj/src"), at("proj/absolute")).unwrap();
    symlink(at("proj/src/../../secret"), at("proj/winding")).unwrap();
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
        PathError::Form { .. } => "form",
        _ => "other",
    }
}

fn read(policy: &PathPolicy, path: impl AsRef<Path>) -> Result<String, &'static str> {
    policy
        .read(path, 1000)
        .map(|content| String::from_utf8(content).unwrap())
        .map_err(|error| variant(&error))
}

#[test]
fn paths_inside_are_read_however_they_are_spelled() {
    let (outer, policy) = tree();
    let main = Ok("fn main() {}\n".to_owned());
    for path in [
        "src/main.rs",
        "./src//main.rs",
        "a/b/../../src/main.rs",
        "near",
        "a/back/main.rs",
        "absolute/main.rs",
        "absolute/../near",
        "a/../absolute/main.rs",
    ] {
        assert_eq!(read(&policy, path), main, "{path}");
    }
    assert_eq!(read(&policy, "..."), Ok("dots\n".to_owned()));
    assert_eq!(read(&policy, outer.path().join("proj/src/main.rs")), main);
    assert_eq!(
        read(&policy, outer.path().join("proj/absolute/main.rs")),
        main
    );
}

#[test]
fn paths_that_leave_are_refused_for_what_they_are() {
    let (outer, policy) = tree();
    let outer = outer.path().to_str().unwrap();
    for (path, expected) in [
        ("", "empty"),
        ("src/main.rs\0", "nul"),
        ("../secret", "outside"),
        ("src/../../secret", "outside"),
        ("../proj/src/main.rs", "outside"),
        ("up/secret", "outside"),
        ("out", "outside"),
        ("chain", "outside"),
        ("evil", "outside"),
        ("winding", "outside"),
        ("far/passwd", "outside"),
        ("a/leave", "outside"),
        ("magic/etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("/proc/self/environ", "outside"),
        (&format!("{outer}/secret"), "outside"),
        (&format!("{outer}/proj-evil/secret"), "outside"),
        (&format!("{outer}/proj/../secret"), "outside"),
        (&format!("{outer}/proj/../proj/src/main.rs"), "outside"),
        ("loop", "loop"),
        ("dangling", "missing"),
        ("nothing", "missing"),
        ("src/main.rs/x", "missing"),
        ("C:\\Windows\\System32", "form"),
        ("\u{ff0e}\u{ff0e}/secret", "form"),
        ("%2e%2e/secret", "form"),
        ("aux.md", "form"),
        ("src/main.rs.", "form"),
        ("~/x", "form"),
        ("~notes", "missing"),
        ("$HOME/x", "form"),
        ("${HOME}/x", "form"),
        ("%APPDATA%/x", "form"),
        ("$lib/x", "missing"),
        ("$/x", "missing"),
        ("file:///etc/passwd", "form"),
        ("https://x.example/a", "form"),
        (".\u{200b}./x", "form"),
        ("a\u{202e}b", "form"),
        ("src", "not a file"),
        (".", "not a file"),
        (&"x".repeat(256), "too long"),
        (&"a/".repeat(3000), "too long"),
    ] {
        assert_eq!(read(&policy, path), Err(expected), "{path}");
    }
}

#[test]
fn a_path_that_is_not_utf8_is_read_as_it_is_or_not_at_all() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (outer, policy) = tree();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    assert_eq!(read(&policy, name), Err("form"));
    fs::write(outer.path().join("proj").join(name), "found").unwrap();
    assert_eq!(read(&policy, name), Ok("found".to_owned()));
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (outer, policy) = tree();
    let make = |name: &str, kind| {
        mknodat(
            CWD,
            outer.path().join("proj").join(name),
            kind,
            Mode::RUSR | Mode::WUSR,
            0,
        )
    };
    make("pipe", FileType::Fifo).unwrap();
    make("socket", FileType::Socket).unwrap();
    symlink("pipe", outer.path().join("proj/to-pipe")).unwrap();
    for path in ["pipe", "socket", "to-pipe"] {
        assert_eq!(read(&policy, path), Err("not a file"), "{path}");
        assert_eq!(
            policy.list(path).map_err(|error| variant(&error)),
            Err("not a directory")
        );
    }
}

#[test]
fn as_many_links_are_followed_as_the_system_follows_and_no_more() {
    let (outer, policy) = tree();
    let root = outer.path().join("proj").canonicalize().unwrap();
    // Absolute links are followed by hand, relative ones by the system.
    for (kind, base) in [("hand", root.as_path()), ("system", Path::new(""))] {
        for number in 0..41 {
            let target = if number == 0 {
                base.join("src/main.rs")
            } else {
                base.join(format!("{kind}{}", number - 1))
            };
            symlink(target, root.join(format!("{kind}{number}"))).unwrap();
        }
        assert_eq!(
            read(&policy, format!("{kind}39")),
            Ok("fn main() {}\n".to_owned())
        );
        assert_eq!(read(&policy, format!("{kind}40")), Err("loop"));
    }
}

#[test]
fn resolving_gives_the_canonical_path_from_the_root() {
    let (_outer, policy) = tree();
    for (path, expected) in [
        (".", "."),
        ("src/..", "."),
        ("a/back/main.rs", "src/main.rs"),
        ("absolute/main.rs", "src/main.rs"),
        ("near", "src/main.rs"),
        ("a//b/./c.txt", "a/b/c.txt"),
    ] {
        assert_eq!(policy.resolve(path).unwrap(), Path::new(expected), "{path}");
    }
    assert_eq!(policy.resolve(policy.root()).unwrap(), Path::new("."));
}

#[test]
fn listing_reports_links_and_does_not_follow_them() {
    let (outer, policy) = tree();
    symlink("main.rs", outer.path().join("proj/src/other.rs")).unwrap();
    fs::create_dir(outer.path().join("proj/src/inner")).unwrap();
    let entry = |name: &str, kind, bytes| Entry {
        name: name.into(),
        kind,
        bytes,
    };
    assert_eq!(
        policy.list("src").unwrap(),
        [
            entry("inner", Kind::Directory, 0),
            entry("main.rs", Kind::File, 13),
            entry("other.rs", Kind::Link, 0),
        ]
    );
    assert_eq!(policy.list("a/back").unwrap(), policy.list("src").unwrap());
    assert_eq!(
        policy.list("up").map_err(|error| variant(&error)),
        Err("outside")
    );
}

#[test]
fn a_root_must_be_a_directory_that_exists() {
    let (outer, _policy) = tree();
    let refusal = |path: &str| {
        variant(&PathPolicy::new(outer.path().join(path)).expect_err("no such root")).to_owned()
    };
    assert_eq!(refusal("nothing"), "missing");
    assert_eq!(refusal("secret"), "not a directory");
    assert_eq!(
        variant(&PathPolicy::new("").expect_err("no such root")),
        "empty"
    );
}

#[test]
fn a_root_spelled_through_a_link_takes_absolute_paths_of_both_spellings() {
    let (outer, _policy) = tree();
    let link = outer.path().join("link");
    symlink(outer.path().join("proj"), &link).unwrap();
    let policy = PathPolicy::new(&link).unwrap();
    let main = Ok("fn main() {}\n".to_owned());
    assert_eq!(read(&policy, link.join("src/main.rs")), main);
    assert_eq!(read(&policy, policy.root().join("src/main.rs")), main);
}

#[test]
fn a_link_swapped_in_during_the_open_leads_nowhere() {
    let (outer, policy) = tree();
    let root = outer.path().join("proj");
    fs::create_dir_all(root.join("real")).unwrap();
    fs::write(root.join("real/secret"), "harmless").unwrap();
    symlink("real", root.join("door")).unwrap();
    let done = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            // `rename` replaces the link at once: the door always leads somewhere.
            let targets = [
                "real".into(),
                outer.path().join("proj-evil"),
                root.join("real"),
            ];
            for target in targets.iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                symlink(target, root.join("next")).unwrap();
                fs::rename(root.join("next"), root.join("door")).unwrap();
            }
        });
        let seen: Vec<_> = (0..3000).map(|_| read(&policy, "door/secret")).collect();
        done.store(true, Ordering::Relaxed);
        seen
    });
    for outcome in &seen {
        assert!(matches!(
            outcome.as_deref(),
            Ok("harmless") | Err(&("outside" | "missing"))
        ));
    }
    assert!(seen.iter().any(Result::is_ok));
}
