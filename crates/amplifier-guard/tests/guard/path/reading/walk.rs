//! A walk finds what a pattern names, and neither links nor depth lead it astray.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::Path;

use amplifier_guard::{LineSearch, NamePattern, Order, PathPolicy, Walker};
use proptest::prelude::*;
use tempfile::TempDir;

use super::folder;

fn walked(policy: &PathPolicy, path: &str, pattern: &str, skip: &[&str]) -> Vec<String> {
    let skip: Vec<OsString> = skip.iter().map(OsString::from).collect();
    let pattern = NamePattern::new(pattern).unwrap();
    let stopped = &mut || false;
    let walk = policy
        .walk(
            path,
            &mut Walker {
                skip: &skip,
                skip_ignored: false,
                pattern: Some(&pattern),
                order: Order::Path,
                limit: usize::MAX,
                most_bytes: usize::MAX,
                stopped,
            },
        )
        .unwrap();
    assert_eq!(walk.unreadable, 0);
    walk.files
        .into_iter()
        .map(|file| file.path.into_os_string().into_string().unwrap())
        .collect()
}

#[test]
fn a_walk_finds_regular_files_and_enters_neither_links_nor_skipped_directories() {
    let (folder, policy) = folder(&[
        ("a.rs", b""),
        ("src/b.rs", b""),
        ("src/.hidden.rs", b""),
        ("src/target/c.rs", b""),
        ("target/d.rs", b""),
        ("not-target/e.rs", b""),
        ("src/target.rs", b""),
        ("src/sub/.git", b"gitdir: elsewhere\n"),
    ]);
    symlink("src", folder.path().join("link")).unwrap();
    symlink("a.rs", folder.path().join("link.rs")).unwrap();
    symlink(".", folder.path().join("src/round")).unwrap();
    assert_eq!(
        walked(&policy, ".", "**", &[".git", "target"]),
        [
            "a.rs",
            "not-target/e.rs",
            "src/.hidden.rs",
            "src/b.rs",
            "src/target.rs",
        ]
    );
    // A start that is named is entered, whatever it is called and however it is reached.
    assert_eq!(
        walked(&policy, "src/target", "**", &["target"]),
        ["src/target/c.rs"]
    );
    assert_eq!(walked(&policy, "link", "b.rs", &["target"]), ["src/b.rs"]);
    assert_eq!(walked(&policy, "link.rs", "**", &[]), ["a.rs"]);
}

#[test]
fn patterns_mean_what_they_say() {
    let matches =
        |pattern: &str, path: &str| NamePattern::new(pattern).unwrap().matches(Path::new(path));
    for (pattern, path, expected) in [
        ("*.rs", "a.rs", true),
        ("*.rs", "src/deep/a.rs", true),
        ("*.rs", "a.rsx", false),
        ("./*.rs", "src/a.rs", true),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/deep/a.rs", false),
        ("src/**/*.rs", "src/a.rs", true),
        ("src/**/*.rs", "src/x/y/a.rs", true),
        ("**/*", "a", true),
        ("**/*", ".hidden", true),
        ("**", "a/b", true),
        ("src/**", "src/a/b", true),
        ("src/**", "srcs/a", false),
        ("?.rs", "ab.rs", false),
        ("?.rs", "é.rs", true),
        ("[a-c].rs", "b.rs", true),
        ("[!a-c].rs", "b.rs", false),
        ("*.{py,rs}", "x/a.py", true),
        ("a[*]b", "a*b", true),
        ("A.rs", "a.rs", false),
        ("??.rs", "é.rs", false),
        ("[à-ü].rs", "é.rs", true),
        ("[]x].rs", "].rs", true),
        ("[x-].rs", "-.rs", true),
        ("[^x].rs", "y.rs", true),
        ("a[!x]b/c", "a/b/c", false),
        ("{src,tests/{one,two}}/*.py", "tests/two/a.py", true),
        ("{src,tests/{one,two}}/*.py", "tests/a.py", false),
        ("*{.tar,}.gz", "a.gz", true),
        ("a\\*.rs", "a*.rs", true),
        ("a\\*.rs", "ab.rs", false),
        ("a(b)+.rs", "a(b)+.rs", true),
        ("line*break", "line\nbreak", true),
        ("a,b}.rs", "a,b}.rs", true),
        ("a,b", "a", false),
        ("[b-b].rs", "b.rs", true),
        ("[b-b].rs", "a.rs", false),
    ] {
        assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
    }
}

#[test]
fn a_pattern_that_means_nothing_is_refused_with_the_reason() {
    for (pattern, reason) in [
        ("", "it is empty (`**` means every file)"),
        ("./", "it is empty (`**` means every file)"),
        (
            "/etc/*",
            "it must be relative to the directory searched, without `..`",
        ),
        (
            "a/../b",
            "it must be relative to the directory searched, without `..`",
        ),
        ("{a,b", "`{` is not closed by `}`"),
        ("[ab", "`[` is not closed by `]`"),
        ("[b-a]", "a range in `[…]` runs backwards"),
        ("a\\", "`\\` at its end takes nothing"),
    ] {
        let refusal = NamePattern::new(pattern).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!("invalid file pattern `{pattern}`: {reason}")
        );
    }
    let longest = "a".repeat(4096);
    assert!(NamePattern::new(&longest).is_ok() && LineSearch::new(&longest, true).is_ok());
    let (longer, refusal) = (
        longest + "a",
        "the pattern is too long (4097 bytes, at most 4096)",
    );
    assert_eq!(NamePattern::new(&longer).unwrap_err().to_string(), refusal);
    assert_eq!(
        LineSearch::new(&longer, true).unwrap_err().to_string(),
        refusal
    );
    for (expression, reason) in [
        ("a(b", "unclosed group"),
        ("(?:\\pL{500}){500}", "it is too large when compiled"),
    ] {
        assert_eq!(
            LineSearch::new(expression, false).unwrap_err().to_string(),
            format!("invalid regular expression `{expression}`: {reason}")
        );
    }
}

#[test]
fn a_tree_deeper_than_any_path_is_walked_to_its_end() {
    let folder = TempDir::new().unwrap();
    let mut directory =
        cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
    for _ in 0..1200 {
        directory.create_dir("deeper").unwrap();
        directory.create_dir("beside").unwrap();
        directory.write("beside/file", "x").unwrap();
        directory = directory.open_dir("deeper").unwrap();
    }
    directory.write("bottom", "x").unwrap();
    let policy = PathPolicy::new(folder.path()).unwrap();
    assert_eq!(walked(&policy, ".", "bottom", &[]).len(), 1);
    assert_eq!(walked(&policy, ".", "file", &[]).len(), 1200);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_pattern_panics(pattern in ".*", path in ".*") {
        if let Ok(pattern) = NamePattern::new(&pattern) {
            let _ = pattern.matches(Path::new(&path));
        }
        let _ = LineSearch::new(&pattern, true);
    }
}
