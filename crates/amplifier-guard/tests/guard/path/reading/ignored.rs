//! What git ignores is left out where that is asked for, by the rules of git.

use std::fs;
use std::os::unix::fs::symlink;

use amplifier_guard::{LineSearch, Order, PathPolicy, SearchReport, Walk, Walker};

use super::folder;

fn walker(stopped: &mut dyn FnMut() -> bool) -> Walker<'_> {
    Walker {
        skip: &[],
        skip_ignored: true,
        pattern: None,
        order: Order::Path,
        limit: usize::MAX,
        most_bytes: usize::MAX,
        stopped,
    }
}

fn walked(policy: &PathPolicy, path: &str) -> Walk {
    policy.walk(path, &mut walker(&mut || false)).unwrap()
}

fn searched(policy: &PathPolicy, path: &str) -> SearchReport {
    let any = LineSearch::new("", false).unwrap();
    policy
        .search(path, &any, 99, &mut walker(&mut || false))
        .unwrap()
}

/// The files of a walk, which a search looks at, too; those of rules are of no interest.
fn seen(policy: &PathPolicy, path: &str) -> Vec<String> {
    let walk = walked(policy, path);
    let report = searched(policy, path);
    let found: Vec<_> = report.files.iter().map(|file| &file.path).collect();
    let files: Vec<_> = walk.files.iter().map(|file| &file.path).collect();
    assert_eq!(files, found);
    assert_eq!(walk.has_ignored, report.has_ignored);
    let texts = files.iter().map(|path| path.to_str().unwrap().to_owned());
    texts.filter(|path| !path.contains(".git")).collect()
}

// Holds: sink-63
#[test]
fn a_rule_means_what_it_means_to_git() {
    for (rule, path, is_ignored) in [
        ("a.log", "a.log", true),
        ("a.log", "sub/a.log", true),
        ("*.log", "sub/deep/a.log", true),
        ("/a.log", "sub/a.log", false),
        ("sub/a.log", "sub/a.log", true),
        ("sub/a.log", "x/sub/a.log", false),
        ("sub/*", "sub/a.log", true),
        ("sub/*.log", "sub/deep/a.log", false),
        ("sub/**/a.log", "sub/a.log", true),
        ("sub/**/a.log", "sub/x/y/a.log", true),
        ("sub/**", "sub/x/y", true),
        ("**/x/y", "sub/x/y", true),
        ("**/x/y", "x/y", true),
        ("a**b", "axxb", true),
        ("a**b/c", "a/b/c", false),
        ("sub/", "sub/a", true),
        ("a/", "a", false),
        ("SUB", "sub/a", false),
        ("{a,b}", "a", false),
        ("{a,b}", "{a,b}", true),
        ("[ab]", "b", true),
        ("[!ab]", "b", false),
        ("[^ab]", "c", true),
        ("[a-c]x", "bx", true),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[\\]]", "]", true),
        ("[[:digit:]x]*", "7seven", true),
        ("[[:none:]]", "n", false),
        ("[a", "[a", false),
        ("s[/]x", "s/x", false),
        ("?", "é", false),
        ("??", "é", true),
        ("\\#a", "#a", true),
        ("#a", "#a", false),
        ("\\!a", "!a", true),
        ("a  ", "a", true),
        ("a\\ ", "a ", true),
        ("a\\ ", "a", false),
        ("a\r", "a", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false),
        ("a\\", "a\\", false),
        ("sub//", "sub/a", false),
        ("*a*b*c", "xaxbxbc", true),
        ("*a*b*c", "xaxcxb", false),
        ("\u{feff}a", "a", true),
    ] {
        let rules = format!("{rule}\n");
        let (_folder, policy) = folder(&[(".gitignore", rules.as_bytes()), (path, b"x\n")]);
        let expected = if is_ignored { vec![] } else { vec![path] };
        assert_eq!(seen(&policy, "."), expected, "{rule:?} on {path:?}");
        assert_eq!(walked(&policy, ".").has_ignored, is_ignored);
    }
}

#[test]
fn a_later_and_an_inner_rule_come_before_an_earlier_and_an_outer_one() {
    let (_folder, policy) = folder(&[
        (".git/HEAD", b"ref: refs/heads/main\n"),
        (".git/info/exclude", b"*.tmp\n*.bak\n"),
        (".gitignore", b"*.log\n!keep.log\n/out/\n!*.bak\n"),
        ("a.log", b"x\n"),
        ("keep.log", b"x\n"),
        ("a.tmp", b"x\n"),
        ("a.bak", b"x\n"),
        ("out/keep.log", b"x\n"),
        ("sub/.gitignore", b"!a.log\nkeep.log\n"),
        ("sub/a.log", b"x\n"),
        ("sub/keep.log", b"x\n"),
        ("sub/out/b.txt", b"x\n"),
    ]);
    assert_eq!(
        seen(&policy, "."),
        ["a.bak", "keep.log", "sub/a.log", "sub/out/b.txt"]
    );
}

#[test]
fn rules_between_the_root_and_the_start_hold_and_a_start_that_is_named_is_searched() {
    let (_folder, policy) = folder(&[
        (".gitignore", b"*.log\nout/\n"),
        ("sub/.gitignore", b"/deep/b.txt\n"),
        ("sub/deep/a.log", b"x\n"),
        ("sub/deep/b.txt", b"x\n"),
        ("sub/deep/c.txt", b"x\n"),
        ("out/a.log", b"x\n"),
        ("out/b.txt", b"x\n"),
    ]);
    assert_eq!(seen(&policy, "sub/deep"), ["sub/deep/c.txt"]);
    assert_eq!(seen(&policy, "out"), ["out/b.txt"]);
    assert_eq!(seen(&policy, "out/a.log"), ["out/a.log"]);
}

#[test]
fn a_repository_in_another_one_has_rules_of_its_own() {
    let (_folder, policy) = folder(&[
        (".gitignore", b"*.log\n"),
        ("sub/.git/HEAD", b"ref: refs/heads/main\n"),
        ("sub/.git/info/exclude", b"*.tmp\n"),
        ("sub/a.log", b"x\n"),
        ("sub/a.tmp", b"x\n"),
        ("tree/.git", b"gitdir: elsewhere\n"),
        ("tree/a.log", b"x\n"),
        ("not/.git/config", b"x\n"),
        ("not/a.log", b"x\n"),
    ]);
    assert_eq!(seen(&policy, "."), ["sub/a.log", "tree/a.log"]);
}

#[test]
fn rules_behind_a_link_are_none_and_rules_that_are_too_long_are_counted() {
    let (place, policy) = folder(&[
        ("rules", b"*\n"),
        ("sub/a", b"x\n"),
        ("long/a", b"x\n"),
        ("pipe/a", b"x\n"),
    ]);
    symlink("../rules", place.path().join("sub/.gitignore")).unwrap();
    fs::create_dir(place.path().join("pipe/.gitignore")).unwrap();
    assert_eq!(walked(&policy, ".").unreadable, 0);
    fs::write(place.path().join("long/.gitignore"), "a\n".repeat(600_000)).unwrap();
    assert_eq!(seen(&policy, "."), ["long/a", "pipe/a", "rules", "sub/a"]);
    assert_eq!(walked(&policy, ".").unreadable, 1);
}

#[test]
fn a_hostile_rule_takes_little_time() {
    let rule = format!("{}b\n**/{}b/c\n", "*a".repeat(2000), "**/*a".repeat(900));
    let name = "a".repeat(250);
    let path = format!("{name}/{name}/{name}/{name}/{name}");
    let (_folder, policy) = folder(&[(".gitignore", rule.as_bytes()), (&path, b"x\n")]);
    assert_eq!(seen(&policy, "."), [path]);
}
