//! What a stream holds back, and for how long.

use amplifier_guard::{Redactor, RedactorStream};

use super::{BODY, Owned, plain, streamed};

/// What comes out after each chunk, and at the end.
fn outs(redactor: Redactor, chunks: &[&str]) -> Vec<String> {
    let mut stream = RedactorStream::new(Owned(redactor));
    let mut outs: Vec<Vec<u8>> = chunks
        .iter()
        .map(|chunk| stream.feed(chunk.as_bytes()))
        .collect();
    outs.push(stream.flush());
    outs.into_iter()
        .map(|out| String::from_utf8(out).unwrap())
        .collect()
}

#[test]
fn a_word_is_held_until_it_ends() {
    for (chunks, expected) in [
        (&["a b", "c d"][..], &["a ", "bc ", "d"][..]),
        (&["a\tb\nc"], &["a\tb\n", "c"]),
        (&["é", "aéb"], &["é", "aé", "b"]),
        (
            &["\"a\",b", "\"c\":1},d", "[1],e"],
            &["\"a\",", "b\"c\":1},", "d[1],", "e"],
        ),
        (&[",a", "a,b", "(1),c"], &["", "", "", ",aa,b(1),c"]),
        (&["a,", "b"], &["", "", "a,b"]),
        (&["\"", ",b"], &["", "\",", "b"]),
        (
            &["password: ", "b1 ", "c"],
            &["password: ", "", "", "[REDACTED:password] c"],
        ),
        (
            &["password=\"a b", " c", "\" d "],
            &["password=\"", "", "[REDACTED:password]\" d ", ""],
        ),
        (
            &["<password>a b", " c</pass", "word> d "],
            &["<password>", "", "[REDACTED:password]</password> d ", ""],
        ),
        (
            &["<password>a\n", "b ", "<a> "],
            &["<password>a\n", "b ", "<a> ", ""],
        ),
        (
            &["password=b1 c "],
            &["password=[REDACTED:password] c ", ""],
        ),
        (
            &["password=&quot;a b ", "c&quot; d ", "e "],
            &["password=&quot;", "[REDACTED:password]&quot; d ", "e ", ""],
        ),
        (&["password> b ", "c"], &["password> b ", "", "c"]),
        (&["<password b ", "c"], &["<password b ", "", "c"]),
        (
            &["-----BEGIN ", "X ", "KEY ", "----- a "],
            &["", "", "", "-----BEGIN X KEY ----- a ", ""],
        ),
    ] {
        assert_eq!(outs(plain(), chunks), expected, "{chunks:?}");
    }
    let block = format!(
        "-----BEGIN PRIVATE KEY-----\n-----END{} and so on b",
        " A".repeat(32)
    );
    let expected = ["[REDACTED:private key] and so on ", "b"];
    assert_eq!(outs(plain(), &[&block]), expected);
    let long = format!("password=a;{} b", "n".repeat(47));
    assert_eq!(
        outs(plain(), &[&long]),
        ["password=[REDACTED:password] ", "b"]
    );
    // The blank at an end may be one within a known secret.
    let known = || Redactor::new(["correct horse", "né à 12 h"]).unwrap();
    for (chunks, expected) in [
        (
            &["x correct", " ", "horse a "][..],
            &["x ", "", "[REDACTED:secret] a", " "][..],
        ),
        (&["a corr", "ect, a "], &["a ", "correct, a", " "]),
        (&["a né à 1", " b "], &["a ", "né à 1 b", " "]),
        (&["a né à 12 h ", "b "], &["a ", "[REDACTED:secret] b", " "]),
    ] {
        assert_eq!(outs(known(), chunks), expected, "{chunks:?}");
    }
}

#[test]
fn what_comes_out_ends_between_characters() {
    let text = "a — б😀é\u{10437} “x” ключ, ß; 漢字 😀😀 end";
    for redactor in [plain(), Redactor::new(["ключ к 😀😀"]).unwrap()] {
        let mut stream = RedactorStream::new(Owned(redactor));
        let mut out = String::new();
        for byte in text.bytes() {
            out += std::str::from_utf8(&stream.feed(&[byte])).unwrap();
        }
        out += std::str::from_utf8(&stream.flush()).unwrap();
        assert_eq!(out, text);
    }
}

#[test]
fn a_secret_longer_than_what_is_held_is_swallowed_to_its_end() {
    let body = BODY.repeat(300);
    let key = format!("sk-ant-{body}");
    let lines = format!("{}+/=\\%\n", &BODY[..27]).repeat(300);
    let block = format!("-----BEGIN PRIVATE KEY-----\n{}", lines.trim_end());
    for (kind, before, secret, ends) in [
        (
            "anthropic key",
            "",
            key,
            &[" a", "\na", "\"a", "'a", "`a", "\ta"][..],
        ),
        ("private key", "", block, &["\"a", "!a", "_a", ".a", ":a"]),
        ("password", "password=", body.clone(), &[" a", "\"a"]),
        (
            "password",
            "password=\"",
            format!("{body} ' ` \t{body}"),
            &["\" a", "\na"],
        ),
        (
            "password",
            "password='",
            format!("{body} \" ` \t{body}"),
            &["' a", "\na"],
        ),
        (
            "cookie",
            "Cookie: ",
            format!("a={body}; b={body}"),
            &["\n a"],
        ),
        (
            "credentials",
            "Authorization: Digest ",
            format!("a=\"{body}\", b=\"{body}\""),
            &["\na"],
        ),
    ] {
        for end in ends {
            let text = format!("x {before}{secret}{end} b token=swordfish c");
            let expected = format!("x {before}[REDACTED:{kind}]{end} b token=[REDACTED:token] c");
            for size in [100, 1_000, 8_192, 100_000] {
                let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                let out = String::from_utf8(streamed(&[], &chunks)).unwrap();
                assert_eq!(out, expected, "{kind} in chunks of {size}");
            }
        }
    }
}

#[test]
fn a_long_stream_gives_what_the_whole_text_gives() {
    let secrets = ["correct horse battery".to_string()];
    let redactor = Redactor::new(&secrets).unwrap();
    let prose = "The key was monkey, so to say; it cost 12 € and an «entry». ".repeat(4);
    let word = "iVBORw0KGgo/".repeat(800);
    let parts = [
        "password: swordfish, ",
        &prose,
        "correct horse battery ",
        &prose,
        &word,
        " Bearer ",
        BODY,
        " ",
        &prose,
        &prose,
        "\"api_key\": \"a b c\", ",
        &prose,
        "sk-ant-",
        BODY,
        " ",
        &word,
        "sk-ant-",
        BODY,
        "\n",
        &prose,
        &prose,
        &prose,
        "https://a:b1@c/ ",
        &prose,
        &word,
        "correct horse battery",
        &word,
        " --password b1c2 ",
        &prose,
    ];
    let text = parts.concat();
    let whole = redactor.redact(&text).into_owned();
    for size in [1, 13, 100, 511, 1_024, 5_000, 8_193, 20_000, text.len()] {
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        let out = String::from_utf8(streamed(&secrets, &chunks)).unwrap();
        let same = out.bytes().zip(whole.bytes());
        let same = same.take_while(|(one, other)| one == other).count();
        assert!(
            out == whole,
            "in chunks of {size}, after {}: {:?}",
            String::from_utf8_lossy(&whole.as_bytes()[same.saturating_sub(60)..same]),
            String::from_utf8_lossy(&out.as_bytes()[same..out.len().min(same + 60)])
        );
    }
}

#[test]
fn a_private_key_behind_a_long_word_is_hidden_to_its_end() {
    let lines = format!("{}\n", &BODY[..27].repeat(2)).repeat(300);
    let block = format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\nend");
    for (begin, kind) in [
        ("sk-ant-", "anthropic key"),
        ("password=", "password"),
        ("password=\"", "password"),
        ("Bearer ", "bearer token"),
        ("x ", "private key"),
    ] {
        // The mark comes before it is known what is the longest of what it stands for.
        let marked = |text: &str| text.replace("private key", kind);
        for count in [300, 330, 600] {
            let text = format!("x {begin}{}{block}", BODY.repeat(count));
            let whole = marked(&plain().redact(&text));
            assert!(!whole.contains(&lines[..54]));
            for size in [16, 1_000, 8_192, 100_000] {
                let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                let out = marked(&String::from_utf8(streamed(&[], &chunks)).unwrap());
                let end = &out[out.len().saturating_sub(200)..];
                assert!(out == whole, "{begin}, {count}, in chunks of {size}: {end}");
            }
        }
    }
}

#[test]
fn a_flushed_stream_begins_anew() {
    let mut stream = RedactorStream::new(Owned(plain()));
    let long = format!("password=\"{}", "a b ".repeat(5_000));
    let mut out = stream.feed(long.as_bytes());
    out.extend(stream.flush());
    assert_eq!(out, b"password=\"[REDACTED:password]");
    assert_eq!(stream.feed(b"a b\" c"), b"a b\" ");
    assert_eq!(stream.flush(), b"c");
    assert_eq!(stream.feed(b"password="), b"");
    assert_eq!(stream.flush(), b"password=");
    assert_eq!(stream.feed(b"swordfish "), b"swordfish ");
}

#[test]
fn no_more_than_the_bound_is_held() {
    for (text, most) in [
        ("a".repeat(30_000), 8_192),
        ("<password>".to_string() + &"a ".repeat(3_000), 1_024),
        ("session=\"".to_string() + &"a ".repeat(3_000), 512),
    ] {
        let mut stream = RedactorStream::new(Owned(plain()));
        let mut out = Vec::new();
        for (count, chunk) in text.as_bytes().chunks(100).enumerate() {
            out.extend(stream.feed(chunk));
            let fed = 100 * count + chunk.len();
            assert!(
                fed - out.len() <= most + 700,
                "{} of {fed} came out",
                out.len()
            );
        }
        out.extend(stream.flush());
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
