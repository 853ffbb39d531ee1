//! Keys of vendors: their prefixes, lengths and characters, one row of the table each.

use proptest::prelude::*;

use super::{BODY, assert_hidden, assert_stays, fault, plain};

/// A row of the table: prefix, kind, alphabet, length.
struct Row {
    prefix: &'static str,
    kind: &'static str,
    alphabet: String,
    least: usize,
    is_exact: bool,
}

impl Row {
    /// Whether words with dashes between them are no key.
    fn is_dashed(&self) -> bool {
        self.alphabet.contains('-') && self.alphabet.contains('a') && !self.alphabet.contains('+')
    }
}

fn rows() -> Vec<Row> {
    let lines = include_str!("../../../src/redact/vendor.tsv").lines();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [prefix, kind, ranges, length] = cells[..] else {
                panic!("four cells, not {line:?}");
            };
            let ranges = ranges
                .replace("A-Z", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
                .replace("a-z", "abcdefghijklmnopqrstuvwxyz")
                .replace("a-f", "abcdef")
                .replace("0-9", "0123456789");
            Row {
                prefix,
                kind,
                alphabet: ranges,
                least: length.trim_start_matches('=').parse().unwrap(),
                is_exact: length.starts_with('='),
            }
        })
        .collect()
}

/// So many characters of the alphabet, drawn by the number, some of each sort among them.
fn drawn(row: &Row, mut number: u64, length: usize) -> String {
    let others: Vec<char> = row
        .alphabet
        .chars()
        // With `=` inside, what is before it may be a name.
        .filter(|one| !one.is_ascii_alphanumeric() && *one != '=')
        .collect();
    let letters: Vec<char> = row
        .alphabet
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut next = |count: usize| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(number >> 40).unwrap() % count
    };
    (0..length)
        .map(|place| match place {
            0..14 => letters[(next(5) + place * 7) % letters.len()],
            // A dot at the end is that of a sentence.
            _ if !others.is_empty() && place + 1 < length && next(9) == 0 => {
                others[next(others.len())]
            }
            _ => letters[next(letters.len())],
        })
        .collect()
}

#[test]
fn the_table_is_in_order() {
    let rows = rows();
    for (place, row) in rows.iter().enumerate() {
        assert!(
            row.prefix.len() >= 3 && row.prefix.len() + row.least >= 19,
            "{}",
            row.prefix
        );
        // The longer one of two prefixes comes first.
        let hidden = rows[..place]
            .iter()
            .find(|other| row.prefix.starts_with(other.prefix));
        assert_eq!(
            hidden.map(|other| other.prefix),
            None,
            "{} is never reached",
            row.prefix
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_key_has_its_vendors_least_length_and_characters(number in any::<u64>()) {
        for row in rows() {
            let Row { prefix, kind, .. } = row;
            let key = drawn(&row, number, row.least);
            let mark = format!("[REDACTED:{kind}]");
            let texts = ["a KEY b", "\"KEY\".", "x=KEY,", "(KEY)...", "KEY"];
            for text in texts {
                let key = format!("{prefix}{key}");
                let problem = fault(&text.replace("KEY", &key), &text.replace("KEY", &mark));
                prop_assert_eq!(problem, None);
            }
            let longer = format!("a {prefix}{} b", drawn(&row, number, row.least + 7));
            let shorter = format!("a {prefix}{} b", &key[..row.least - 1]);
            let redacted = plain().redact(&longer).into_owned();
            prop_assert_eq!(redacted == longer, row.is_exact, "{} became {}", longer, redacted);
            let is_other = rows().iter().any(|other| {
                other.prefix != prefix && shorter[2..].starts_with(other.prefix)
            });
            if !is_other {
                let redacted = plain().redact(&shorter).into_owned();
                prop_assert_eq!(&redacted, &shorter);
            }
            // A character of no alphabet, and a letter beyond this one.
            let half = row.least / 2;
            for other in ["~", "!", if row.alphabet.contains('a') { "é" } else { "a" }] {
                let text = format!("a {prefix}{}{other}{} b", &key[..half], &key[half + 1..]);
                if !is_other && half < 16 {
                    let redacted = plain().redact(&text).into_owned();
                    prop_assert_eq!(&redacted, &text);
                }
            }
        }
    }
}

#[test]
fn words_are_no_keys() {
    let body = BODY.repeat(2);
    for row in rows() {
        let Row {
            prefix,
            kind,
            least,
            ..
        } = row;
        let is_id = row.alphabet.contains('A') && !row.alphabet.contains('a') && !row.is_dashed();
        if !is_id || row.alphabet.contains('-') {
            assert_stays(&[
                &format!("a {prefix}{} b", "a".repeat(least)),
                &format!("a {prefix}{} b", "1".repeat(least)),
            ]);
        }
        if row.is_dashed() && !row.is_exact && least <= 20 {
            // Words with dashes between them are no key, nor are short parts.
            let words = [
                "river", "basin", "cloud", "three", "seven", "paths", "mount", "lakes", "fires",
                "woods", "trees",
            ];
            let words = words.join("-") + "-2";
            let parts: Vec<&str> = (0..70)
                .step_by(11)
                .map(|place| &body[place % 50..place % 50 + 11])
                .collect();
            assert_stays(&[
                &format!("{prefix}{words}"),
                &format!("{prefix}{}", parts.join("-")),
            ]);
            assert_hidden(
                kind,
                &[&format!("«{prefix}{}-{}»", parts.join("-"), &body[..12])],
            );
        }
    }
}

#[test]
fn keys_without_a_prefix_are_known_by_their_parts() {
    let body = BODY.repeat(2);
    let dashed = body[..35].replace('7', "-");
    assert_hidden(
        "telegram token",
        &[
            &format!("bot 123456789:«AA{}»", &body[..33]),
            &format!(
                "https://a.example/bot1234567890:«AA{}»/getMe",
                &dashed[..33]
            ),
        ],
    );
    assert_hidden(
        "discord token",
        &[&format!(
            "a «M{}.{}.{}» b",
            &body[..23],
            &body[..6],
            &body[..38]
        )],
    );
    assert_hidden(
        "azure secret",
        &[
            &format!("a «aB38Q~{}» b", &body[..34]),
            &format!("a «.~b7Q~{}~{}» b", &body[..5], &body[..25]),
        ],
    );
    assert_stays(&[
        &format!("12:AA{}", &body[..33]),
        &format!("123456789:AA{}", &body[..32]),
        &format!("M{}.{}.{}", &body[..23], &body[..5], &body[..38]),
        &format!("aB3xQ~{}", &body[..34]),
    ]);
}

#[test]
fn a_key_of_exact_length_has_no_more() {
    let id = "Q7WE9RT2YU4IO6PA";
    for prefix in ["AKIA", "ASIA", "ABIA", "ACCA"] {
        assert_hidden(
            "aws key id",
            &[
                &format!("a «{prefix}{id}» b"),
                &format!("«{prefix}{id}»."),
                &format!("«{prefix}{id}»_b"),
            ],
        );
        assert_stays(&[
            &format!("{prefix}{}", &id[1..]),
            &format!("{prefix}{id}8"),
            &format!("{prefix}{id}b"),
            &format!("{prefix}{}b", &id[1..]),
        ]);
    }
    let digits = "0f9e8d7c6b5a49382716f5e4d3c2b1a0";
    assert_hidden(
        "mailgun key",
        &[
            &format!("a «key-{digits}» b"),
            &format!("(«key-{digits}»)"),
            &format!("a:«key-{digits}»."),
        ],
    );
    assert_stays(&[
        &format!("key-{}", &digits[1..]),
        &format!("key-{digits}0"),
        &format!("key-{}", digits.to_uppercase()),
        &format!("key-g{}", &digits[1..]),
        &format!("key-{}", "0".repeat(32)),
        &format!("key-{}", "a".repeat(32)),
        &format!("my-key-{digits}"),
        &format!("my_key-{digits}"),
        &format!("my.key-{digits}"),
        &format!("my/key-{digits}"),
        &format!("mykey-{digits}"),
    ]);
}
