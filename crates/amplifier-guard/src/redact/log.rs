//! Log lines without user names and of limited length.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// The beginnings of home folder paths, on every system.
static HOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"/home/|/Users/|/root|[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/)").ok()
});

/// The text with each home folder as `~`: `/home/ada/x` is `~/x`.
#[must_use]
pub fn hide_homes(text: &str) -> Cow<'_, str> {
    let Some(home) = HOME.as_ref() else {
        return Cow::Borrowed(text);
    };
    let mut hidden = String::new();
    let mut place = 0;
    for found in home.find_iter(text) {
        let before = &text[..found.start()];
        if found.start() < place || !(ends_word(before) || before.ends_with("://")) {
            continue;
        }
        let rest = &text[found.end()..];
        let name = rest.find(ends_name).unwrap_or(rest.len());
        let is_root = found.as_str() == "/root";
        if is_root == (name > 0) {
            continue;
        }
        hidden.push_str(&text[place..found.start()]);
        hidden.push('~');
        place = found.end() + name;
    }
    if place == 0 {
        return Cow::Borrowed(text);
    }
    hidden.push_str(&text[place..]);
    Cow::Owned(hidden)
}

/// At most `most` characters of the text, with `…` as the last one where it is cut.
#[must_use]
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.char_indices().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(kept + if most == 0 { "" } else { "…" })
}

/// Whether no path goes on after this text.
fn ends_word(text: &str) -> bool {
    text.chars().next_back().is_none_or(|last| {
        !(last.is_alphanumeric() || matches!(last, '_' | '-' | '.' | '/' | '\\' | '~'))
    })
}

fn ends_name(character: char) -> bool {
    character.is_whitespace() || character.is_control() || "/\\\"'`:;,<>|()[]{}".contains(character)
}
