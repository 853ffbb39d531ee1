//! Text that comes in chunks.

use amplifier_guard::{Redactor, RedactorStream};
use proptest::prelude::*;

use super::writing::base64;
use super::{BODY, Owned, cut, plain, streamed};

#[test]
fn a_stream_holds_back_one_word_and_no_more() {
    let mut stream = RedactorStream::new(Owned(plain()));
    assert_eq!(stream.feed(b"Hello wor"), b"Hello ");
    assert_eq!(stream.feed("ld — sk-".as_bytes()), "world — ".as_bytes());
    assert_eq!(stream.feed(format!("ant-api03-{BODY}").as_bytes()), b"");
    assert_eq!(stream.feed(b" "), b"[REDACTED:anthropic key] ");
    assert_eq!(stream.flush(), b"");
}

#[test]
fn what_goes_on_without_end_is_not_held_without_end() {
    for (begin, word) in [
        ("", "iVBORw0KGgo/"),
        ("sk-ant-", "Q7wE9rT2"),
        ("password=\"", "a b "),
        ("", "eyJaaaaaaaaaaaa."),
    ] {
        let text = begin.to_string() + &word.repeat(20_000);
        let mut stream = RedactorStream::new(Owned(plain()));
        let mut fed = 0;
        let mut given = 0;
        let mut marks = 0;
        for chunk in text.as_bytes().chunks(100) {
            let out = stream.feed(chunk);
            fed += chunk.len();
            given += out.len();
            marks += usize::from(out.starts_with(b"[REDACTED:") || out.ends_with(b"]"));
            assert!(marks > 0 || fed - given <= 10_000, "{fed} in, {given} out");
        }
        let end = stream.flush();
        match begin {
            "" if word.starts_with("iVBOR") => assert_eq!(given + end.len(), text.len()),
            // A dot at the end is no part of a token.
            _ => assert_eq!(
                (marks, end.as_slice()),
                (1, &b"."[..end.len().min(usize::from(word.ends_with('.')))])
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_stream_gives_what_the_whole_text_gives(
        words in prop::collection::vec(
            prop_oneof![
                3 => "[a-z]{1,9}",
                1 => Just(format!("sk-ant-{BODY}")),
                1 => Just("password:".to_string()),
                1 => Just("token=abc123def,".to_string()),
                1 => Just("\"api_key\": \"a b c 1\"".to_string()),
                1 => Just("Authorization: Bearer".to_string()),
                1 => Just(base64(format!("ab{BODY}").as_bytes(), false)),
                1 => Just("https://a:b1c2@d/".to_string()),
                1 => "[ -~é]{1,9}",
            ],
            0..12,
        ),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let secrets = [BODY.to_string()];
        let text = words.join(" ");
        let whole = Redactor::new(&secrets).unwrap().redact(&text).into_owned();
        let out = streamed(&secrets, &cut(text.as_bytes(), &places));
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole, "{}", text);
    }
}

/// Parts of a text, some of them longer than what a stream holds back.
fn long_part() -> impl Strategy<Value = String> {
    let line = "[A-Za-z0-9+/]{64}";
    let length = prop::sample::select(vec![1_usize, 3, 140, 300]);
    prop_oneof![
        3 => "[a-z]{1,9}( [a-zA-Z,.;:=\"'-]{1,9}){0,9}\n?",
        2 => (line, length.clone(), any::<bool>()).prop_map(|(line, count, is_whole)| {
            let lines = format!("{line}\n").repeat(count);
            let end = if is_whole { "-----END RSA PRIVATE KEY-----\n" } else { "" };
            format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}{end}")
        }),
        1 => (line, length.clone()).prop_map(|(line, count)| {
            format!("-----BEGIN PRIVATE KEY-----\\n{}", format!("{line}\\n").repeat(count))
        }),
        1 => (line, length.clone()).prop_map(|(line, count)| {
            format!("Private-Lines: {count}\n{}Private-MAC: 0f\n", format!("{line}\n").repeat(count))
        }),
        1 => ("[a-zA-Z0-9_-]{60}", length.clone()).prop_map(|(body, count)| {
            format!("sk-ant-{BODY}{}", body.repeat(count))
        }),
        1 => ("[a-z \\\\\"0-9']{60}", length.clone()).prop_map(|(body, count)| {
            format!("password=\"{}\"", body.repeat(count))
        }),
        1 => ("[a-zA-Z0-9;,.)]{60}", length.clone()).prop_map(|(body, count)| {
            format!("token: {}", body.repeat(count))
        }),
        1 => ("[a-z0-9 :]{1,60}", length.clone()).prop_map(|(body, count)| {
            format!("  password: |\n{}", format!("    {body}\n").repeat(count))
        }),
        1 => ("[a-z0-9]{1,9}", length.clone()).prop_map(|(body, count)| {
            format!("\nuser,password\n{}", format!("ada,{body}\n").repeat(count))
        }),
        1 => ("[a-z0-9]{1,9}", length).prop_map(|(body, count)| {
            format!("passwords: [{}]", format!("\"{body}\", ").repeat(count))
        }),
        1 => "[ -~é\u{200b}\n]{1,40}",
    ]
}

#[test]
fn the_head_of_a_table_is_kept_wherever_the_text_before_it_is_forgotten() {
    let table = format!("user,password\n{}", "ada,h2922052\n".repeat(300));
    let text = format!("{}\n{table}", "word ".repeat(200));
    let secrets = [BODY.to_string()];
    let whole = Redactor::new(&secrets).unwrap().redact(&text).into_owned();
    assert!(!whole.contains("h2922052"));
    for size in 1_400..1_700 {
        let (first, rest) = text.as_bytes().split_at(size);
        let out = String::from_utf8(streamed(&secrets, &[first, rest])).unwrap();
        assert_eq!(out, whole, "the first chunk has {size} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_long_stream_in_any_chunks_gives_what_the_whole_text_gives(
        parts in prop::collection::vec(long_part(), 1..9),
        ends in prop::collection::vec(prop::sample::select(vec![" ", "\n", " \" ", "! "]), 9),
        sizes in prop::collection::vec(prop::sample::select(vec![16_usize, 300, 4_000, 30_000]), 1..9),
    ) {
        let pairs = parts.iter().zip(&ends);
        let text = pairs.flat_map(|(part, end)| [part.as_str(), end]).collect::<String>();
        let secrets = [BODY.to_string()];
        let whole = Redactor::new(&secrets).unwrap().redact(&text).into_owned();
        let mut rest = text.as_bytes();
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            let (chunk, others) = rest.split_at(rest.len().min(*size));
            chunks.push(chunk);
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        let out = String::from_utf8(streamed(&secrets, &chunks)).unwrap();
        let same = out.bytes().zip(whole.bytes()).take_while(|(one, other)| one == other).count();
        let near = |text: &str| {
            let bytes = &text.as_bytes()[same.saturating_sub(60)..text.len().min(same + 90)];
            String::from_utf8_lossy(bytes).into_owned()
        };
        prop_assert!(out == whole, "{:?} instead of {:?}", near(&out), near(&whole));
    }
}
