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
            _ => assert_eq!((marks, end.as_slice()), (1, b"".as_slice())),
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
