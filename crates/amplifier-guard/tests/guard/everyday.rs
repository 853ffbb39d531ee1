//! What developers run all day runs without a person, and what only looks like it does not.

use amplifier_guard::{ShellError, ShellPolicy, read_command};

fn judged(prefix: &str, command: &str) -> Result<Vec<String>, ShellError> {
    let policy = ShellPolicy::new([prefix], Some("/srv/proj".into())).unwrap();
    policy.check(command)
}

#[test]
fn everyday_commands_run_as_they_are() {
    for (prefix, commands) in [
        (
            "cargo",
            &[
                "cargo build --release --features a,b --no-default-features",
                "cargo build --target x86_64-unknown-linux-gnu",
                "cargo check --workspace --locked --message-format=json",
                "cargo clippy --all-targets --all-features -- --deny warnings",
                "cargo doc --no-deps",
                "cargo fmt --all -- --check",
                "cargo test --target=x",
                "cargo test --test guard -j2 -- --nocapture --skip a::b",
                "cargo tree -e features -i serde",
            ][..],
        ),
        ("npm", &["npm ls --depth=0", "npm test --silent"][..]),
        (
            "pytest",
            &[
                "pytest --co -q",
                "pytest --collect-only",
                "pytest --cov=src --cov-report=term-missing",
                "pytest --deselect tests/a.py::b --ignore=tests/slow",
                "pytest --durations=10 --maxfail=1 --tb=short -rA",
                "pytest -k 'a and not b' -m 'not slow' -n 4",
                "pytest -p no:cacheprovider tests",
                "pytest -pno:randomly -vv",
                "pytest -x -q tests/test_a.py::test_b",
            ][..],
        ),
        (
            "git",
            &[
                "git --no-pager log --oneline -20",
                "git -P diff HEAD~1",
                "git --no-optional-locks status -sb",
                "git --version",
                "git blame -L 10,20 src/main.rs",
                "git diff --name-only main...HEAD",
                "git grep -n needle HEAD -- src",
                "git log --since='2 weeks ago' --author=ada -S needle -p -- src",
                "git ls-files --others --exclude-standard",
                "git rev-parse --show-toplevel",
                "git show HEAD:src/main.rs",
                "git stash list",
                "git status --porcelain=v2 --branch",
            ][..],
        ),
        ("ls", &["ls -lah --sort=time", "ls -R src"][..]),
        (
            "rg",
            &[
                "rg --files -g '*.py'",
                "rg --type rust -il todo",
                "rg --type=rust needle src",
                "rg --type-list",
                "rg -A 3 -B3 --hidden --no-ignore '/usr/bin' src",
                "rg -t py -F 'a.b'",
            ][..],
        ),
        (
            "find",
            &[
                "find . -ipath '/x/*' -o -regex '/y'",
                "find . -name '/a'",
                "find src -maxdepth 2 -newer README.md -size +1M -print0",
            ][..],
        ),
        (
            "make test",
            &["make test", "make test -j4", "make test -k -B test"][..],
        ),
        (
            "sort",
            &["sort -t/ -k2,2n x", "sort --field-separator=/ x"][..],
        ),
        ("cut", &["cut -d/ -f2 x", "cut --delimiter / -f 1-3 x"][..]),
        ("tr", &["tr / _", "tr -d /"][..]),
        ("basename", &["basename /a/b.rs .rs"][..]),
        ("dirname", &["dirname /a/b"][..]),
    ] {
        for command in commands {
            let words = read_command(command);
            assert_eq!(judged(prefix, command), words, "{command}");
        }
    }
}

/// What a developer types, a line each.
const LINES: &str = include_str!("../../../../tests/data/security/everyday.txt");
/// Of its lines, at most so many may ask.
const MAX_ASKING: f64 = 0.12;

#[test]
fn few_of_the_lines_of_a_developer_ask() {
    let mut allowed: Vec<_> = LINES
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let listed = ["build", "check", "lint", "test"].map(|name| format!("make {name}"));
    let scripts = ["build", "lint", "test", "typecheck"].map(|name| format!("npm run {name}"));
    allowed.extend(listed.iter().chain(&scripts).map(String::as_str));
    // Programs without a table are not in the list of what the user allows.
    allowed.retain(|program| !["cd", "cp", "mkdir", "mv", "pip", "rm", "touch"].contains(program));
    let policy = ShellPolicy::new(allowed, Some("/srv/proj".into())).unwrap();
    let asking: Vec<_> = LINES
        .lines()
        .filter(|line| policy.check_line(line).is_err())
        .collect();
    let lines = u16::try_from(LINES.lines().count()).unwrap();
    let most = f64::from(lines) * MAX_ASKING;
    assert!(
        lines >= 500 && f64::from(u16::try_from(asking.len()).unwrap()) <= most,
        "{asking:#?}"
    );
}

#[test]
fn what_looks_like_them_and_runs_or_writes_something_else_does_not() {
    for (prefix, command) in [
        ("cargo test", "cargo test --target-dir=x"),
        ("cargo test", "cargo test --target-dir x"),
        ("cargo test", "cargo test --config=x"),
        ("pytest", "pytest --basetemp=x"),
        ("pytest", "pytest --junitxml=x"),
        ("pytest", "pytest --pdb"),
        ("pytest", "pytest --pdbcls=x:y"),
        ("pytest", "pytest --trace"),
        ("pytest", "pytest -p"),
        ("pytest", "pytest -p plugin"),
        ("pytest", "pytest -pplugin"),
        ("pytest", "pytest -p plugin -p no:plugin"),
        ("pytest", "pytest -xp plugin"),
        ("pytest", "pytest -- -p plugin"),
        ("pytest", "pytest -- --rootdir=x"),
        ("git", "git --no-pager config x"),
        ("git", "git -P --exec-path=x log"),
        ("git", "git -p log"),
        ("find", "find . -name x -delete"),
        ("make test", "make test SHELL=x"),
        ("make test", "make test CC=cc"),
        ("make test", "make test X!=id"),
        ("make test", "make test -- X=y"),
        ("make test", "make test --eval=x"),
        ("make test", "make test --ev x"),
        ("make test", "make test -E x"),
        ("make test", "make test -C /tmp"),
        ("make test", "make test -f/tmp/x"),
    ] {
        let refusal = judged(prefix, command).expect_err(command);
        assert!(
            matches!(refusal, ShellError::Word { .. }),
            "{command}: {refusal}"
        );
    }
    for (prefix, command) in [
        ("cut", "cut -d/ -f2 /etc/passwd"),
        ("cut", "cut -f2 -d / /etc/passwd"),
        ("find", "find / -name x"),
        ("find", "find . -newer /etc/passwd"),
        ("git", "git -C .. log"),
        ("pytest", "pytest /tmp/x"),
        ("pytest", "pytest ..::a"),
        ("rg", "rg --type rust x /etc"),
        ("sort", "sort -t/ /etc/passwd"),
    ] {
        let refusal = judged(prefix, command).expect_err(command);
        assert!(
            matches!(refusal, ShellError::Outside { .. }),
            "{command}: {refusal}"
        );
    }
    let settled = "make test ARGS=-q";
    assert_eq!(judged(settled, settled), read_command(settled));
}
