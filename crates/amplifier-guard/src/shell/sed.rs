//! What a sed script can do: printing and editing pass, running, writing and reading files do not.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// What may delimit patterns.
const DELIMITERS: &str = "/|,#:@!%_~+=;";

/// A script that every implementation reads in the same way, and that only prints and edits.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    let with_each_delimiter = |shape: fn(&str, &str, &str) -> String| {
        let shaped = DELIMITERS.chars().map(|delimiter| {
            let delimiter = regex::escape(&delimiter.to_string());
            let text = format!(r"(?:\\[^\n]|[^\n\\{delimiter}])*");
            // Implementations differ on a delimiter in brackets, so there is none. A closing
            // bracket right at the start is one of the characters.
            let inside = format!(r"\[:[a-z]+:\]|[^\[\]\n{delimiter}]");
            let first = format!(r"\[:[a-z]+:\]|[^\[\]^\n{delimiter}]");
            let brackets =
                format!(r"\[(?:\^?\[\]|(?:\^(?:\]|{inside})|\]|{first})(?:{inside})*\[?\])");
            let pattern = format!(r"(?:\\[^\n]|{brackets}|[^\n\\\[{delimiter}])*");
            shape(&delimiter, &pattern, &text)
        });
        format!("(?:{})", shaped.collect::<Vec<_>>().join("|"))
    };
    let pattern = with_each_delimiter(|delimiter, pattern, _| {
        let start = if delimiter == "/" { "" } else { r"\\" };
        format!("{start}{delimiter}{pattern}{delimiter}[IM]*")
    });
    let address = format!(r"(?:[0-9]+(?:~[0-9]+)?|[+~][0-9]+|\$|{pattern})[ \t]*");
    let substitute = with_each_delimiter(|delimiter, pattern, text| {
        format!("s{delimiter}{pattern}{delimiter}{text}{delimiter}[gpiImM0-9]*")
    });
    let translate = with_each_delimiter(|delimiter, _, text| {
        format!("y{delimiter}{text}{delimiter}{text}{delimiter}")
    });
    let addresses = format!(r"(?:{address}(?:,[ \t]*{address})?)?[ \t!]*");
    let command =
        format!(r"(?:[pPdDnNgGhHxzF=]|[qQlL][ \t]*[0-9]*|{substitute}|{translate})[ \t]*");
    // To some a label goes on to the next separator, and text to the end.
    let label = r"[:btT][ \t]*[A-Za-z0-9_]*(?:[;\n]|$)";
    let item = format!(r"(?:\{{|{command}(?:[;\n}}]|#[^\n]*|$)|{label}|[aic][^\n]*$)");
    Regex::new(&format!(
        r"(?-u)\A(?:[ \t\n;}}]|#[^\n]*|{addresses}{item})*\z"
    ))
    .expect("it is put together from constants")
});

/// Whether `script` neither runs a command nor opens a file.
pub(super) fn is_harmless(script: &str) -> bool {
    // Without these letters there is no such command, however it is read, unless the next script
    // goes on where this one ends.
    let is_complete = !script.ends_with('\\');
    is_complete && !script.contains(['e', 'r', 'R', 'w', 'W'])
        || HARMLESS.is_match(script.as_bytes())
}
