//! Data fields whose keys mark a secret.

use super::name::{self, Name};
use super::random::is_random;
use super::span::MARK;
use super::value::{self, Value};

/// The replacement for a text under a key, if the key marks a secret.
pub(super) fn mark(key: &str, text: &str) -> Option<String> {
    let kind = match name::classify(key.as_bytes())? {
        Name::Strong(kind) => kind,
        Name::Weak(_) if text.len() < 16 || text.contains(' ') => return None,
        Name::Weak(kind) if is_random(text.as_bytes()) => kind,
        Name::Weak(_) | Name::Plural(_) => return None,
        Name::Authorization => "credentials",
        Name::Cookie => "cookie",
    };
    let value = Value::quoted(0, text.len());
    let is_benign = value::is_benign(text.as_bytes(), &value, kind, false)
        || key.eq_ignore_ascii_case("pwd") && text.starts_with('/');
    (!is_benign).then(|| [MARK, kind, "]"].concat())
}

/// Whether a key marks any value as secret.
pub(super) fn is_secret_key(key: &str) -> bool {
    !matches!(
        name::classify(key.as_bytes()),
        None | Some(Name::Weak(_) | Name::Plural(_) | Name::Cookie)
    )
}

/// Whether the first half of a pair is the name of a header; any other pair of texts may be two
/// values.
pub(super) fn is_header_name(name: &str) -> bool {
    name.contains('-')
        || name.eq_ignore_ascii_case("authorization")
        || name.eq_ignore_ascii_case("cookie")
}
