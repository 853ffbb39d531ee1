//! What an awk script can do: printing passes; running, writing and reading elsewhere do not.

use std::sync::LazyLock;

use regex::Regex;

/// Names that lead beyond the input: what may stand around them ends a name to every awk.
static BEYOND: LazyLock<Regex> = LazyLock::new(|| {
    let names = "system|getline|ARG[CV]|ENVIRON|SYMTAB";
    let pattern = format!(r"(?:\A|[^A-Za-z_])(?:{names})(?:[^A-Za-z0-9_]|\z)");
    Regex::new(&pattern).expect("it is put together from constants")
});

/// A script without `|`, `>` and `@` but in texts, in expressions, in `||` and in `>=`.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    let text = r#""(?:[^"\\\n]|\\[^\n])*""#;
    // A bracket with a slash, a backslash or a further bracket in it ends where it ends to some.
    let brackets = r"\[\^?(?:\[:[a-z]+:\]|[^\[\]/\\\n^])(?:\[:[a-z]+:\]|[^\[\]/\\\n])*\]";
    // Behind these nothing can be divided; `/=` could be an assignment.
    let start = r"(?:\A|\|\||[{};(,!~&\n])[ \t]*";
    let expression =
        format!(r"{start}/(?:\\[^\n]|{brackets}|[^/\\\[=\n])(?:\\[^\n]|{brackets}|[^/\\\[\n])*/");
    // Behind another slash or a comment it is not known what is a text.
    let rest = r"[/#](?:[^|>@]|\|\||>=)*";
    let pattern = format!(r#"\A(?:{expression}|{text}|\|\||>=|[^"/#|>@\\])*(?:{rest})?\z"#);
    Regex::new(&pattern).expect("it is put together from constants")
});

/// Whether `script` runs nothing, writes nothing and reads only its input.
pub(super) fn is_harmless(script: &str) -> bool {
    HARMLESS.is_match(script) && !BEYOND.is_match(script)
}
