//! Parts of known secrets: just what holds them is taken out, in each encoding and at each place.

use amplifier_guard::Redactor;

use super::writing::base64;
use super::{BODY, MARK, assert_taken, cut, streamed};

/// Its base64 holds each character that the two alphabets write in two ways.
const SIGNS: &str = "q~~?z>>~w?~?~>k>~?";

/// Bytes as hexadecimal digits, capital ones or small ones.
fn hex(bytes: &str, is_upper: bool) -> String {
    let digits = bytes.bytes().map(|byte| format!("{byte:02x}"));
    let digits: String = digits.collect();
    if is_upper {
        digits.to_uppercase()
    } else {
        digits
    }
}

#[test]
fn eight_characters_are_taken_out_wherever_they_stand_and_seven_stay() {
    let redactor = Redactor::new([BODY]).unwrap();
    for before in 0..70 {
        let before = &".-".repeat(35)[..before];
        for (start, length) in [(0, 8), (1, 9), (3, 12), (26, 8), (0, BODY.len())] {
            for after in [0, 1, 2, 5, 30, 61] {
                let after = &"(".repeat(after);
                assert_taken(&redactor, [before, &BODY[start..start + length], after]);
            }
        }
        for start in [0, 1, 5, 27] {
            let text = format!("{before}{}(", &BODY[start..start + 7]);
            assert_eq!(redactor.redact(&text), text);
        }
    }
    for start in 0..BODY.len() - 8 {
        assert_taken(&redactor, ["a ", &BODY[start..start + 8], " b"]);
    }
}

#[test]
fn only_the_characters_of_base64_that_hold_a_part_are_taken_out() {
    for (secret, is_url) in [(BODY, false), (SIGNS, false), (SIGNS, true)] {
        let redactor = Redactor::new([secret]).unwrap();
        for lead in 0..6 {
            for (start, length) in [(0, 7), (0, 8), (1, 8), (2, 9), (5, 11), (0, secret.len())] {
                let bytes = [
                    &"\u{1}\u{2}\u{3}\u{4}\u{5}"[..lead],
                    &secret[start..start + length],
                    ":b",
                ];
                let text = base64(bytes.concat().as_bytes(), is_url);
                let (from, to) = (8 * lead / 6, (8 * (lead + length)).div_ceil(6));
                for before in 0..48 {
                    let before = ".".repeat(before) + &text[..from];
                    let after = text[to..].to_string() + &"!".repeat(48 - before.len() % 48);
                    if length < 8 {
                        let text = [&before, &text[from..to], &after].concat();
                        assert_eq!(redactor.redact(&text), text);
                    } else {
                        assert_taken(&redactor, [&before, &text[from..to], &after]);
                    }
                }
            }
        }
    }
}

#[test]
fn only_the_digits_that_hold_a_part_are_taken_out() {
    let redactor = Redactor::new([SIGNS]).unwrap();
    for is_upper in [false, true] {
        for (start, length) in [(0, 7), (0, 8), (1, 8), (3, 10), (0, SIGNS.len())] {
            let digits = hex(&SIGNS[start..start + length], is_upper);
            for before in 0..48 {
                for pad in ["g", "0"] {
                    let (before, after) = (pad.repeat(before), pad.repeat(48 - before));
                    if length < 8 {
                        let text = [before, digits.clone(), after].concat();
                        assert_eq!(redactor.redact(&text), text);
                    } else {
                        assert_taken(&redactor, [&before, &digits, &after]);
                    }
                }
            }
        }
    }
}

#[test]
fn short_secrets_are_taken_out_whole_in_each_encoding() {
    for secret in ["q7~?", "q7~?9", "q7~?9w", "q7~?9wE", "q7~?9wE>"] {
        let redactor = Redactor::new([secret]).unwrap();
        for before in 0..40 {
            let pad = ".".repeat(before);
            let rest = "(".repeat(40 - before);
            assert_taken(&redactor, [&pad, secret, &rest]);
            assert_taken(&redactor, [&pad, &hex(secret, before % 2 == 0), &rest]);
            for lead in 0..3 {
                let bytes = [&"\u{1}\u{2}"[..lead], secret, "\u{3}\u{4}"].concat();
                let text = base64(bytes.as_bytes(), before % 2 == 0);
                let (from, to) = (8 * lead / 6, (8 * (lead + secret.len())).div_ceil(6));
                let (begin, end) = (pad.clone() + &text[..from], text[to..].to_string() + &rest);
                assert_taken(&redactor, [&begin, &text[from..to], &end]);
            }
            for part in [&secret[1..], &secret[..secret.len() - 1]] {
                for text in [
                    part.to_string(),
                    hex(part, false),
                    base64(part.as_bytes(), false),
                ] {
                    let text = [pad.as_str(), &text, &rest].concat();
                    assert_eq!(redactor.redact(&text), text);
                }
            }
        }
    }
}

#[test]
fn base64_is_found_however_it_is_broken_into_lines() {
    let ends = [
        "\n", "\r\n", "\r", "\\n", "\\r\\n", "\\\\n", "\\n\n", "\n\\r", "\n\n",
    ];
    for secret in [BODY, SIGNS, "q7~?9wE>", "q7~?", "q7~?9wE"] {
        let redactor = Redactor::new([secret]).unwrap();
        for lead in 0..3 {
            let bytes = [
                "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}",
                &"\u{7}\u{8}"[..lead],
                secret,
                ":b:b:b",
            ];
            let (from, to) = (
                8 * (6 + lead) / 6,
                (8 * (6 + lead + secret.len())).div_ceil(6),
            );
            let text = base64(bytes.concat().as_bytes(), false);
            for end in ends {
                for width in 1..text.len() {
                    let write = |from: usize, to: usize| {
                        let characters = text[from..to].chars().zip(from..to);
                        let broken = characters.map(|(character, place)| {
                            let is_start = place > 0 && place % width == 0 && place > from;
                            format!("{}{character}", if is_start { end } else { "" })
                        });
                        broken.collect::<String>()
                    };
                    let between = |place| if place % width == 0 { end } else { "" };
                    let before = format!("({}{}", write(0, from), between(from));
                    let after = format!("{}{})", between(to), write(to, text.len()));
                    assert_taken(&redactor, [&before, &write(from, to), &after]);
                }
            }
        }
    }
}

#[test]
fn one_part_in_base64_is_found_with_nothing_around_it() {
    let redactor = Redactor::new([BODY]).unwrap();
    for start in 0..8 {
        let text = base64(&BODY.as_bytes()[start..start + 8], false);
        for end in ["\n", "\r\n", "\\n", "\\r\\n"] {
            for place in 1..text.len() {
                let (one, other) = text.split_at(place);
                assert_taken(&redactor, ["(", &[one, end, other].concat(), ")"]);
                assert_taken(&redactor, ["", &[one, end, other].concat(), ""]);
                for part in [
                    format!("({one}{end}{})", &other[1..]),
                    format!("({}{end}{other})", &one[1..]),
                ] {
                    assert_eq!(redactor.redact(&part), part);
                }
            }
        }
    }
}

#[test]
fn secrets_beyond_ascii_are_counted_in_characters() {
    let redactor = Redactor::new(["секретное слово", "crème brûlée"]).unwrap();
    for (text, redacted) in [
        ("это секретное, да", "это [REDACTED:secret], да"),
        ("это секретно, да", "это [REDACTED:secret], да"),
        ("это секретн, да", "это секретн, да"),
        ("секретное+слово", MARK),
        ("a crème br b", "a [REDACTED:secret] b"),
        ("a rème brû b", "a [REDACTED:secret] b"),
        ("a rème br b", "a rème br b"),
    ] {
        assert_eq!(redactor.redact(text), redacted);
    }
    let latin: Vec<u8> = "a crème brûlée b"
        .chars()
        .map(|character| character as u8)
        .collect();
    assert_eq!(
        redactor.redact_bytes(&latin).as_ref(),
        b"a [REDACTED:secret] b"
    );
}

#[test]
fn only_known_secrets_are_taken_from_what_will_run() {
    let redactor = Redactor::new(["correct horse"]).unwrap();
    let text = format!("password=swordfish a correct+horse sk-{BODY}");
    assert_eq!(
        String::from_utf8_lossy(&redactor.redact_known(text.as_bytes())),
        format!("password=swordfish a {MARK} sk-{BODY}")
    );
    assert_eq!(
        redactor.redact_known(b"password=swordfish").as_ref(),
        b"password=swordfish"
    );
    let (start, end) = redactor.known_places(text.as_bytes())[0];
    assert_eq!(&text[start..end], "correct+horse");
}

#[test]
fn marks_stay_even_where_they_hold_a_known_secret() {
    for kind in [
        "secret",
        "password",
        "token",
        "key",
        "credentials",
        "cookie",
        "signature",
        "bearer token",
        "basic credentials",
        "json web token",
        "aws secret",
        "private key",
        "anthropic key",
        "mailgun key",
    ] {
        let mark = format!("[REDACTED:{kind}]");
        let redactor = Redactor::new([&mark]).unwrap();
        assert_eq!(redactor.redact(&mark), mark);
    }
}

#[test]
fn any_cut_of_a_stream_finds_secrets_of_several_words() {
    for secret in [
        "a b c d e f g h i",
        "correct horse",
        "секретное слово",
        "né à 12 h",
        "🍎 🍐 🍊 🍋 🍌 🍉",
        BODY,
        "q7 ?",
    ] {
        let secrets = [secret.to_string()];
        let redactor = Redactor::new(&secrets).unwrap();
        let middle = secret.char_indices().nth(2).unwrap().0;
        for text in [
            format!("x {secret} y"),
            format!("x{secret}{secret}"),
            format!("{secret}, {}", &secret[middle..]),
            format!("a b {} a b", &secret[..middle]),
        ] {
            let whole = redactor.redact(&text).into_owned();
            let single: Vec<usize> = (0..text.len()).collect();
            for places in (0..=text.len()).map(|place| vec![place]).chain([single]) {
                let out = streamed(&secrets, &cut(text.as_bytes(), &places));
                assert_eq!(
                    String::from_utf8(out).unwrap(),
                    whole,
                    "{text} cut at {places:?}"
                );
            }
        }
    }
}
