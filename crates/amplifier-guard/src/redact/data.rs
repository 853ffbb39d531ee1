//! Data fields whose keys mark a secret.

use super::around;
use super::name::{self, Name};
use super::random::{is_random, is_unspoken};
use super::span::MARK;
use super::value::{self, Value};

/// The replacement for a text under a key, if the key marks a secret.
pub(super) fn mark(key: &str, text: &str) -> Option<String> {
    let kind = match name::classify(key.as_bytes())? {
        Name::Strong(kind) => kind,
        Name::Weak("password") if is_unspoken(text.as_bytes()) => "password",
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

/// What the name of a mapping implies about the values in it, whatever their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretMapping(Name, &'static str);

impl SecretMapping {
    /// What this name of a mapping implies, if it is that of secrets.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name::classify(name.as_bytes())? {
            name @ (Name::Strong(kind) | Name::Plural(kind) | Name::Weak(kind)) => {
                Some(Self(name, kind))
            }
            Name::Authorization | Name::Cookie => None,
        }
    }

    /// The replacement for a text under a key that does not mark a secret.
    pub(super) fn mark(self, key: &str, text: &str) -> Option<String> {
        let (key, value) = (key.as_bytes(), Value::quoted(0, text.len()));
        let is_secret = name::classify(key).is_none()
            && around::is_secret(self.0, key, text.as_bytes())
            && !value::is_benign(text.as_bytes(), &value, self.1, false);
        is_secret.then(|| [MARK, self.1, "]"].concat())
    }
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
