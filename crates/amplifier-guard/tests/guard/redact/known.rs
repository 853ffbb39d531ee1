//! Secrets whose values are known, however they are written.

use amplifier_guard::{Redactor, SecretTooShort};
use proptest::prelude::*;

use super::writing::{writing, written};
use super::{cut, part_of, streamed};

#[test]
fn secrets_that_cannot_be_looked_for_are_refused() {
    let refused = Redactor::new(["long enough", " ab "]).err().unwrap();
    assert_eq!(refused, SecretTooShort { place: 1, bytes: 2 });
    assert!(!refused.to_string().contains("ab "));
    assert_eq!(Redactor::new(["", " "]).unwrap().redact("a b"), "a b");
}

#[test]
fn short_secrets_are_found_as_a_whole() {
    let redactor = Redactor::new(["hunter2", "ключ"]).unwrap();
    assert_eq!(redactor.redact("a hunter2 b"), "a [REDACTED:secret] b");
    assert_eq!(redactor.redact("a hunter b"), "a hunter b");
    assert_eq!(redactor.redact("мой ключ."), "мой [REDACTED:secret].");
    assert_eq!(redactor.redact("мой клю."), "мой клю.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_part_of_a_known_secret_survives_in_any_encoding_and_chunks(
        secret in "[!-~é§]{8,40}|[A-Za-z0-9+/_-]{8,60}",
        before in "[ -~éß\n]{0,30}",
        after in "[ -~éß\n]{0,30}",
        writing in writing(),
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = Redactor::new([&secret]).unwrap();
        let form = written(&secret, &writing);
        let text = format!("{before}{form}{after}");
        let redacted = redactor.redact(&text).into_owned();
        let out = streamed(std::slice::from_ref(&secret), &cut(text.as_bytes(), &places));
        let out = String::from_utf8(out).unwrap();
        for found in [&redacted, &out] {
            // What the marks say of themselves is no part of a secret.
            let bare = found.replace("[REDACTED:", "\u{0}");
            prop_assert_eq!(part_of(&secret, &bare), None, "{} became {}", text, found);
            prop_assert_eq!(part_of(&form, &bare), None, "{} became {}", text, found);
        }
    }
}
