//! Known secrets behind escapes: just what holds them is taken out, in up to three layers.

use amplifier_guard::Redactor;

use super::{BODY, MARK, assert_taken};

/// All of the text in escapes: `%41`, `\u0041`, `&#65;`.
fn once(way: &str, text: &str) -> String {
    let numbers: Vec<u32> = match way {
        "percent" => text.bytes().map(u32::from).collect(),
        "backslash" => text.encode_utf16().map(u32::from).collect(),
        _ => text.chars().map(u32::from).collect(),
    };
    let escape = |number: u32| match way {
        "percent" => format!("%{number:02X}"),
        "backslash" => format!("\\u{number:04x}"),
        _ => format!("&#{number};"),
    };
    numbers.into_iter().map(escape).collect()
}

/// What begins an escape is written as one.
fn again(way: &str, text: &str) -> String {
    match way {
        "percent" => text.replace('%', "%25"),
        "backslash" => text.replace('\\', "\\\\"),
        _ => text.replace('&', "&amp;"),
    }
}

const WAYS: [&str; 3] = ["percent", "backslash", "entity"];

#[test]
fn each_escape_is_read_as_what_it_stands_for() {
    for (character, forms) in [
        ("\n", ["\\n", "\\u000a", "\\x0a", "%0A", "&#10;"]),
        ("\r", ["\\r", "\\u000D", "\\x0D", "%0d", "&#xd;"]),
        ("\t", ["\\t", "\\u0009", "\\x09", "%09", "&#9;"]),
        ("\u{8}", ["\\b", "\\u0008", "\\x08", "%08", "&#8;"]),
        ("\u{c}", ["\\f", "\\u000c", "\\x0c", "%0C", "&#xC;"]),
        ("\"", ["\\\"", "\\u0022", "\\x22", "%22", "&quot;"]),
        ("'", ["\\'", "\\u0027", "\\x27", "%27", "&apos;"]),
        ("\\", ["\\\\", "\\u005c", "\\x5c", "%5c", "&#92;"]),
        ("/", ["\\/", "\\u002f", "\\x2f", "%2f", "&#47;"]),
        ("&", ["\\u0026", "\\x26", "%26", "&amp;", "&#x26;"]),
        ("<", ["\\u003c", "\\x3c", "%3c", "&lt;", "&#060;"]),
        (">", ["\\u003e", "\\x3e", "%3e", "&gt;", "&#X3e;"]),
        ("%", ["\\u0025", "\\x25", "%25", "&#37;", "&#x25;"]),
        (" ", ["\\u0020", "\\x20", "%20", "&#32;", "+"]),
        ("é", ["\\u00e9", "\\u00E9", "%C3%A9", "&#233;", "&#xe9;"]),
        (
            "€",
            ["\\u20ac", "\\u20AC", "%E2%82%AC", "&#8364;", "&#x20ac;"],
        ),
        (
            "😀",
            [
                "\\ud83d\\ude00",
                "\\uD83D\\uDE00",
                "%F0%9F%98%80",
                "&#128512;",
                "&#x1f600;",
            ],
        ),
        (
            "\u{10437}",
            [
                "\\ud801\\udc37",
                "\\uD801\\uDC37",
                "%F0%90%90%B7",
                "&#66615;",
                "&#x10437;",
            ],
        ),
    ] {
        let secret = format!("Q7w{character}rT2y");
        for secret in [secret.clone(), secret.clone() + "U4iO6pA8"] {
            let redactor = Redactor::new([&secret]).unwrap();
            for form in forms {
                let form = secret.replace(character, form);
                for (before, after) in [
                    ("", ""),
                    ("a ", " b"),
                    ("é", "é"),
                    ("\\n", "\\n"),
                    ("%20", "%20"),
                ] {
                    assert_taken(&redactor, [before, &form, after]);
                }
            }
        }
    }
}

#[test]
fn what_is_no_escape_is_read_as_it_stands() {
    let redactor = Redactor::new(["Q7w\u{0}rT2yU4i", "Q7wArT2yU4i", "Q7wrT2yU4i"]).unwrap();
    for form in [
        "%4",
        "%4g",
        "%g1",
        "\\x4",
        "\\xg1",
        "\\u004",
        "\\u004g",
        "\\ud83d",
        "\\q",
        "&#65",
        "&#xg;",
        "&#;",
        "&#x;",
        "&#x110000;",
        "&am;",
        "&b;",
        "&#1a;",
        "&",
        "%",
        "\\",
    ] {
        let text = format!("Q7w{form}rT2yU4i");
        assert_eq!(redactor.redact(&text), text);
    }
    let redactor = Redactor::new(["Q7w😀rT2y", "Q7w\u{fffd}rT2y"]).unwrap();
    for form in [
        "\\ude00\\ud83d",
        "\\ud83d\\u0041",
        "\\ud83dude00",
        "\\ud83d\\xde00",
        "\\ud83d \\ude00",
    ] {
        let text = format!("Q7w{form}rT2y");
        assert_eq!(redactor.redact(&text), text);
    }
}

#[test]
fn just_the_escapes_that_hold_a_part_are_taken_out() {
    for way in WAYS {
        let redactor = Redactor::new([BODY]).unwrap();
        for start in [0, 1, 4] {
            for length in [7, 8, 9, 16] {
                let parts = [
                    once(
                        way,
                        &format!("xyz{}", &BODY[..start].to_lowercase().replace('q', "-")),
                    ),
                    once(way, &BODY[start..start + length]),
                    once(way, "xyz"),
                ];
                let [before, middle, after] = parts.each_ref().map(String::as_str);
                if length < 8 {
                    assert_eq!(redactor.redact(&parts.concat()), parts.concat());
                } else {
                    assert_taken(&redactor, [before, middle, after]);
                    assert_taken(&redactor, ["", middle, ""]);
                }
            }
        }
    }
}

#[test]
fn three_layers_of_one_way_and_two_of_any_are_read() {
    for secret in [BODY, "q7~?9w", "a%b\\c&d=e"] {
        let redactor = Redactor::new([secret]).unwrap();
        for first in WAYS {
            let one = once(first, secret);
            assert_taken(&redactor, ["(", &one, ")"]);
            let same = again(first, &one);
            assert_taken(&redactor, ["(", &same, ")"]);
            assert_taken(&redactor, ["(", &again(first, &same), ")"]);
            for second in WAYS {
                assert_taken(&redactor, ["(", &again(second, &one), ")"]);
                assert_taken(&redactor, ["(", &once(second, &one), ")"]);
            }
        }
    }
}

#[test]
fn three_layers_of_mixed_escapes_are_read() {
    let redactor = Redactor::new([BODY]).unwrap();
    for (one, other) in [
        ("percent", "backslash"),
        ("backslash", "entity"),
        ("entity", "percent"),
    ] {
        let characters = BODY.chars().zip([one, other].into_iter().cycle());
        let mut form: String = characters
            .map(|(character, way)| once(way, &character.to_string()))
            .collect();
        for _ in 0..3 {
            assert_taken(&redactor, ["(", &form, ")"]);
            form = again(one, &again(other, &form));
        }
    }
}

#[test]
fn some_characters_may_be_escaped_in_other_ways_than_the_rest() {
    let secret = "a%b\\c&d/e\"f g";
    let redactor = Redactor::new([secret]).unwrap();
    for form in [
        "a%25b\\\\c&amp;d\\/e\\\"f%20g",
        "a%b\\\\c&d\\/e\\\"f g",
        "a%25b%5Cc%26d/e%22f+g",
        "a%b\\c&amp;d/e&quot;f g",
        "a%b\\\\c&amp;d/e&quot;f g",
        "a%25b\\u005cc%26d\\u002fe%22f g",
        "\\u0061%25b\\\\\\\\c\\u0026d\\\\/e\\\\\\\"f g",
        "a%2525b%255Cc%2526d/e%2522f%2520g",
    ] {
        assert_taken(&redactor, ["(", form, ")"]);
    }
}

#[test]
fn what_looks_like_an_escape_in_a_secret_is_read_as_it_stands() {
    let redactor = Redactor::new(["x%41\\n&lt;y"]).unwrap();
    for form in [
        "x%41\\n&lt;y",
        "x%41\\\\n&lt;y",
        "x%2541\\n&lt;y",
        "x%41\\n&amp;lt;y",
        "x%2541\\\\n&lt;y",
        "x%41\\\\n&amp;lt;y",
        "x%2541\\n&amp;lt;y",
        "x%2541%5Cn%26lt;y",
    ] {
        assert_taken(&redactor, ["(", form, ")"]);
    }
}

#[test]
fn secrets_are_found_at_any_distance_between_escapes() {
    let redactor = Redactor::new([BODY]).unwrap();
    let form = format!("%51{}", &BODY[1..]);
    for distance in 0..220 {
        let gap = "-".repeat(distance);
        for escape in ["%2D", "%20", "\\u002d", "\\n", "\\\\", "&amp;"] {
            let text = format!("{escape}{gap}{form}{gap}{escape}{gap}{form}{escape}");
            let redacted = text.replace(&form, MARK);
            assert_eq!(redactor.redact(&text), redacted, "{distance} {escape}");
        }
    }
}

#[test]
fn any_number_of_backslashes_before_a_secret_is_read_right() {
    let redactor = Redactor::new(["nQ7wE9rT2", "Q7wE9rT2\"x", "/Q7wE9rT2"]).unwrap();
    for count in 0..12 {
        let slashes = "\\".repeat(count);
        for distance in [0, 1, 2, 90, 95, 96, 97, 100] {
            let gap = "-".repeat(distance);
            for (before, middle) in [
                (format!("{gap}{slashes}{gap}"), "Q7wE9rT2\\u0022x"),
                (format!("{gap}{slashes}{gap}"), "Q7wE9rT2\\\"x"),
                (format!("{gap}{slashes}{gap}"), "\\/Q7wE9rT2"),
                (format!("{gap}{slashes}{gap}"), "\\u006eQ7wE9rT2"),
            ] {
                let redacted = redactor.redact(&format!("{before}{middle}.")).into_owned();
                assert!(
                    redacted.ends_with(&format!("{MARK}.")),
                    "{before}{middle} became {redacted}"
                );
                assert!(
                    redacted.starts_with(&gap),
                    "{before}{middle} became {redacted}"
                );
                assert!(
                    !redacted.contains("Q7wE9rT2"),
                    "{before}{middle} became {redacted}"
                );
            }
        }
    }
}
