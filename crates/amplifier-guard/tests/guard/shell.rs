//! No command line runs without a person but one plain command that was allowed.

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
fn plain_commands_are_read_as_a_shell_reads_them() {
    for (command, expected) in [
        ("ls", &["ls"][..]),
        ("  ls\t-la  src ", &["ls", "-la", "src"]),
        ("echo 'a  b' \"c d\" e\\ f", &["echo", "a  b", "c d", "e f"]),
        ("echo 'it'\\''s'", &["echo", "it's"]),
        ("l's' \"\" ''", &["ls", "", ""]),
        (
            "echo '$(id)' '`id`' '*' '#' '~' '{a,b}'",
            &["echo", "$(id)", "`id`", "*", "#", "~", "{a,b}"],
        ),
        (
            "echo \"\\$x \\` \\\" \\\\ \\n ; | & < > ( ) * # ~\"",
            &["echo", "$x ` \" \\ \\n ; | & < > ( ) * # ~"],
        ),
        (
            "echo a#b a~b a=b HEAD~1 HEAD@{1} {} x^ a!b ! %p main...x",
            &[
                "echo", "a#b", "a~b", "a=b", "HEAD~1", "HEAD@{1}", "{}", "x^", "a!b", "!", "%p",
                "main...x",
            ],
        ),
        ("grep \"end$\" x$ a\\$b", &["grep", "end$", "x$", "a$b"]),
        (
            "cat \u{444}\u{430}\u{439}\u{43b}.txt",
            &["cat", "\u{444}\u{430}\u{439}\u{43b}.txt"],
        ),
        (
            "echo 'caf\u{e9}\u{a0}!' '\u{1f469}\u{200d}\u{1f467}'",
            &["echo", "caf\u{e9}\u{a0}!", "\u{1f469}\u{200d}\u{1f467}"],
        ),
        ("echo =x x=y $", &["echo", "=x", "x=y", "$"]),
        ("./a=b", &["./a=b"]),
        ("1a=b", &["1a=b"]),
        ("a-b=c", &["a-b=c"]),
        (
            "echo HEAD@{1.5} main..x{y} main...x{y}",
            &["echo", "HEAD@{1.5}", "main..x{y}", "main...x{y}"],
        ),
        (
            "echo \\; \\| \\& \\* \\~ \\#",
            &["echo", ";", "|", "&", "*", "~", "#"],
        ),
        ("'a=b' c", &["a=b", "c"]),
    ] {
        let expected: Vec<_> = expected.iter().copied().map(str::to_owned).collect();
        assert_eq!(words(command), Ok(expected), "{command}");
    }
}

#[test]
fn what_is_not_one_plain_command_is_refused() {
    for command in [
        "ls; id",
        "ls;",
        "ls & id",
        "ls && id",
        "ls || id",
        "ls | id",
        "ls |& id",
        "ls\nid",
        "ls\r\nid",
        "ls\rid",
        "(ls)",
        "ls (x)",
        "f() { id; }",
        "{ ls; }",
        "{ ls }",
        "! ls",
        "ls > x",
        "ls >> x",
        "ls 2>&1",
        "cat < x",
        "cat << x",
        "cat <<< x",
        "cat <(id)",
        "echo $(id)",
        "echo `id`",
        "echo \"$(id)\"",
        "echo \"`id`\"",
        "echo $x",
        "echo \"$x\"",
        "echo ${x}",
        "echo \"${x:-$(id)}\"",
        "echo $((1+1))",
        "echo $'a'",
        "echo $\"a\"",
        "echo \"$'\"",
        "echo $1",
        "echo \"$@\"",
        "echo $[1]",
        "echo *",
        "echo a?",
        "echo [a]",
        "echo {a,b}",
        "echo a{1..3}b",
        "{ls,-la}",
        "cat ~",
        "cat ~/x",
        "cat ~root",
        "a=~ b",
        "echo x=~/y",
        "echo a:~",
        "A=b ls",
        "A+=b ls",
        "_1=b ls",
        "PATH=/tmp ls",
        "=ls",
        "ls #x",
        "# x",
        "ls \\",
        "ls \\\n",
        "ls 'x",
        "ls \"x",
        "ls \"x\\",
        "echo 'a\nb'",
        "echo \"a\u{1b}b\"",
        "ls\0",
        "echo\u{a0}hi",
        "ls \u{2028}id",
        "ls \u{200b}",
        "echo '\u{202e}x'",
        "echo '\u{e0041}'",
        "echo \u{feff}",
        "\u{ff4c}\u{ff53}",
        "ls \u{ff1b} id",
        "ls \u{2013}a",
        "ls \u{37e}",
        "ls \\\u{e9}",
    ] {
        assert_eq!(words(command), Err("not plain"), "{command}");
    }
    for command in ["", "   ", "''", "\"\" x"] {
        assert_eq!(words(command), Err("empty"), "{command}");
    }
}

#[test]
fn a_refusal_names_the_construct_and_its_place() {
    for (command, construct, offset) in [
        ("ls\nid", "a second line", 2),
        ("ls\r", "a second line", 2),
        ("echo é; id", "the separator `;`", 7),
        ("echo $(id)", "a command substitution", 5),
        ("echo \"$(id)\"", "a command substitution", 6),
        ("echo `id`", "a command substitution", 5),
        ("echo $'a'", "an ANSI-C quote", 5),
        ("echo \"$'\"", "an expansion `$`", 6),
        ("echo \"$", "an expansion `$`", 6),
        ("echo $x", "an expansion `$`", 5),
        ("{ ls }", "a group or braces", 0),
        ("echo {a..b}", "a brace expansion", 10),
        ("a=b ls", "an assignment", 1),
        ("=ls", "an expansion `=`", 0),
        ("ls 'x", "a quote without its end", 5),
        ("ls \\\n", "a backslash before no plain character", 4),
        ("ls '\u{200b}'", "a control or invisible character", 4),
        (
            "ls \u{ff1b}",
            "a character that looks like another, or like none",
            3,
        ),
    ] {
        let refusal = ShellError::NotPlain { construct, offset };
        assert_eq!(read_command(command), Err(refusal), "{command}");
    }
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
        ("git", "git --no-pager log", Err("word")),
        ("git --no-pager log", "git --no-pager log", Ok(())),
        ("git --no-pager", "git --no-pager config x", Err("word")),
        ("git config --get", "git config --get user.name", Ok(())),
        ("git log", "git log -c rebase", Ok(())),
        ("ls", "ls config", Ok(())),
        ("make", "make test", Err("runs")),
        ("make test", "make test", Ok(())),
        ("env A", "env A ls", Err("runs")),
    ] {
        assert_eq!(judged(prefix, command), expected, "{prefix}: {command}");
    }
}

#[test]
fn options_mean_to_each_program_what_its_manual_says() {
    for (refused, allowed) in [
        ("cargo test -Z x", "cargo test -pZed"),
        ("cargo test --target-dir=x", "cargo test --lib"),
        ("curl -o x u", "curl -Hoo u"),
        ("curl --output x u", "curl --head u"),
        ("diff -l a b", "diff -Ul a b"),
        ("diff --paginate a b", "diff --brief a b"),
        ("fd -x rm", "fd -ext rm"),
        ("fd --exec rm", "fd /etc/passwd src"),
        ("find . -delete", "find . -depth -name delete"),
        ("git log --output=x", "git log --oneline"),
        ("git grep -O x", "git log -SOmega"),
        ("go test -exec x", "go test -run exec"),
        ("go vet --vettool=x", "go vet x"),
        ("grep -f ../x y", "grep -A 3 /etc/passwd src"),
        ("grep --file=../x y", "grep --regexp=/etc/passwd y"),
        ("npm test --prefix x", "npm test --silent"),
        ("pytest -p x", "pytest -kpc"),
        ("pytest --rootdir=x", "pytest --verbose"),
        ("rg -z x", "rg -gz /etc/passwd"),
        ("rg --pre x y", "rg --files src"),
        ("sed -i p x", "sed -lin p x"),
        ("sed --in-place p x", "sed --quiet p x"),
        ("sort -o x y", "sort -to x"),
        ("sort --output=x y", "sort --unique y"),
        ("tar -xf x", "tar -tfx"),
        ("tar --extract -f x", "tar --list -f x"),
        ("tree -o x", "tree -Io src"),
        ("tree --output=x", "tree --dirsfirst"),
        ("wget -O x u", "wget -q u"),
        ("wget --output-document=x u", "wget --quiet u"),
        ("cat /etc/passwd", "printf /etc/passwd"),
    ] {
        let judged = |command: &str| {
            let program = command.split(' ').next().unwrap();
            let policy = ShellPolicy::new([program], Some("/srv/proj".into())).unwrap();
            policy.check(command)
        };
        let refusal = judged(refused).expect_err(refused);
        assert!(
            matches!(variant(&refusal), "word" | "outside"),
            "{refused}: {refusal}"
        );
        assert_eq!(judged(allowed), read_command(allowed), "{allowed}");
    }
}

#[test]
fn words_that_run_or_write_through_an_allowed_program_are_refused() {
    for command in [
        "git status --exec-path=/tmp/evil",
        "git log --output=x",
        "git log --outp x",
        "git diff --ext-diff",
        "git diff --ext",
        "git diff --textconv",
        "git grep --open-files-in-pager=x y",
        "git fetch --upload-pack=x",
        "git fetch --upload-p x",
        "git diff --no-index a b",
        "find . -delete",
        "find . -exec id +",
        "find . -execdir id +",
        "find . -ok id +",
        "find . -fprint x",
        "find . -fprintf x %p",
        "find . -fls x",
        "find . -- -delete",
        "find . -files0-from x",
        "sed -i s/a/b/ x",
        "sed -ni p x",
        "sed --in-place p x",
        "sed --in p x",
        "sed -i.bak p x",
        "sed -f script x",
        "sed -nf script x",
        "sed -n '1e id' x",
        "sed '1!e' x",
        "sed s/a/b/e x",
        "sed s/a/b/ge x",
        "sed 's/a/b/w out' x",
        "sed 's,a,b,e' x",
        "sed 'w out' x",
        "sed 'r other' x",
        "sed '/a/{e id}' x",
        "sed -e p -e e x",
        "sed -ee x",
        "sed -ne e x",
        "sed --expression=e x",
        "sed --expression e x",
        "sed 'p;e' x",
        "sed ':a;e' x",
        "sed ':a_b;e' x",
        "sed sxaxbx x",
        "sed 's\\a\\b\\' x",
        "sed 's/[/]/' x",
        "sed 's/[/]/e' x",
        "sed '' -i x",
        "rg --pre=x y",
        "rg --pre x y",
        "rg --hostname-bin=x y",
        "rg -z y",
        "rg --search-zip y",
        "npm test --script-shell=x",
        "npm test -script-shell=x",
        "npm test --script-sh x",
        "npm test --prefix x",
        "cargo test --config x",
        "cargo test --config 'a=\"b\"'",
        "cargo test -Z x",
        "cargo test --target-dir x",
        "tar -xf a",
        "tar xf a",
        "git grep -O x",
        "git grep -nOvi x",
        "sed --exp e x",
        "sed --expr=e x",
        "grep --reg=a /etc/shadow",
        "grep --fil=/etc/shadow x",
        "rg --fi /etc",
        "tar --to-command=x -tf a",
        "tar -tf a --checkpoint-action=exec=x",
        "tar -I x -tf a",
        "sort -o x y",
        "sort -ox y",
        "sort --output=x y",
        "sort --compress-program=x y",
    ] {
        assert_eq!(judged(command), Err("word"), "{command}");
    }
}

#[test]
fn paths_outside_the_root_are_refused() {
    for command in [
        "cat /etc/passwd",
        "cat /proc/self/environ",
        "cat ../x",
        "cat a/../../x",
        "cat -- /etc/passwd",
        "cat /srv/proj-evil/x",
        "cat /srv/proj/../x",
        "ls /",
        "ls ..",
        "find / -name x",
        "grep -f /etc/shadow x",
        "grep -f/etc/shadow x",
        "grep -rnf/etc/shadow x",
        "grep --file=/etc/shadow x",
        "grep -e a /etc/shadow",
        "grep --file /etc/shadow x",
        "grep a /etc/shadow",
        "rg x /etc",
        "rg -e x /etc",
        "rg --files /etc",
        "sed p /etc/shadow",
        "sed -e p /etc/shadow",
        "git diff /etc/passwd",
        "cat \"/etc/passwd\"",
        "git diff --stat -- ../x",
        "cat //etc/passwd",
        "cat ./../x",
    ] {
        assert_eq!(judged(command), Err("outside"), "{command}");
    }
    let rootless = ShellPolicy::new(["cat"], None).unwrap();
    assert!(rootless.check("cat /srv/proj/x").is_err());
    assert!(rootless.check("cat a/../x").is_ok());
}

#[test]
fn harmless_commands_run_as_they_are() {
    for command in [
        "ls -la src",
        "git status",
        "git log --oneline -5",
        "git log --format='%h %s' --since='2 weeks ago'",
        "git diff HEAD~1 -- src/main.rs",
        "git log -p -c",
        "git diff --no-ext-diff --exit-code",
        "grep -n 'rm -rf' docs/notes.md",
        "grep -E 'a|b' x.txt",
        "grep -rn /etc/passwd src",
        "grep -e /etc/passwd -r .",
        "rg --regexp=/etc/passwd src",
        "rg --pretty x",
        "rg -e '/proc' a/../b",
        "cargo test -- --nocapture",
        "cargo test -p guard --lib",
        "npm test",
        "npm test -- --watch",
        "find . -name '*.rs' -not -path './target/*'",
        "find /srv/proj/src -type f -print",
        "sed -n '1,10p' README.md",
        "sed 's/a/b/g;s,c,d,2' x",
        "sed -e '/a/,/b/d' -e '$p' x",
        "sed ':a;N;$!ba;s/\\n/ /g' x",
        "sed -n '/[^]]x/!{p;q5}' x",
        "sed -E 's/(a|b)/[\\1]/' x",
        "sed y/abc/xyz/ x",
        "sed ':a_b;b a_b' x",
        "sed 's/[\\]/x/' x",
        "sed 's/\\[a/x/' x",
        "sed 's/[[]/x/' x",
        "sed 's/[]]/x/;s/[^]]/y/' x",
        "sed '2i\\ text; e' x",
        "sed '0~3p;5,+2d;$=' x",
        "cat 'file with spaces.txt' /dev/null",
        "cat /srv/proj/a",
        "echo /etc/passwd ../x '; rm -rf ~'",
        "tar -tf a.tar",
        "tar tvf a.tar",
        "git log -SOmega -GO",
        "sort -k2 -u x",
    ] {
        let expected = read_command(command).map_err(|error| variant(&error));
        assert_eq!(judged(command), expected, "{command}");
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
        ("ls; id", "the command is not plain: the separator `;` at 2"),
        (
            "rm x",
            "no allowed prefix begins with `rm` and the words after it",
        ),
        (
            "find . -delete",
            "`find` runs, writes or loads something with `-delete`",
        ),
        ("cat /etc/x", "`/etc/x` lies outside the project"),
    ] {
        assert_eq!(policy().check(command).unwrap_err().to_string(), message);
    }
}

/// `word` in single quotes, as Python's `shlex.quote` writes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// `word` with a backslash before everything that is not a letter or digit.
fn escaped(word: &str) -> String {
    word.chars()
        .flat_map(|character| {
            let backslash = (!character.is_ascii_alphanumeric()).then_some('\\');
            backslash.into_iter().chain([character])
        })
        .collect()
}

/// `word` in double quotes.
fn double_quoted(word: &str) -> String {
    let mut text = String::from('"');
    for character in word.chars() {
        if matches!(character, '$' | '`' | '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quoted_words_parse_back_to_themselves(
        argv in proptest::collection::vec(("[ -~]{1,12}", 0..3_usize), 1..8),
    ) {
        let command: Vec<_> = argv
            .iter()
            .map(|(word, quoting)| [quoted, escaped, double_quoted][*quoting](word))
            .collect();
        let expected: Vec<_> = argv.into_iter().map(|(word, _)| word).collect();
        prop_assert_eq!(words(&command.join(" ")), Ok(expected));
    }

    #[test]
    fn quoted_unicode_is_kept(word in "[a-zà-ÿа-яぁ-ん一-龥😀-😏]{1,20}") {
        prop_assert_eq!(words(&quoted(&word)), Ok(vec![word]));
    }

    #[test]
    fn an_operator_outside_quotes_is_never_read_over(
        before in "[a-z]{1,5}( [a-z0-9./-]{1,8}){0,3}",
        operator in prop::sample::select(vec![
            ";", "&", "|", "<", ">", "(", ")", "`", "\n", "$(", "${", "$x", "*", "?", "[",
        ]),
        after in "[ -~]{0,20}",
    ) {
        let command = format!("{before} x{operator}{after}");
        prop_assert_eq!(words(&command), Err("not plain"));
    }

    #[test]
    fn no_string_panics_and_what_passes_begins_with_a_prefix(command in "(ls|cat|git log)?.*") {
        if let Ok(argv) = policy().check(&command) {
            prop_assert!(!argv.is_empty());
            prop_assert_eq!(words(&command), Ok(argv));
        }
    }
}
