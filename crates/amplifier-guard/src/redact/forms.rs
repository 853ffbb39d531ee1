//! Ways to write a secret down other than with `:` or `=` behind its name and on one line.

use memchr::{memchr, memmem, memrchr};

use super::finds::{Finds, Found};
use super::header::{authorization, cookie};
use super::look::{LOOK_BYTES, ahead, behind, line_before, stretch, tail, trimmed};
use super::name::{self, Name, Named};
use super::random::{is_mixed, is_random};
use super::value::{self, Value};
use super::word_lists::{List, ends, is_word};

/// The most bytes of an element's text.
const MAX_ELEMENT_BYTES: usize = 1024;
/// The most bytes of a list of secrets.
const MAX_LIST_BYTES: usize = 4096;

/// Takes what follows a name without a separator.
pub(super) fn find(text: &[u8], named: Named, finds: &mut Finds) {
    let (before, after) = (&text[..named.start], &text[named.end..]);
    if before.ends_with(b"</") && after.starts_with(b">") {
        finds.take(element(text, named));
    } else if before.ends_with(b"<") && after.starts_with(b">") {
        let content = ahead(text, named.end + 1, MAX_ELEMENT_BYTES);
        // What may occur between `<password>` and `</password>`, which are on one line.
        if stretch(content, |byte| !matches!(byte, b'>' | b'\n')) == after.len() - 1 {
            finds.wait(named.end + 1);
        }
    }
    match after {
        [b'\t', ..] if text[named.start] == b'-' => {}
        [b' ' | b'\t' | b'[', ..] => finds.take(word(text, named)),
        [b'\'' | b'"', b',', ..] => finds.take(pair(text, named)),
        _ => {}
    }
    attribute(text, named, finds);
}

/// `<password>value</password>`, from its closing tag on.
fn element(text: &[u8], named: Named) -> Option<Found> {
    let (Name::Strong(kind) | Name::Weak(kind)) = named.name else {
        return None;
    };
    let close = named.start - 2;
    let before = behind(text, close, MAX_ELEMENT_BYTES);
    let start = close - before.len() + memrchr(b'>', before)? + 1;
    Some(Found::of(text, Value::quoted(start, close), kind))
}

/// `('x-api-key', 'value')`, a header as a pair, and `define('PASSWORD', 'value')`, a call.
fn pair(text: &[u8], named: Named) -> Option<Found> {
    let before = text[..named.start].strip_suffix(&[text[named.end]])?;
    let before = before.strip_suffix(b"b").unwrap_or(before);
    let before = before.strip_suffix(b" ").unwrap_or(before);
    let [before @ .., b'(' | b'['] = before else {
        return None;
    };
    let start = named.end + 2;
    match named.name {
        Name::Authorization => authorization(text, start),
        Name::Cookie => cookie(text, start),
        Name::Strong(kind) => {
            let callee = behind(before, before.len(), 32);
            let is_call = ends(List::Call, &last_word(callee).to_ascii_lowercase());
            let value = value::parse(text, start)?;
            let look = &text[value.start..value.end];
            let is_header = text[named.start..named.end].contains(&b'-');
            let is_pair = is_call
                || text.get(start) == Some(&b' ')
                    && (is_header || is_random(look) && look.iter().any(u8::is_ascii_digit));
            let is_other = !value.is_quoted || !is_pair || name::is_name(look);
            Some(Found::of(text, value, kind).unless(is_other))
        }
        Name::Plural(_) | Name::Weak(_) => None,
    }
}

/// A value behind a name and a blank: `--password value`, `login ada password value`,
/// `#define PASSWORD value`, `PASSWORD 'value'`.
fn word(text: &[u8], named: Named) -> Option<Found> {
    let (Name::Strong(kind) | Name::Weak(kind)) = named.name else {
        return None;
    };
    let name = &text[named.start..named.end];
    let declared = declared(text, named.end);
    if text[named.end] == b'[' && declared.is_none() {
        return None;
    }
    let mut value = value::parse(text, declared.unwrap_or(named.end))?;
    let look = &text[value.start..value.end.min(value.start + LOOK_BYTES)];
    let is_plain = look.iter().all(u8::is_ascii_alphabetic) && !is_random(look) && !value.is_quoted;
    let is_option = look.starts_with(b"-");
    if name.starts_with(b"-") {
        // At most 64 characters behind the dashes.
        let near = behind(name, name.len(), name::MAX_NAME_BYTES + 1);
        // Some programs take one dash; few words of prose have one before them.
        let before = &text[..named.start];
        let is_short = kind == "password" && matches!(before, [.., word, b' '] if *word != b'-');
        let is_flag = is_short || memmem::find(near, b"--").is_some();
        return is_flag.then(|| Found::of(text, value, kind).unless(is_option || is_plain));
    }
    let Name::Strong(_) = named.name else {
        return None;
    };
    let line = line_before(text, named.start, LOOK_BYTES);
    let before = behind(text, named.start, LOOK_BYTES).rsplit(u8::is_ascii_whitespace);
    let mut words = before.filter(|word| !word.is_empty());
    let [user, login, host, machine] = [(); 4].map(|()| words.next().unwrap_or_default());
    let rest = &text[(value.end + usize::from(value.is_quoted)).min(text.len())..];
    let blanks = stretch(rest, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let ends_line = matches!(rest.get(blanks), None | Some(b'\n'));
    let is_set = is_word(List::Set, user.strip_prefix(b"#").unwrap_or(user))
        && !(line.is_empty() || is_plain && user == b"set");
    let is_first =
        line.trim_ascii().is_empty() && (!is_plain || name.len() > 8 && !name.contains(&b'_'));
    // Most of what C defines is a number, or another name.
    let is_number = user.ends_with(b"define")
        && if value.is_quoted {
            look.len() < 6 || look.contains(&b' ') || name::is_name(look)
        } else {
            !(is_random(look) || look.len() >= 8 && is_mixed(look)) || look.starts_with(b"0x")
        };
    let is_set = is_set && !is_number;
    // The words of `.netrc`, on one line or on several.
    let is_login =
        login == b"machine" || login == b"login" && (machine == b"machine" || host == b"default");
    let is_named = kind == "password" && !look.contains(&b' ') && !is_number;
    let is_quoted = value.is_quoted && (is_set || declared.is_some() || is_named);
    if !(is_login || is_quoted || is_set || is_first) {
        return None;
    }
    value.is_open |= rest.len() == blanks;
    let is_found = is_login || is_quoted || ends_line;
    Some(Found::of(text, value, kind).unless(is_option || !is_found))
}

/// The place after the `=` of a declaration, whose type is behind the name: `key string = "…"`.
pub(super) fn declared(text: &[u8], end: usize) -> Option<usize> {
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

/// The letters and digits at the end of a text.
fn last_word(text: &[u8]) -> &[u8] {
    tail(text, |byte| byte.is_ascii_alphanumeric())
}

/// Takes a value whose name is one: `name: DB_PASSWORD` and `value: …` on the next line,
/// `key="password" value="…"`, `<key>Password</key> <string>…`.
fn attribute(text: &[u8], named: Named, finds: &mut Finds) {
    const MAX_BETWEEN: usize = 64;
    let is_between = |byte: u8| byte.is_ascii_whitespace() || b"\"'`,\\".contains(&byte);
    let Name::Strong(kind) = named.name else {
        return;
    };
    let before = behind(text, named.start, MAX_BETWEEN);
    let is_plist = before.ends_with(b"<key>");
    let is_label = || match trimmed(before, is_between) {
        [label @ .., b':' | b'='] => is_word(List::Label, last_word(trimmed(label, is_between))),
        _ => false,
    };
    if !is_plist && !is_label() {
        return;
    }
    let window = ahead(text, named.end, MAX_BETWEEN);
    let is_cut = window.len() < MAX_BETWEEN;
    let from = if is_plist {
        memmem::find(window, b"<string>").map(|place| place + 8)
    } else if window.starts_with(b"\">") {
        Some(2)
    } else {
        let from = stretch(window, is_between);
        let word = stretch(&window[from..], |byte| byte.is_ascii_alphanumeric());
        let word = &window[from..from + word];
        let separator = from + word.len() + stretch(&window[from + word.len()..], is_between);
        if is_word(List::Content, word)
            && matches!(window.get(separator), Some(b':' | b'='))
            && let Some(value) = value::parse(text, named.end + separator + 1)
        {
            finds.take(Some(Found::of(text, value, kind)));
        } else if is_cut && separator == window.len() {
            finds.wait(named.end);
        }
        return;
    };
    let Some(from) = from else {
        if is_cut {
            finds.wait(named.end);
        }
        return;
    };
    let start = named.end + from;
    let content = ahead(text, start, MAX_ELEMENT_BYTES);
    let length = stretch(content, |byte| !matches!(byte, b'<' | b'\n'));
    let mut value = Value::quoted(start, start + length);
    value.is_open = length == content.len() && content.len() < MAX_ELEMENT_BYTES;
    finds.take(Some(
        Found::of(text, value, kind).unless(length == content.len()),
    ));
}

/// Takes the texts of a list: `["…", "…"]`, or `- …` on lines of their own.
pub(super) fn list(text: &[u8], named: Named, start: usize, kind: &'static str, finds: &mut Finds) {
    let window = &text[..text.len().min(start + MAX_LIST_BYTES)];
    let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte == b',';
    let mut place = start + stretch(&window[start..], |byte| byte.is_ascii_whitespace());
    let open = window.get(place).copied();
    let is_lines = open == Some(b'-');
    match open {
        Some(b'[' | b'(') => place += 1,
        Some(b'-') if window[start..place].contains(&b'\n') => {}
        None if window.len() == text.len() => return finds.wait(named.end),
        _ => return,
    }
    loop {
        place += stretch(&window[place..], is_blank);
        if is_lines {
            match window[place..] {
                [b'-', b' ', ..] => place += 2,
                [] | [b'-'] => {}
                _ => return,
            }
        }
        if place + 1 >= window.len() {
            break;
        }
        let Some(value) = value::parse(window, place) else {
            break;
        };
        if !is_lines && !value.is_quoted {
            // The end of the list, or no list of texts.
            return;
        }
        if value.is_open {
            break;
        }
        let look = &text[value.start..value.end];
        let is_other = name::is_name(look)
            || named.name == Name::Plural("token") && (look.len() < 8 || !is_random(look));
        finds.take(Some(Found::of(window, value, kind).unless(is_other)));
        place = value.end + usize::from(value.is_quoted);
    }
    if window.len() == text.len() {
        finds.wait(start);
    }
}

/// Takes a value that is not right behind its separator: behind a type, in a call, on the next
/// lines; whether there is nothing else to look for.
pub(super) fn below(
    text: &[u8],
    named: Named,
    separator: usize,
    start: usize,
    kind: &'static str,
    finds: &mut Finds,
) -> bool {
    const MAX_TYPE_BYTES: usize = 80;
    let mut take = |value: Option<Value>| {
        finds.take(value.map(|value| Found::of(text, value, kind)));
        value.is_some()
    };
    let window = ahead(text, start, MAX_TYPE_BYTES);
    let line = &window[..stretch(window, |byte| byte != b'\n')];
    let head = line.trim_ascii();
    let blanks = line.len() - line.trim_ascii_start().len();
    if matches!(head, [b'[', b'"' | b'\'', ..]) {
        list(text, named, start, kind, finds);
        return true;
    }
    // The end of a question such as `"Password: "`.
    if let [quote @ (b'"' | b'\''), b')' | b',' | b';' | b']' | b'}', ..] = head
        && memchr(*quote, line_before(text, named.start, LOOK_BYTES)).is_some()
    {
        return true;
    }
    // The quoted value in a call, or behind a type.
    let quote = line.iter().position(|byte| is_quote(*byte));
    let lead = line[blanks..quote.unwrap_or(line.len()).max(blanks)].trim_ascii_end();
    if let Some(call) = lead.strip_suffix(b"(")
        && is_word(List::Wrap, last_word(call))
        && let Some(quote) = quote
        && take(value::parse(text, start + quote))
    {
        return true;
    }
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_&'<>[]()., |*?;".contains(byte);
    if text[separator] == b':'
        && let Some(equals) = memchr(b'=', &line[blanks..])
        && let (written, after) = line[blanks..].split_at(equals)
        && let Some(first) = written.first()
        && (first.is_ascii_alphabetic() || b"&*[".contains(first))
        && written.iter().all(is_type)
        && (written.ends_with(b" ") || after.get(1).is_some_and(|byte| is_quote(*byte)))
        && (!written.trim_ascii_end().contains(&b' ')
            || written.iter().any(|byte| b"|[<&".contains(byte)))
    {
        let value = start + blanks + equals + 1;
        let value = value + stretch(&text[value..], |byte| byte == b' ');
        match text.get(value) {
            Some(quote) if is_quote(*quote) => return take(value::parse(text, value)),
            None => finds.wait(start + blanks),
            Some(_) => {}
        }
        return false;
    }
    let is_cut = line.len() == window.len() && start + window.len() == text.len();
    lines(text, named, (separator, start), (line, is_cut), kind, finds)
}

/// The same for what is on the next lines, behind a `line` with no value.
fn lines(
    text: &[u8],
    named: Named,
    (separator, start): (usize, usize),
    (line, is_cut): (&[u8], bool),
    kind: &'static str,
    finds: &mut Finds,
) -> bool {
    let head = line.trim_ascii();
    let blanks = line.len() - line.trim_ascii_start().len();
    let is_block = matches!(head.strip_prefix(b"!!binary ").unwrap_or(head), [b'|' | b'>', others @ ..]
        if others.iter().all(|byte| b"+-0123456789".contains(byte)));
    let is_joined = matches!(head, b"(" | b"\\");
    if !is_block && !is_joined && !head.is_empty() || text[separator] == b'=' && !is_joined {
        return false;
    }
    if is_cut {
        finds.wait(start + blanks);
        return false;
    }
    let before = line_before(text, named.start, LOOK_BYTES);
    let indent = before.len() - before.trim_ascii_start().len();
    let is_key = matches!(before.trim_ascii(), b"" | b"-" | b"\"" | b"'" | b"- \"");
    let first = start + line.len();
    let begin = first + stretch(&text[first..], |byte| byte.is_ascii_whitespace());
    let Some(begin_line) = memrchr(b'\n', &text[first..begin]).map(|end| first + end + 1) else {
        return false;
    };
    if begin == text.len() {
        finds.wait(start + blanks);
        return true;
    }
    if !is_joined && (begin - begin_line <= indent || !is_key) {
        return false;
    }
    if is_block {
        let (end, is_open) = block(text, begin, indent);
        let line = &text[begin..end.min(begin + LOOK_BYTES)];
        let line = &line[..stretch(line, |byte| byte != b'\n')];
        // A description, not a secret.
        let is_prose = line.contains(&b' ') && !is_random(line);
        let mut value = Value::quoted(begin, end);
        value.is_open = is_open;
        finds.take(Some(Found::of(text, value, kind).unless(is_prose)));
        return true;
    }
    let Some(value) = value::parse(text, begin) else {
        return false;
    };
    let after = &text[value.end..];
    let rest = stretch(after, |byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let is_whole = matches!(after.get(rest), None | Some(b'\n'));
    let is_name = text[named.end..separator]
        .iter()
        .any(|byte| b"\"'".contains(byte));
    let is_quoted = matches!(text[begin], b'"' | b'\'');
    let is_value = is_quoted || is_whole && !is_name && head != b"(";
    if is_value {
        finds.take(Some(Found::of(text, value, kind)));
    }
    is_value
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// The end of the lines from `begin` on that are indented deeper, and whether the text ends first.
fn block(text: &[u8], begin: usize, indent: usize) -> (usize, bool) {
    let (mut place, mut end) = (begin, begin);
    while place <= text.len() {
        let rest = &text[place..];
        let length = stretch(rest, |byte| byte != b'\n');
        let line = rest[..length].trim_ascii_end();
        if !line.is_empty() {
            if place > begin && line.len() - line.trim_ascii_start().len() <= indent {
                return (end, false);
            }
            end = place + line.len();
        }
        place += length + 1;
    }
    (end, true)
}
