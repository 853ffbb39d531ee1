//! Redaction that searches every place, as a reference for the one that searches only candidates.

use std::path::Path;

use memchr::memmem;
use proptest::prelude::*;

use super::escape::{ALL, BACKSLASH, ENTITY, INVISIBLE, Layer, PERCENT};
use super::known::Known;
use super::name::is_part;
use super::places::{Place, Places};
use super::span::{Span, joined};
use super::vendor::{Keys, aws_secret, azure_secret, web_key};
use super::{Redactor, block, named, runs, scheme, writing};

/// All places where values could be.
fn places(text: &[u8]) -> Places {
    let mut places = Places::of(text);
    let is_name = |place: &Place| matches!(place, Place::Name(..));
    places.values.retain(|place| !is_name(place));
    let mut start = 0;
    for word in text.split(|byte| !is_part(*byte)) {
        places.values.push(Place::Name(start, start + word.len()));
        start += word.len() + 1;
    }
    // As in the text: an address begins behind the name of its scheme.
    places.values.sort_by_key(|place| match place {
        Place::Name(start, _) | Place::Address(start) | Place::Program(start) => *start,
    });
    places.blocks = memmem::find_iter(text, "-----BEGIN")
        .map(|start| start + 3)
        .collect();
    places.tokens.clear();
    for (start, end) in key_runs(text) {
        if end - start >= 11
            && let Some(kind) = scheme::before(text, start, end)
        {
            places.tokens.push(Span { start, end, kind });
        }
    }
    places
}

/// All runs of key characters, however short.
fn key_runs(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut place = 0;
    while place < text.len() {
        let length = runs::stretch(&text[place..]);
        if length > 0 {
            found.push((place, place + length));
        }
        place += length + 1;
    }
    found
}

fn vendors(text: &[u8], spans: &mut Vec<Span>) {
    for (start, end) in key_runs(text) {
        spans.extend(aws_secret(text, start, end));
        spans.extend(azure_secret(text, start, end));
        spans.extend(web_key(text, start, end));
        let mut place = start;
        while place < end {
            if let Some((end, kind)) = Keys::default().at(text, place) {
                spans.push(Span {
                    start: place,
                    end,
                    kind,
                });
                place = end;
            } else {
                place += 1;
            }
        }
    }
}

/// The parts of known secrets in a text and below up to three layers of escapes.
fn known(known: &Known, text: &[u8]) -> Vec<(usize, usize)> {
    let ways = [ALL, PERCENT, BACKSLASH, ENTITY, INVISIBLE];
    let mut found = known.find_everywhere(text);
    for first in ways {
        let Some(one) = Layer::of(text, first) else {
            continue;
        };
        let spans = known.find_everywhere(&one.bytes);
        found.extend(spans.into_iter().map(|span| one.encoded(span)));
        for second in ways {
            let Some(two) = Layer::of(&one.bytes, second) else {
                continue;
            };
            let spans = known.find_everywhere(&two.bytes);
            found.extend(spans.into_iter().map(|span| one.encoded(two.encoded(span))));
            if first == second
                && let Some(three) = Layer::of(&two.bytes, first)
            {
                let spans = known.find_everywhere(&three.bytes);
                let encoded = |span| one.encoded(two.encoded(three.encoded(span)));
                found.extend(spans.into_iter().map(encoded));
            }
        }
    }
    found.sort_unstable();
    found.dedup_by(|next, last| {
        let is_near = next.0 <= last.1;
        if is_near {
            last.1 = last.1.max(next.1);
        }
        is_near
    });
    found
}

fn assert_the_same(redactor: &Redactor, text: &[u8]) {
    let mut spans = Vec::new();
    let places = places(text);
    block::find(text, &places.blocks, &mut spans);
    let open = named::find(text, &places, &mut spans).open;
    spans.extend(places.tokens);
    vendors(text, &mut spans);
    spans.extend(
        known(&redactor.known, text)
            .into_iter()
            .map(|(start, end)| Span {
                start,
                end,
                kind: "secret",
            }),
    );
    let shown = |spans: &[Span]| -> Vec<(usize, usize, &str)> {
        spans
            .iter()
            .map(|span| (span.start, span.end, span.kind))
            .collect()
    };
    let scan = redactor.scan(text);
    let fast = joined(text, scan.spans);
    let slow = joined(text, spans);
    assert_eq!(
        shown(&fast),
        shown(&slow),
        "{}",
        String::from_utf8_lossy(text)
    );
    assert!(
        scan.open <= open || open.is_none(),
        "{}",
        String::from_utf8_lossy(text)
    );
}

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_looks_like_a_secret_is_found_where_a_look_at_every_place_finds_it(
        pieces in prop::collection::vec(piece(), 0..24),
    ) {
        assert_the_same(&Redactor::new::<&str>([]).unwrap(), pieces.concat().as_bytes());
    }

    #[test]
    fn known_secrets_are_found_where_a_look_at_every_place_finds_them(
        secrets in prop::collection::vec("[!-~]{8,30}|[A-Za-z0-9+/_-]{8,40}|[a-z]{4,7}", 1..4),
        pieces in prop::collection::vec(
            (piece(), 0..4_usize, writing::writing(), 0..40_usize, prop::option::of(1..30_usize)),
            0..8,
        ),
    ) {
        let mut text = String::new();
        for (piece, secret, way, start, line) in pieces {
            text.push_str(&piece);
            let Some(secret) = secrets.get(secret) else { continue };
            // In UTF-16, eight characters are looked for, not eight bytes.
            let is_wide = matches!(way, writing::Writing::Utf16 { .. });
            let (start, line) = if is_wide { (0, None) } else { (start, line) };
            // Pairs of digits have one separator, and a line break within it is another.
            let is_spaced = matches!(way, writing::Writing::Spaced { .. });
            let line = line.filter(|_| !is_spaced);
            let form = writing::written(&secret[start.min(secret.len() - 1)..], &way);
            let characters: Vec<char> = form.chars().collect();
            let lines = characters.chunks(line.unwrap_or(usize::MAX));
            let lines: Vec<String> = lines.map(|line| line.iter().collect()).collect();
            text.push_str(&lines.join(if start % 2 == 0 { "\n" } else { "\\r\\n" }));
        }
        assert_the_same(&Redactor::new(&secrets).unwrap(), text.as_bytes());
    }
}

#[test]
fn recorded_streams_and_inputs_are_redacted_as_by_a_look_at_every_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("tests/data/security"), root.join("docs")];
    folders.extend(std::env::var_os("RECORDED_STREAMS").map(Into::into));
    let secrets = [
        "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb",
        "content_block",
        "delta\":{\"",
    ];
    let redactors = [
        Redactor::new::<&str>([]).unwrap(),
        Redactor::new(secrets).unwrap(),
    ];
    let mut count = 0;
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_file() {
                continue;
            }
            let text = std::fs::read(path).unwrap();
            for block in text.chunks(20_000) {
                for redactor in &redactors {
                    assert_the_same(redactor, block);
                }
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count} blocks of text");
}
