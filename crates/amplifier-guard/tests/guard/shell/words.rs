//! A command line is read as a shell reads it, or refused for what is not plain in it.

use amplifier_guard::{ShellError, read_command};
use proptest::prelude::*;

use super::words;

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
        ("test = x=y $", &["test", "=", "x=y", "$"]),
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
        "echo =ls",
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
        ("ls\nid", "a line break", 2),
        ("ls\r", "a line break", 2),
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
        ("ls 'x", "an unclosed quote", 5),
        (
            "ls \\\n",
            "a backslash before a character that is not printable ASCII",
            4,
        ),
        ("ls '\u{200b}'", "a control or invisible character", 4),
        ("ls \u{ff1b}", "an invisible or look-alike character", 3),
    ] {
        let refusal = ShellError::NotPlain { construct, offset };
        assert_eq!(read_command(command), Err(refusal), "{command}");
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
}
