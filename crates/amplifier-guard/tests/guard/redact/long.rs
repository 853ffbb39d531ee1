//! Long texts: what is looked at in pieces gives what one look would give.

use amplifier_guard::Redactor;

use super::BODY;

/// Lengths around those of the pieces.
fn lengths() -> impl Iterator<Item = usize> {
    (0..300)
        .chain(500..530)
        .chain(4_060..4_110)
        .chain(8_170..8_200)
}

#[test]
fn secrets_are_found_at_each_place() {
    let redactor = Redactor::new(["correct horse"]).unwrap();
    for pad in [".", " ", "ab ", "ab-"] {
        for length in lengths() {
            let before = pad.repeat(length.div_ceil(pad.len()));
            let before = &before[before.len() - length..];
            for (text, redacted) in [
                (" password=swordfish", " password=[REDACTED:password]"),
                (" pwd=swordfish", " pwd=[REDACTED:password]"),
                ("/?code=Q7wE9rT2yU4iO6pA", "/?code=[REDACTED:key]"),
                (
                    " Bearer Q7wE9rT2yU4iO6pA",
                    " Bearer [REDACTED:bearer token]",
                ),
                (" http://a:b1@c", " http://a:[REDACTED:password]@c"),
                (&format!(" sk-{}", &BODY[..16]), " [REDACTED:api key]"),
                (&format!("[sk-{}{{", &BODY[..16]), "[[REDACTED:api key]{"),
                (" correct horse", " [REDACTED:secret]"),
            ] {
                for after in ["", " and more of it behind"] {
                    let text = format!("{before}{text}{after}");
                    assert_eq!(redactor.redact(&text), format!("{before}{redacted}{after}"));
                }
            }
        }
    }
}

#[test]
fn keys_of_any_length_are_found_beside_words_of_any_length() {
    let redactor = Redactor::new::<&str>([]).unwrap();
    for length in 0..90 {
        let word = "a".repeat(length);
        for key in [16, 17, 29, 34, 45, 61, 62, 68] {
            let key = format!("sk-{}", &BODY.repeat(2)[..key]);
            let text = format!("{word} {key} {word}({key}) {word}[{key}");
            let mark = "[REDACTED:api key]";
            let redacted = format!("{word} {mark} {word}({mark}) {word}[{mark}");
            assert_eq!(redactor.redact(&text), redacted);
        }
    }
}
