//! No command line runs without a person but one plain command that was allowed.

mod program;
mod words;

use amplifier_guard::{ShellError, ShellPolicy, read_command};
use proptest::prelude::*;

fn policy() -> ShellPolicy {
    let prefixes = [
        "git status",
        "git log",
        "git diff",
        "git grep",
        "ls",
        "cat",
        "grep",
        "find",
        "echo",
        "npm test",
        "cargo test",
        "rg",
        "sed",
        "python -m pytest",
        "python",
        "env",
        "xargs",
        "tar",
        "sort",
        "git fetch",
    ];
    ShellPolicy::new(prefixes, Some("/srv/proj".into())).unwrap()
}

/// What a refusal is, without its words.
fn variant(error: &ShellError) -> &'static str {
    match error {
        ShellError::Empty => "empty",
        ShellError::TooLong { .. } => "too long",
        ShellError::NotPlain { .. } => "not plain",
        ShellError::NotAllowed { .. } => "not allowed",
        ShellError::Runs { .. } => "runs",
        ShellError::Word { .. } => "word",
        ShellError::Outside { .. } => "outside",
        _ => "other",
    }
}

fn judged(command: &str) -> Result<Vec<String>, &'static str> {
    policy().check(command).map_err(|error| variant(&error))
}

fn words(command: &str) -> Result<Vec<String>, &'static str> {
    read_command(command).map_err(|error| variant(&error))
}

#[test]
fn prefixes_match_whole_words() {
    for command in [
        "lsx",
        "catx a",
        "git",
        "git statusx",
        "git sta",
        "git stash",
        "'git status'",
        "npm",
        "npm tes",
        "./ls",
        "/bin/ls",
        "LS",
        "rm x",
        "git -c x=y status",
        "git --no-pager log",
        "python3 x",
    ] {
        assert_eq!(judged(command), Err("not allowed"), "{command}");
    }
    for command in ["env ls", "xargs rm", "python x.py"] {
        assert_eq!(judged(command), Err("runs"), "{command}");
    }
    assert!(judged("python -m pytest tests").is_ok());
}

#[test]
fn what_a_prefix_names_is_settled_and_what_comes_after_it_is_not() {
    let judged = |prefix: &str, command: &str| {
        let policy = ShellPolicy::new([prefix], None).unwrap();
        policy
            .check(command)
            .map(drop)
            .map_err(|error| variant(&error))
    };
    for (prefix, command, expected) in [
        ("git", "git log config", Ok(())),
        ("git", "git config user.name", Err("word")),
        ("git", "git -c core.pager=x log", Err("word")),
        ("git", "git --no-pager log", Ok(())),
        ("git --no-pager log", "git --no-pager log", Ok(())),
        ("git --no-pager", "git --no-pager config x", Err("word")),
        ("git config --get", "git config --get user.name", Ok(())),
        ("git log", "git log -c rebase", Ok(())),
        ("ls", "ls config", Ok(())),
        ("make", "make test", Err("runs")),
        ("make test", "make test", Ok(())),
        ("make test", "make test -E x", Err("word")),
        ("make test", "make test -CEx", Ok(())),
        ("env A", "env A ls", Err("runs")),
    ] {
        assert_eq!(judged(prefix, command), expected, "{prefix}: {command}");
    }
}

#[test]
fn long_commands_are_refused_by_their_length() {
    assert_eq!(
        judged(&format!("ls {}", "-a ".repeat(60_000))),
        Err("too long")
    );
    assert_eq!(
        judged(&format!("ls {}", "a ".repeat(1000))),
        Err("too long")
    );
    assert!(judged(&format!("ls {}", "a ".repeat(999))).is_ok());
    let longest = format!("ls {}", "a".repeat(16_381));
    assert!(judged(&longest).is_ok());
    assert_eq!(
        policy().check(&(longest + "a")).unwrap_err().to_string(),
        "the command has 16385 bytes, more than 16384"
    );
}

#[test]
fn a_prefix_is_plain_itself() {
    for prefix in ["ls; id", "", "$x"] {
        assert!(ShellPolicy::new([prefix], None).is_err(), "{prefix}");
    }
}

#[test]
fn a_refusal_names_what_it_found_and_escapes_it() {
    for (command, message) in [
        (
            "ls; id",
            "the command is not plain: the separator `;` at byte 2",
        ),
        ("rm x", "no allowed prefix matches this `rm` command"),
        (
            "find . -delete",
            "`find` runs, writes or loads something with `-delete`",
        ),
        ("cat /etc/x", "`/etc/x` lies outside the project"),
    ] {
        assert_eq!(policy().check(command).unwrap_err().to_string(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_string_panics_and_what_passes_begins_with_a_prefix(command in "(ls|cat|git log)?.*") {
        if let Ok(argv) = policy().check(&command) {
            prop_assert!(!argv.is_empty());
            prop_assert_eq!(words(&command), Ok(argv));
        }
    }
}
