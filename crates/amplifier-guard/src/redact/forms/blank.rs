//! Values behind a name and a blank: `--password value`, `login ada password value`,
//! `#define PASSWORD value`, `PASSWORD 'value'`.

use memchr::{memchr, memmem};

use crate::redact::finds::Found;
use crate::redact::look::{LOOK_BYTES, ahead, behind, line_before, stretch};
use crate::redact::name::{self, MAX_NAME_BYTES, Name, Named};
use crate::redact::random::{is_mixed, is_random};
use crate::redact::value::{self, Value};
use crate::redact::word_lists::{List, is_word};

/// The value behind a name, if its line says that it is one.
pub(super) fn find_value(text: &[u8], named: Named) -> Option<Found> {
    let (Name::Strong(kind) | Name::Weak(kind)) = named.name else {
        return None;
    };
    let declared = find_declared(text, named.end);
    if text[named.end] == b'[' && declared.is_none() {
        return None;
    }
    let value = value::parse(text, declared.unwrap_or(named.end))?;
    let look = &text[value.start..value.end.min(value.start + LOOK_BYTES)];
    let candidate = Candidate {
        text,
        named,
        kind,
        value,
        look,
        is_declared: declared.is_some(),
    };
    match named.name {
        _ if text[named.start] == b'-' => candidate.of_option(),
        Name::Strong(_) => candidate.of_line(),
        _ => None,
    }
}

/// What may be the value of a name.
struct Candidate<'text> {
    text: &'text [u8],
    named: Named,
    kind: &'static str,
    value: Value,
    /// The beginning of the value.
    look: &'text [u8],
    /// Whether a type and a `=` are between the name and the value.
    is_declared: bool,
}

impl Candidate<'_> {
    /// The value of an option: `--password value`, `-password value`.
    fn of_option(&self) -> Option<Found> {
        let name = &self.text[self.named.start..self.named.end];
        // At most 64 characters behind the dashes.
        let near = behind(name, name.len(), MAX_NAME_BYTES + 1);
        let has_two_dashes = memmem::find(near, b"--").is_some();
        (has_two_dashes || self.is_option_of_one_dash()).then(|| {
            self.found(self.value)
                .unless(self.is_option() || self.is_plain())
        })
    }

    /// Whether the name is a word behind a blank: some programs take one dash, few words of prose
    /// have one before them.
    fn is_option_of_one_dash(&self) -> bool {
        let before = &self.text[..self.named.start];
        self.kind == "password" && matches!(before, [.., word, b' '] if *word != b'-')
    }

    /// The value of a name on a line of code, of a shell or of `.netrc`.
    fn of_line(&self) -> Option<Found> {
        let words = WordsBefore::of(self.text, self.named.start);
        let is_login = words.are_of_netrc();
        let is_set = self.is_set_by(words.last);
        let is_quoted = self.value.is_quoted
            && (is_set || self.is_declared || self.is_password_without_blanks(words.last));
        if !(is_login || is_quoted || is_set || self.is_first_of_line()) {
            return None;
        }
        let after = self.value.end + usize::from(self.value.is_quoted);
        let rest = &self.text[after.min(self.text.len())..];
        let blanks = stretch(rest, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let ends_line = matches!(rest.get(blanks), None | Some(b'\n'));
        let mut value = self.value;
        value.is_open |= rest.len() == blanks;
        let is_found = is_login || is_quoted || ends_line;
        Some(self.found(value).unless(self.is_option() || !is_found))
    }

    /// Whether the word before the name sets a value: `export PASSWORD …`, `#define PASSWORD …`.
    fn is_set_by(&self, word: &[u8]) -> bool {
        let is_prose = self.is_plain() && word == b"set";
        is_word(List::Set, word.strip_prefix(b"#").unwrap_or(word))
            && !self.line_before().is_empty()
            && !is_prose
            && !self.is_definition_of_other(word)
    }

    fn is_password_without_blanks(&self, word: &[u8]) -> bool {
        self.kind == "password" && !self.look.contains(&b' ') && !self.is_definition_of_other(word)
    }

    /// Whether C defines no secret: most of what it defines is a number, or another name.
    fn is_definition_of_other(&self, word: &[u8]) -> bool {
        let look = self.look;
        word.ends_with(b"define")
            && if self.value.is_quoted {
                look.len() < 6 || look.contains(&b' ') || name::is_name(look)
            } else {
                !(is_random(look) || look.len() >= 8 && is_mixed(look)) || look.starts_with(b"0x")
            }
    }

    /// Whether the name begins its line, and the value is no word of a sentence.
    fn is_first_of_line(&self) -> bool {
        let name = &self.text[self.named.start..self.named.end];
        self.line_before().trim_ascii().is_empty()
            && (!self.is_plain() || name.len() > 8 && !name.contains(&b'_'))
    }

    /// Whether the value may be a word of prose.
    fn is_plain(&self) -> bool {
        self.look.iter().all(u8::is_ascii_alphabetic)
            && !is_random(self.look)
            && !self.value.is_quoted
    }

    /// Whether the value is the next option.
    fn is_option(&self) -> bool {
        self.look.starts_with(b"-")
    }

    fn line_before(&self) -> &[u8] {
        line_before(self.text, self.named.start, LOOK_BYTES)
    }

    fn found(&self, value: Value) -> Found {
        Found::of(self.text, value, self.kind)
    }
}

/// The words before a name, on its line or on lines before it.
struct WordsBefore<'text> {
    last: &'text [u8],
    second: &'text [u8],
    third: &'text [u8],
    fourth: &'text [u8],
}

impl<'text> WordsBefore<'text> {
    fn of(text: &'text [u8], place: usize) -> Self {
        let before = behind(text, place, LOOK_BYTES).rsplit(u8::is_ascii_whitespace);
        let mut words = before.filter(|word| !word.is_empty());
        let [last, second, third, fourth] = [(); 4].map(|()| words.next().unwrap_or_default());
        Self {
            last,
            second,
            third,
            fourth,
        }
    }

    /// Whether they are those of `.netrc`: `machine host login user`, `default login user`, `machine
    /// host`.
    fn are_of_netrc(&self) -> bool {
        self.second == b"machine"
            || self.second == b"login" && (self.fourth == b"machine" || self.third == b"default")
    }
}

/// The place after the `=` of a declaration, whose type is behind the name: `key string = "…"`.
pub(in crate::redact) fn find_declared(text: &[u8], end: usize) -> Option<usize> {
    let window = ahead(text, end, 48);
    let written = window.trim_ascii_start();
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'=';
    let (word, rest) = written.split_at(written.iter().position(is_end)?);
    let rest = rest.trim_ascii_start();
    // Most words have another one behind them.
    if word.is_empty() || !matches!(rest, [b':' | b'=', ..]) {
        return None;
    }
    let equals = memchr(b'=', rest)?;
    let is_joint = matches!(rest[..equals], [] | [b':'] | [b':', b'\t'..=b' ', ..]);
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_()[]*:.".contains(byte);
    let place = end + window.len() - rest.len() + equals + 1;
    (is_joint && word.iter().all(is_type)).then_some(place)
}
