//! No command line runs without a person but one plain command that was allowed.

mod arguments;
mod words;

use amplifier_guard::{ShellError, ShellJoiner, ShellPolicy, ShellStep, read_command};
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
        ShellError::Unknown { .. } => "unknown",
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
    for command in ["env ls", "xargs rm"] {
        assert_eq!(judged(command), Err("runs"), "{command}");
    }
    assert_eq!(judged("python x.py"), Err("word"));
    assert!(judged("python -m pytest tests").is_ok());
}

#[test]
fn a_line_allowed_as_a_whole_passes_and_as_a_prefix_it_only_narrows() {
    let judged = |line: &str, command: &str| {
        let policy = ShellPolicy::new([line], None).unwrap();
        policy
            .check(command)
            .map(drop)
            .map_err(|error| variant(&error))
    };
    for (line, command, expected) in [
        ("git", "git log config", Ok(())),
        ("git", "git config user.name", Ok(())),
        ("git", "git config user.name me", Err("word")),
        ("git", "git -c core.pager=x log", Err("word")),
        ("git", "git --no-pager log", Ok(())),
        ("git --no-pager log", "git --no-pager log", Ok(())),
        ("git --no-pager", "git --no-pager config x", Err("word")),
        (
            "git config --unset",
            "git config --unset user.name",
            Err("word"),
        ),
        (
            "git config --unset user.name",
            "git config --unset user.name",
            Ok(()),
        ),
        ("git log", "git log -c rebase", Ok(())),
        ("ls", "ls config", Ok(())),
        ("make", "make", Ok(())),
        ("make", "make test", Err("word")),
        ("make test", "make", Err("not allowed")),
        ("make test", "make test", Ok(())),
        ("make test", "make test -E x", Err("word")),
        ("make test", "make test -C x", Err("word")),
        ("make test", "make test deploy", Err("word")),
        ("make test V=1", "make test V=1", Ok(())),
        ("make test V=1", "make test V=1 V=1", Err("word")),
        ("npm run lint", "npm run lint", Ok(())),
        ("npm run lint", "npm run lint -- --fix", Err("word")),
        ("npm run lint -- --fix", "npm run lint -- --fix", Ok(())),
        ("awk '{print > $1}'", "awk '{print > $1}' a.txt", Ok(())),
        ("awk", "awk '{print > $1}' a.txt", Err("word")),
        ("awk", "awk '{print $1}' a.txt", Ok(())),
        ("awk '{print $1}'", "awk '{print $1}' -f a.txt", Err("word")),
        ("awk '{print $1}'", "awk '{print $1}' x=y", Err("word")),
        ("./check", "./check", Ok(())),
        ("./check", "./check --all", Err("unknown")),
        ("rm", "rm -rf src", Err("unknown")),
        ("python x.py", "python x.py", Ok(())),
        ("python x.py", "python x.py y", Err("word")),
        ("python", "python", Err("word")),
        ("perl", "perl --version", Ok(())),
        ("env A", "env A ls", Err("runs")),
        ("env A", "env A", Err("runs")),
        ("uv run pytest", "uv run pytest", Err("runs")),
        ("sh", "sh --version", Ok(())),
        ("/bin/sh", "/bin/sh -c id", Err("runs")),
        ("/usr/bin/find", "/usr/bin/find . -delete", Err("word")),
        ("/usr/bin/find", "/usr/bin/find . -print", Ok(())),
        ("python3.11", "python3.11 -c x", Err("word")),
        ("python3.11", "python3.11 -m pytest", Ok(())),
        (".venv/bin/pytest", ".venv/bin/pytest -p evil", Err("word")),
        ("command", "command -v git", Ok(())),
        ("command", "command git -v", Err("runs")),
    ] {
        assert_eq!(judged(line, command), expected, "{line}: {command}");
    }
}

#[test]
fn the_commands_of_a_line_are_judged_one_by_one() {
    let step = |joiner, words: &[&str]| ShellStep {
        joiner,
        words: words.iter().copied().map(str::to_owned).collect(),
    };
    assert_eq!(
        policy().check_line("git log -5 | grep 'a && b|c'&&ls"),
        Ok(vec![
            step(None, &["git", "log", "-5"]),
            step(Some(ShellJoiner::Pipe), &["grep", "a && b|c"]),
            step(Some(ShellJoiner::And), &["ls"]),
        ])
    );
    for (line, refusal) in [
        ("ls | sh", "not allowed"),
        ("ls && rm x", "not allowed"),
        ("ls | find . -delete", "word"),
        ("cat ../x | sort", "outside"),
        ("ls | xargs rm", "runs"),
        ("ls ||  ls", "not plain"),
        ("ls |& ls", "not plain"),
        ("ls & ls", "not plain"),
        ("ls &&& ls", "not plain"),
        ("ls; ls", "not plain"),
        ("ls\nls", "not plain"),
        ("ls | ls > x", "not plain"),
        ("ls | (ls)", "not plain"),
        ("ls | $x", "not plain"),
        ("ls | A=b ls", "not plain"),
        ("ls && ! ls", "not plain"),
        ("ls |", "empty"),
        ("| ls", "empty"),
        ("ls && | ls", "empty"),
        ("ls | | ls", "empty"),
        ("", "empty"),
    ] {
        let found = policy().check_line(line).map_err(|error| variant(&error));
        assert_eq!(found, Err(refusal), "{line}");
    }
    let long = ["ls a b c d"; 201].join(" && ");
    let found = policy().check_line(&long).map_err(|error| variant(&error));
    assert_eq!(found, Err("too long"));
}

#[test]
fn a_program_that_reads_from_a_pipe_is_not_allowed_by_its_line_alone() {
    let policy = ShellPolicy::new(["python -", "./check", "cat"], None).unwrap();
    for line in [
        "python -",
        "./check",
        "./check && python -",
        "./check | cat",
    ] {
        assert!(policy.check_line(line).is_ok(), "{line}");
    }
    for line in ["cat x | python -", "cat x | ./check"] {
        assert!(policy.check_line(line).is_err(), "{line}");
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
            "`-delete` is not known to be harmless for `find`",
        ),
        ("cat /etc/x", "`/etc/x` lies outside the project"),
    ] {
        assert_eq!(policy().check(command).unwrap_err().to_string(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_without_joiners_is_judged_as_a_command(command in "(ls|cat|git log)?[^|&]*") {
        let steps = policy().check_line(&command);
        let words = policy().check(&command);
        prop_assert_eq!(steps.map(|steps| steps.into_iter().flat_map(|step| step.words).collect()), words);
    }

    #[test]
    fn joined_commands_are_split_where_they_were_joined(
        commands in proptest::collection::vec(("[ -~]{1,12}", any::<bool>()), 1..6),
    ) {
        let quoted = |word: &str| format!("echo '{}'", word.replace('\'', "'\\''"));
        let mut line = String::new();
        let mut expected = Vec::new();
        for (index, (word, is_pipe)) in commands.iter().enumerate() {
            let joiner = if *is_pipe { ShellJoiner::Pipe } else { ShellJoiner::And };
            if index > 0 {
                line.push_str(if *is_pipe { "|" } else { " && " });
            }
            line.push_str(&quoted(word));
            let words = vec!["echo".to_owned(), word.clone()];
            expected.push(ShellStep { joiner: (index > 0).then_some(joiner), words });
        }
        prop_assert_eq!(policy().check_line(&line), Ok(expected));
    }

    #[test]
    fn no_string_panics_and_what_passes_begins_with_a_prefix(command in "(ls|cat|git log)?.*") {
        if let Ok(argv) = policy().check(&command) {
            prop_assert!(!argv.is_empty());
            prop_assert_eq!(words(&command), Ok(argv));
        }
    }
}
