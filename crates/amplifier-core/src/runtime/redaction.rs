//! Secrets taken out of a mount plan before hooks see it.

use crate::json::{Json, Object};

const SENSITIVE_KEYS: [&str; 11] = [
    "api_key",
    "apikey",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "password",
    "private_key",
    "privatekey",
    "secret",
    "token",
];

/// The object with `[REDACTED]` instead of the values of keys such as `api_key`, `accessToken` or
/// `client-secret`, at any depth.
pub(super) fn redacted(entries: &Object) -> Object {
    let entry = |(key, value): (&String, &Json)| {
        let value = if is_sensitive(key) {
            Json::from("[REDACTED]")
        } else {
            redacted_value(value)
        };
        (key.clone(), value)
    };
    entries.iter().map(entry).collect()
}

fn redacted_value(value: &Json) -> Json {
    match value {
        Json::Object(entries) => redacted(entries).into(),
        Json::Array(items) => items.iter().map(redacted_value).collect::<Vec<_>>().into(),
        Json::Null
        | Json::Bool(_)
        | Json::Int(_)
        | Json::BigInt(_)
        | Json::Float(_)
        | Json::Str(_) => value.clone(),
    }
}

/// Whether the last words of a key are those of a sensitive one.
fn is_sensitive(key: &str) -> bool {
    let mut words = String::with_capacity(key.len() + 4);
    let mut follows_lower = false;
    for character in key.chars() {
        if follows_lower && character.is_ascii_uppercase() {
            words.push('_');
        }
        follows_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        words.extend(if character == '-' { '_' } else { character }.to_lowercase());
    }
    let mut endings = std::iter::successors(Some(words.as_str()), |rest| {
        rest.split_once('_').map(|(_, rest)| rest)
    });
    endings.any(|ending| SENSITIVE_KEYS.contains(&ending))
}
