//! Names of secrets.

use super::span::MARK;

/// The longest name that is recognised, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 64;
/// The most quotation marks, brackets and similar characters after a name.
pub(super) const MAX_QUOTES: usize = 8;

/// What a name implies about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A secret, of this kind.
    Strong(&'static str),
    /// A secret if the value looks like one.
    Weak(&'static str),
    /// The header with a scheme and credentials.
    Authorization,
    /// The headers with pairs.
    Cookie,
}

/// Endings of secret names without their separators, and the kind of the value.
const STRONG: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("pwd", "password"),
    ("secret", "secret"),
    ("token", "token"),
    ("apikey", "key"),
    ("secretkey", "key"),
    ("privatekey", "key"),
    ("accesskey", "key"),
    ("accountkey", "key"),
    ("signingkey", "key"),
    ("encryptionkey", "key"),
    ("masterkey", "key"),
    ("subscriptionkey", "key"),
    ("sessionkey", "key"),
    ("authkey", "key"),
    ("credential", "credentials"),
    ("credentials", "credentials"),
    ("xamzsignature", "signature"),
    ("xgoogsignature", "signature"),
    ("passwordhash", "password"),
];

/// Words before `key` that make it the key of a vendor.
const OWNERS: &[&str] = &[
    "anthropic",
    "openai",
    "azure",
    "google",
    "gemini",
    "stripe",
    "aws",
    "mistral",
    "groq",
    "deepseek",
    "cohere",
    "together",
    "fireworks",
    "xai",
    "service",
    "storage",
    "license",
    "deploy",
    "ssh",
    "function",
    "host",
];

/// Words before `token` that make it a part of a text or a place in a list.
const MARKS: &[&str] = &[
    "next",
    "nextpage",
    "page",
    "continuation",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "special",
    "per",
    "max",
    "min",
    "start",
    "end",
    "first",
    "last",
    "input",
    "output",
    "prompt",
    "completion",
    "cached",
    "reasoning",
    "total",
    "each",
    "cancellation",
    "sync",
    "unexpected",
    "invalid",
    "cancel",
];

/// A name in front of a separator.
pub(super) struct Named {
    pub(super) name: Name,
    /// Whether it is `PWD`, which often names a folder instead.
    pub(super) is_working_directory: bool,
}

/// The name before the separator at `place`, if it marks a secret.
pub(super) fn before(text: &[u8], place: usize) -> Option<Named> {
    let before = &text[place.saturating_sub(MAX_NAME_BYTES + 16)..place];
    let bare = before.trim_ascii_end();
    // Text on an earlier line is not a name.
    if before[bare.len()..].contains(&b'\n') {
        return None;
    }
    let bare = bare.strip_suffix(b"&quot;").unwrap_or(bare);
    let quotes = bare
        .iter()
        .rev()
        .take(MAX_QUOTES)
        .take_while(|byte| is_quote(**byte))
        .count();
    if bare[bare.len() - quotes..].contains(&b']') {
        // The kind in a mark is not a name.
        let open = bare.iter().rposition(|byte| *byte == b'[');
        if open.is_some_and(|open| bare[open..].starts_with(MARK.as_bytes())) {
            return None;
        }
    }
    let bare = &bare[..bare.len() - quotes];
    let start = bare
        .iter()
        .rposition(|byte| !is_part(*byte))
        .map_or(0, |last| last + 1);
    let mut name = &bare[start..];
    // An escape before a name ends in a letter: `\napi_key=…`.
    if bare[..start].ends_with(b"\\") && matches!(name.first(), Some(b'n' | b't' | b'r')) {
        name = &name[1..];
    }
    let is_query = bare[..start].ends_with(b"?") || bare[..start].ends_with(b"&");
    let found = classify(name).or(match name {
        b"sig" | b"key" | b"code" | b"signature" if is_query => Some(Name::Weak("key")),
        _ => None,
    })?;
    Some(Named {
        name: found,
        is_working_directory: name.eq_ignore_ascii_case(b"pwd")
            || name.eq_ignore_ascii_case(b"oldpwd"),
    })
}

/// What a whole name implies about its value.
pub(super) fn classify(name: &[u8]) -> Option<Name> {
    if !may_end(name) {
        return None;
    }
    let name = &name[name.len().saturating_sub(MAX_NAME_BYTES)..];
    let mut buffer = [0; MAX_NAME_BYTES];
    let mut length = 0;
    let mut last_word = 0;
    let mut previous = b'_';
    for byte in name {
        if byte.is_ascii_alphanumeric() {
            let is_start = !previous.is_ascii_alphanumeric()
                || previous.is_ascii_lowercase() && byte.is_ascii_uppercase();
            if is_start {
                last_word = length;
            }
            buffer[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        previous = *byte;
    }
    let squeezed = &buffer[..length];
    if squeezed.ends_with(b"authorization") {
        return Some(Name::Authorization);
    }
    if matches!(squeezed, b"cookie" | b"setcookie" | b"cookies") {
        return Some(Name::Cookie);
    }
    let strong = STRONG
        .iter()
        .find(|(ending, _)| squeezed.ends_with(ending.as_bytes()));
    if let Some((ending, kind)) = strong {
        let before = &squeezed[..length - ending.len()];
        let is_mark =
            *ending == "token" && MARKS.iter().any(|mark| before.ends_with(mark.as_bytes()));
        return (!is_mark).then_some(Name::Strong(kind));
    }
    let word = &squeezed[last_word..];
    let before = &squeezed[..last_word];
    match word {
        b"pass" if !before.is_empty() => Some(Name::Strong("password")),
        b"key"
            if OWNERS
                .iter()
                .any(|owner| before.ends_with(owner.as_bytes())) =>
        {
            Some(Name::Weak("key"))
        }
        b"auth" | b"bearer" | b"jwt" | b"session" | b"sessionid" | b"sid" => {
            Some(Name::Weak("token"))
        }
        _ => None,
    }
}

/// Whether a text may end in the name of a secret: its last three letters or digits are the end of
/// one.
pub(super) fn may_end(text: &[u8]) -> bool {
    let tail = &text[text.len().saturating_sub(MAX_NAME_BYTES)..];
    if !tail.last().is_some_and(u8::is_ascii_alphanumeric) {
        return false;
    }
    let letters = tail
        .iter()
        .rev()
        .filter(|byte| byte.is_ascii_alphanumeric());
    let mut end = [0; 3];
    for (end, byte) in end.iter_mut().rev().zip(letters) {
        *end = byte.to_ascii_lowercase();
    }
    match &end {
        // `sessionid` is one word; `session_id` names no secret.
        b"nid" => tail.ends_with(b"nid") || !tail.ends_with(b"id"),
        b"ord" | b"swd" | b"ase" | b"ode" | b"pwd" | b"ret" | b"ken" | b"key" | b"ial" | b"als"
        | b"ure" | b"ash" | b"ion" | b"kie" | b"ies" | b"ass" | b"uth" | b"rer" | b"jwt"
        | b"sid" | b"sig" => true,
        _ => false,
    }
}

/// Whether a byte may occur between a name and the separator after it.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*')
}

/// Whether a byte may occur in a name.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
