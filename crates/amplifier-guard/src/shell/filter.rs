//! What a jq filter can read: its input passes, modules and the environment do not.

/// Names of jq that lead beyond its input.
const BEYOND: &str = "ENV __prog_args env get_search_list import include modulemeta";

/// Whether `filter` names nothing beyond its input.
pub(super) fn is_harmless(filter: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut before = '\0';
    let mut rest = filter;
    while let Some(start) = rest.find(is_word) {
        before = rest[..start].chars().next_back().unwrap_or(before);
        let word = rest[start..].split(|next| !is_word(next)).next();
        let word = word.unwrap_or_default();
        // `.env` is a field.
        if before != '.' && BEYOND.split(' ').any(|name| name == word) {
            return false;
        }
        before = '\0';
        rest = &rest[start + word.len()..];
    }
    true
}
