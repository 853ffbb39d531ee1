//! The work is linear in the text, whatever it holds and however it is cut.
//!
//! Holds: secret-8

use std::hint::black_box;

use amplifier_guard::{Redactor, RedactorStream, steps};

use super::{BODY, Owned};

/// Parts of texts, each hard in another way when it is repeated.
const PARTS: [&str; 66] = [
    "",
    "key=",
    "key=key",
    "token: ",
    "token=\"",
    "password='a",
    "password=\\\"",
    "session=",
    "PWD=/",
    "pwd=$",
    "authorization: a",
    "Authorization: Digest a=",
    "Cookie: a=b",
    "Cookie: a",
    "--token ",
    "--token -a",
    "-",
    "--",
    "</token",
    "<token>a</token",
    "('x-api-key', ",
    "(\"cookie\", 'a=",
    "://a",
    "://a:b@c/",
    "http://a:b/",
    "sk-",
    "sk-a",
    "eyJ-",
    "eyJaaaaaaaaaaaa.",
    "AKIA",
    "AKIAQ7WE9RT2YU4IO6PA ",
    "Bearer ",
    "Basic ",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----\n",
    "A",
    "A\n",
    "=",
    "%25",
    "%25%32%35",
    "\\u0025",
    "\\",
    "\\n",
    "&amp;",
    "&#x",
    "passwords: {",
    "passwords: {a: b1c2d3e4f5, ",
    "secrets:\n  a: ",
    "secrets:\n",
    "[tokens.a]\nb = c1\n",
    "kind: Secret\n",
    "kind: Secret\ndata:\n  a: b\n",
    "Enter password:\n",
    "# password\n",
    "the password is ",
    "password a b c d ",
    "auth(\"a\", ",
    "setPassword(\"a\", \"b",
    "connect(\"a\", \"b\"",
    "(a, password) VALUES ('b', 'c'), ",
    "(a, password) VALUES (",
    "[\"a\", \"password\"], ",
    "USER  PASSWORD\n",
    "User Password\nada b\n",
    "| password | a |\n",
    "a;Password=b c d ",
];

/// Fails unless the steps of this work grow as its size does: at most by 1.1 on logarithmic scales.
fn assert_linear(what: &str, sizes: [usize; 2], work: impl Fn(usize)) {
    let log = |number: usize| f64::from(u32::try_from(number).unwrap()).ln();
    let [small, large] = sizes.map(|size| steps::of(|| work(size)));
    assert!(small > 0, "{what}: nothing was counted");
    let slope = (log(large) - log(small)) / (log(sizes[1]) - log(sizes[0]));
    assert!(slope <= 1.1, "{what}: the slope is {slope}");
}

fn redactors() -> [Redactor; 2] {
    [
        Redactor::new::<&str>([]).unwrap(),
        Redactor::new([BODY, "keykeytoken", "AAAAAAAAAAA", "hunter2"]).unwrap(),
    ]
}

/// About so many bytes of the part over and over; of the empty one, base64 that never repeats.
fn text(part: &str, bytes: usize) -> String {
    if !part.is_empty() {
        return part.repeat(bytes / part.len());
    }
    let mut state = 7_u32;
    let dense = (0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[(state >> 27) as usize])
    });
    dense.collect()
}

#[test]
fn redaction_is_linear_in_the_text() {
    for redactor in redactors() {
        for part in PARTS {
            assert_linear(part, [4_000, 40_000], |bytes| {
                black_box(redactor.redact(&text(part, bytes)));
            });
        }
    }
}

#[test]
fn redaction_of_a_stream_is_linear_in_the_text() {
    for chunk in [256, 4096] {
        for part in PARTS {
            assert_linear(&format!("{part} in {chunk}"), [20_000, 60_000], |bytes| {
                let [_, redactor] = redactors();
                let mut stream = RedactorStream::new(Owned(redactor));
                for chunk in text(part, bytes).as_bytes().chunks(chunk) {
                    stream.feed(chunk);
                }
                stream.flush();
            });
        }
    }
}
