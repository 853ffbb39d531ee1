//! Glob patterns for file names.
//!
//! The crate `globset` is not used because it reads them differently: it matches bytes, so that its
//! `?` is a part of `é`, its `[!a]` crosses directories, and `a}` is an error.

use std::path::Path;

use regex::{Regex, RegexBuilder};

/// A longer pattern is a mistake or an attack.
pub(crate) const MAX_PATTERN_BYTES: usize = 4096;
/// Large enough for `\w{1,60}`.
pub(crate) const MAX_PROGRAM_BYTES: usize = 4 << 20;

/// An invalid pattern.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum PatternError {
    /// A glob pattern that cannot be read.
    #[error("invalid file pattern `{pattern}`: {reason}")]
    Name { pattern: String, reason: String },
    /// A regular expression that cannot be read, or is too large to be run in linear time.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    Expression { pattern: String, reason: String },
    /// A pattern longer than any sensible one.
    #[error("the pattern is too long ({bytes} bytes, at most {MAX_PATTERN_BYTES})")]
    TooLong { bytes: usize },
}

/// A glob pattern over relative paths.
///
/// `*` and `?` stay inside one name, `**` crosses directories, `[a-z]` and `{one,two}` choose, `\`
/// takes a character as it is. A pattern without `/` means the name at any depth. A byte of a path
/// that is not UTF-8 counts as U+FFFD. Matching takes linear time.
#[derive(Clone, Debug)]
pub struct NamePattern {
    expression: Regex,
    name_only: bool,
}

impl NamePattern {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong {
                bytes: pattern.len(),
            });
        }
        let fail = |reason: &str| PatternError::Name {
            pattern: pattern.into(),
            reason: reason.into(),
        };
        let relative = pattern.trim_start_matches("./");
        if relative.is_empty() {
            return Err(fail("it is empty (`**` means every file)"));
        }
        if relative.starts_with('/') || relative.split('/').any(|part| part == "..") {
            return Err(fail(
                "it must be relative to the directory searched, without `..`",
            ));
        }
        let expression = expression(relative).map_err(fail)?;
        let expression = RegexBuilder::new(&expression)
            .size_limit(MAX_PROGRAM_BYTES)
            .build()
            .map_err(|error| fail(&reason(&error)))?;
        Ok(Self {
            expression,
            name_only: !relative.contains('/'),
        })
    }

    /// Whether `path`, relative to the directory searched, is meant.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let meant = if self.name_only {
            path.file_name().unwrap_or_default()
        } else {
            path.as_os_str()
        };
        self.expression.is_match(&meant.to_string_lossy())
    }
}

/// A glob pattern as a regular expression.
fn expression(pattern: &str) -> Result<String, &'static str> {
    let mut expression = String::from(r"\A(?s:");
    let mut rest = pattern;
    let mut previous = '/';
    let mut open = 0_usize;
    while let Some(character) = rest.chars().next() {
        let starts_name = matches!(previous, '/' | '{' | ',');
        previous = character;
        if starts_name && let Some(after) = rest.strip_prefix("**/") {
            expression.push_str("(?:[^/]+/)*");
            (rest, previous) = (after, '/');
            continue;
        }
        if starts_name && rest == "**" {
            expression.push_str(".+");
            break;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => rest = class(rest, &mut expression)?,
            '{' => {
                open += 1;
                expression.push_str("(?:");
            }
            ',' if open > 0 => expression.push('|'),
            '}' if open > 0 => {
                open -= 1;
                expression.push(')');
            }
            '\\' => {
                let taken = rest.chars().next().ok_or("`\\` at its end takes nothing")?;
                rest = &rest[taken.len_utf8()..];
                push_literal(taken, &mut expression);
            }
            literal => push_literal(literal, &mut expression),
        }
    }
    if open > 0 {
        return Err("`{` is not closed by `}`");
    }
    expression.push_str(r")\z");
    Ok(expression)
}

/// Writes the class that `rest` begins with, after its `[`, and returns what follows its `]`.
fn class<'rest>(rest: &'rest str, expression: &mut String) -> Result<&'rest str, &'static str> {
    let inner = rest.strip_prefix(['!', '^']);
    expression.push_str(if inner.is_some() { "[^/" } else { "[" });
    let inner = inner.unwrap_or(rest);
    // A `]` right at the beginning is one of the characters.
    let first = inner.chars().next().map_or(0, char::len_utf8);
    let end = inner[first..].find(']').ok_or("`[` is not closed by `]`")? + first;
    let mut characters = inner[..end].chars().peekable();
    while let Some(from) = characters.next() {
        push_literal(from, expression);
        if characters.peek() == Some(&'-') {
            let mut ahead = characters.clone();
            ahead.next();
            if let Some(to) = ahead.next() {
                if to < from {
                    return Err("a range in `[…]` runs backwards");
                }
                expression.push('-');
                push_literal(to, expression);
                characters = ahead;
            }
        }
    }
    expression.push(']');
    Ok(&inner[end + 1..])
}

fn push_literal(character: char, expression: &mut String) {
    expression.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

/// What is wrong with a regular expression; the lines before the last draw it.
pub(crate) fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large when compiled".into(),
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).into()
        }
    }
}
