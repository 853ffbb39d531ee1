//! What is quickly left out is what a closer look finds nothing in.
//!
//! The redactor looks closely at few places: at every fifth byte, at names with a known end, at escapes
//! that may be part of a secret. So the same text must give the same wherever it begins, whatever else
//! is looked for, and whatever its names stand in.
//!
//! Holds: secret-8

use std::path::Path;

use amplifier_guard::Redactor;
use proptest::prelude::*;

use super::writing::{Writing, writing, written};
use super::{BODY, plain};

const NAMES: &[&str] = &[
    "password",
    "PASS_PHRASE",
    "api_key",
    "apiKey",
    "x-api-key",
    "token",
    "max_tokens",
    "session",
    "session_id",
    "sessionid",
    "sid",
    "Authorization",
    "Set-Cookie",
    "PWD",
    "client_secret",
    "pass-wd",
    "credentials",
    "X-Amz-Signature",
    "sig",
    "code",
    "db_pass",
    "bearer",
    "auth",
    "openai-key",
    "monkey",
    "jwt",
    "Bearer",
    "basic",
    "next_page_token",
    "the",
    "word",
];
const MARKS: &[&str] = &[
    "=",
    ": ",
    ":",
    " = ",
    "\": \"",
    "': '",
    "\\\": \\\"",
    "=>",
    ":=",
    "==",
    "::",
    " ",
    "\", \"",
    "', '",
    "', b'",
    "&quot;: &quot;",
    "\"] = \"",
    ">",
    "=Bearer ",
    "--",
    "---",
    "?",
    "&",
    "</",
    "<",
    "(\"",
    "[(b'",
    "\\n",
    "\\\\n",
    "\n",
    "\r\n",
    "://",
    "@",
    ", ",
    "\\",
    "%",
    "&",
    ";",
    "\"",
    "'",
    "%20",
    "\\u0022",
    "&lt;",
    "\x1b[31m",
    "é",
    "-----BEGIN RSA PRIVATE KEY-----\n",
];
const VALUES: &[&str] = &[
    "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb",
    "swordfish",
    "ZmFrZTpmYWtlcGFzc3dvcmQ=",
    "<YOUR_KEY>",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.Q7wE9rT2yU4i",
    "AKIAQ7WE9RT2YU4IO6PA",
    "sk-",
    "Q7wE9rT2yU4iO6pA/8sD1fG3hJ5kL0zXcVb+nM2q",
    "ghp_",
    "sk-ant-",
    "key-",
    "SG.",
    "npm_",
    "0f9e8d7c6b5a49382716f5e4d3c2b1a0",
    "hooks.slack.com/services/",
    "${KEY}",
    "a=b; c=d",
];

/// The building blocks of values, names and the text around them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(NAMES).prop_map(str::to_string),
        4 => prop::sample::select(MARKS).prop_map(str::to_string),
        3 => prop::sample::select(VALUES).prop_map(str::to_string),
        1 => "[ -~é]{0,9}",
    ]
}

/// The text without its secrets, which must not depend on where it begins.
fn redacted(redactor: &Redactor, text: &[u8], leads: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let behind = |lead: usize| {
        let lead = "~".repeat(lead) + "\n";
        let all = redactor
            .redact_bytes(&[lead.as_bytes(), text].concat())
            .into_owned();
        assert!(all.starts_with(lead.as_bytes()));
        all[lead.len()..].to_vec()
    };
    let first = behind(1);
    for lead in leads {
        assert_the_same(&behind(lead), &first, text);
    }
    first
}

fn assert_the_same(one: &[u8], other: &[u8], text: &[u8]) {
    let [one, other, text] = [one, other, text].map(String::from_utf8_lossy);
    assert_eq!(one, other, "{text}");
}

/// A redactor that knows further secrets: with one it looks at all escapes, with the other at more places.
fn looking_closely(secrets: &[String]) -> [Redactor; 2] {
    let further = ["\u{1}%\\&\n\u{1}%\\&\n", "\u{1}\u{2}\u{1}\u{2}"];
    further.map(|further| {
        let further = [further.to_string()];
        // Blanks around a secret do not count.
        Redactor::new(secrets.iter().chain(&further)).unwrap()
    })
}

/// A name of words in any case, with any separators.
fn name() -> impl Strategy<Value = String> {
    let lists = include_str!("../../../src/redact/words.tsv").lines();
    let known = lists.take(11).flat_map(|line| line.split(['\t', ' ']));
    let word = prop_oneof![
        3 => prop::sample::select(NAMES).prop_map(str::to_string),
        3 => prop::sample::select(known.collect::<Vec<_>>()).prop_map(str::to_string),
        2 => prop::sample::select(vec!["pass", "pw", "key", "s", "d", "n", "1"])
            .prop_map(str::to_string),
        1 => "[a-zA-Z0-9]{1,5}",
    ];
    let word = (word, 0..4_u8).prop_map(|(word, case)| match case {
        0 => word.to_uppercase(),
        1 => word[..1].to_uppercase() + &word[1..],
        _ => word,
    });
    let separator = prop::sample::select(vec!["", "_", "-", ".", "__"]);
    prop::collection::vec((separator, word), 1..5).prop_map(|words| {
        words
            .into_iter()
            .flat_map(|(one, other)| [one.to_string(), other])
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_looks_like_a_secret_is_found_wherever_the_text_begins(
        pieces in prop::collection::vec(piece(), 0..24),
        far in 3_600..4_200_usize,
    ) {
        redacted(&plain(), pieces.concat().as_bytes(), (2..9).chain([far]));
    }

    #[test]
    fn a_value_behind_a_name_is_hidden_just_if_it_is_in_a_field_of_that_name(name in name()) {
        // In a text, `pw` is found by what is behind it.
        let lower = name.to_lowercase();
        prop_assume!(lower.ends_with("pw") || !lower.contains("pw"));
        let field = plain().redact_field(&name, BODY);
        prop_assume!(field.as_deref() != Some("[REDACTED:cookie]"));
        for text in [format!("{name}=\"{BODY}\""), format!("x {name}: \"{BODY}\" x")] {
            let mark = field.as_deref().unwrap_or(BODY);
            prop_assert_eq!(plain().redact(&text).into_owned(), text.replace(BODY, mark));
        }
    }

    #[test]
    fn known_secrets_are_found_wherever_the_text_begins_and_whatever_else_is_known(
        secrets in prop::collection::vec("[!-~]{8,30}|[A-Za-z0-9+/_-]{8,40}|[a-z]{4,7}", 1..4),
        pieces in prop::collection::vec(
            (piece(), 0..4_usize, writing(), 0..40_usize, prop::option::of(1..30_usize)),
            0..8,
        ),
    ) {
        let mut text = String::new();
        for (piece, secret, way, start, line) in pieces {
            text.push_str(&piece);
            let Some(secret) = secrets.get(secret) else { continue };
            // In UTF-16, eight characters are looked for, not eight bytes.
            let is_wide = matches!(way, Writing::Utf16 { .. });
            let (start, line) = if is_wide { (0, None) } else { (start, line) };
            // Pairs of digits have one separator, and a line break within it is another.
            let is_spaced = matches!(way, Writing::Spaced { .. });
            let line = line.filter(|_| !is_spaced);
            let form = written(&secret[start.min(secret.len() - 1)..], &way);
            let characters: Vec<char> = form.chars().collect();
            let lines = characters.chunks(line.unwrap_or(usize::MAX));
            let lines: Vec<String> = lines.map(|line| line.iter().collect()).collect();
            text.push_str(&lines.join(if start % 2 == 0 { "\n" } else { "\\r\\n" }));
        }
        let one = redacted(&Redactor::new(&secrets).unwrap(), text.as_bytes(), 2..7);
        for redactor in looking_closely(&secrets) {
            assert_the_same(&redacted(&redactor, text.as_bytes(), [2]), &one, text.as_bytes());
        }
    }
}

#[test]
fn a_key_is_found_at_each_place_of_a_text() {
    for part in [
        " ",
        "a ",
        "abc ",
        "=",
        "(abcdefgh) ",
        "abcdefghijklmnopqrst ",
        "é:",
    ] {
        let lead = part.repeat(560);
        for place in (0..560).filter(|place| lead.is_char_boundary(lead.len() - place)) {
            let lead = &lead[lead.len() - place..];
            let text = format!("{lead}sk-{}", &BODY[..16]);
            assert_eq!(plain().redact(&text), format!("{lead}[REDACTED:api key]"));
        }
    }
}

#[test]
fn recorded_streams_and_inputs_are_redacted_as_by_a_closer_look() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("tests/data/security"), root.join("docs")];
    folders.extend(std::env::var_os("RECORDED_STREAMS").map(Into::into));
    let secrets = [BODY, "content_block", "delta\":{\""].map(str::to_string);
    let known = Redactor::new(&secrets).unwrap();
    let mut count = 0;
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_file() {
                continue;
            }
            let text = std::fs::read(path).unwrap();
            for block in text.chunks(20_000) {
                redacted(&plain(), block, 2..6);
                let one = redacted(&known, block, 2..7);
                for redactor in looking_closely(&secrets) {
                    assert_the_same(&redacted(&redactor, block, [2]), &one, block);
                }
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count} blocks of text");
}
