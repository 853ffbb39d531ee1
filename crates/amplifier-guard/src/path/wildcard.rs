//! Patterns of `.gitignore` files over bytes, as git reads them.

/// Whether `pattern` means all of `text`; `*`, `?` and `[…]` stay inside one name, a `**` that is a
/// name of its own crosses folders.
///
/// What a star takes is only ever lengthened, and once a later one matches, an earlier one stays as it
/// is: the time is at most the product of both lengths for each `**`.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where to go on if what follows a star does not match: its rest, and the next byte that it takes.
    let mut star = None;
    let mut folders = None;
    loop {
        if let Some(stars) = Stars::at(pattern, at) {
            at = stars.end;
            if stars.crosses {
                (folders, star) = (Some((at, from)), None);
                if at == pattern.len() {
                    return true;
                }
            } else {
                star = Some((at, from));
            }
            continue;
        }
        if at == pattern.len() && from == text.len() {
            return true;
        }
        let step = text.get(from).and_then(|byte| one(&pattern[at..], *byte));
        if let Some(length) = step {
            (at, from) = (at + length, from + 1);
            continue;
        }
        if let Some((rest, taken)) = star
            && text.get(taken).is_some_and(|byte| *byte != b'/')
        {
            star = Some((rest, taken + 1));
            (at, from) = (rest, taken + 1);
        } else if let Some((rest, taken)) = folders
            && let Some(slash) = text[taken..].iter().position(|byte| *byte == b'/')
        {
            // A whole name more.
            let next = taken + slash + 1;
            (folders, star) = (Some((rest, next)), None);
            (at, from) = (rest, next);
        } else {
            return false;
        }
    }
}

/// Stars in a row, and for a `**` that is a name of its own the slash behind them.
struct Stars {
    end: usize,
    crosses: bool,
}

impl Stars {
    fn at(pattern: &[u8], start: usize) -> Option<Self> {
        let rest = &pattern[start..];
        let count = rest.iter().take_while(|byte| **byte == b'*').count();
        let begins_name = start == 0 || pattern[start - 1] == b'/';
        let after = &rest[count..];
        let crosses = count > 1 && begins_name && matches!(after.first(), None | Some(b'/'));
        let end = start + count + usize::from(crosses && !after.is_empty());
        (count > 0).then_some(Self { end, crosses })
    }
}

/// How much of the pattern means this byte, if its next part does.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match *pattern.first()? {
        b'?' => (byte != b'/').then_some(1),
        b'[' => set(pattern, byte).filter(|_| byte != b'/'),
        b'\\' => (*pattern.get(1)? == byte).then_some(2),
        literal => (literal == byte).then_some(1),
    }
}

/// The length of the `[…]` that the pattern begins with, if it means this byte.
fn set(pattern: &[u8], byte: u8) -> Option<usize> {
    let mut at = 1;
    let is_negated = matches!(pattern.get(at)?, b'!' | b'^');
    at += usize::from(is_negated);
    let mut is_in = false;
    let mut previous = None;
    let first = at;
    // A `]` right at the beginning is one of the characters.
    while at == first || *pattern.get(at)? != b']' {
        let character = *pattern.get(at)?;
        let next = pattern.get(at + 1);
        match (character, previous) {
            (b'\\', _) => {
                at += 1;
                let taken = *pattern.get(at)?;
                is_in |= taken == byte;
                previous = Some(taken);
            }
            (b'-', Some(low)) if next.is_some_and(|high| *high != b']') => {
                at += 1;
                if pattern[at] == b'\\' {
                    at += 1;
                }
                is_in |= (low..=*pattern.get(at)?).contains(&byte);
                previous = None;
            }
            (b'[', _) if next == Some(&b':') => {
                let name = &pattern[at + 2..];
                let length = name.iter().position(|byte| *byte == b']')?;
                if let Some(name) = name[..length].strip_suffix(b":") {
                    is_in |= named(name, byte)?;
                    at += 2 + length;
                    previous = None;
                } else {
                    is_in |= byte == b'[';
                    previous = Some(b'[');
                }
            }
            _ => {
                is_in |= character == byte;
                previous = Some(character);
            }
        }
        at += 1;
    }
    (is_in != is_negated).then_some(at + 1)
}

/// Whether a byte is in a class such as `[:alpha:]`; nothing for a name that is none.
fn named(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == b'\x0b',
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
