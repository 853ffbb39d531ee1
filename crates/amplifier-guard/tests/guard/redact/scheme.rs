//! Tokens behind the schemes of authorisation, wherever they stand.

use super::writing::base64;
use super::{BODY, assert_hidden, assert_stays};

#[test]
fn a_bearer_token_has_sixteen_characters_that_are_no_words() {
    for scheme in ["Bearer", "bearer", "BEARER", "x-Bearer", "\"Bearer"] {
        for blanks in [" ", "\t", "  ", "      "] {
            assert_hidden(
                "bearer token",
                &[
                    &format!("{scheme}{blanks}«{}»", &BODY[..16]),
                    &format!("a {scheme}{blanks}«{BODY}-_./+=» b"),
                    &format!("a {scheme}{blanks}«{BODY}»\"b"),
                ],
            );
        }
        assert_stays(&[
            &format!("{scheme} {}", &BODY[..15]),
            &format!("{scheme} {}", "a".repeat(40)),
            &format!("{scheme}\n{BODY}"),
            &format!("{scheme} \n {BODY}"),
            &format!("{scheme}       {BODY}"),
            &format!("{scheme}{BODY}"),
            &format!("{scheme}-{BODY}"),
            &format!("{scheme} ({BODY})"),
            &format!("{scheme}s {BODY}"),
        ]);
    }
    assert_hidden(
        "bearer token",
        &[&format!("Bearer «{}» b", BODY.repeat(20))],
    );
}

#[test]
fn basic_credentials_hold_a_colon_at_any_place() {
    for user in [
        "a", "ab", "abc", "abcd", "~~~", "~~~a", "???ab", "¿¿¿", "0123", "zzz",
    ] {
        for password in ["swordfish", "~~~~~~?????", "ÿÿÿÿÿ"] {
            for is_url in [false, true] {
                let text = base64(format!("{user}:{password}").as_bytes(), is_url);
                let padding = "=".repeat((4 - text.len() % 4) % 4);
                for scheme in ["Basic", "basic", "BASIC"] {
                    assert_hidden(
                        "basic credentials",
                        &[
                            &format!("{scheme} «{text}»"),
                            &format!("a {scheme} «{text}{padding}» b"),
                            &format!("{scheme}\t«{text}»\nb"),
                            &format!("{scheme}       «{text}»'b"),
                        ],
                    );
                }
                assert_stays(&[
                    &format!("Basic\n{text}"),
                    &format!("Basic        {text}"),
                    &format!("Basics {text}"),
                    &format!("Basic: ({text})"),
                ]);
            }
        }
    }
}

#[test]
fn what_holds_no_colon_is_no_credentials() {
    for user in ["", "a", "ab", "abc"] {
        for sign in ["9", ";", "z", "{", "\u{1a}", "*", "º"] {
            let text = base64(format!("{user}{sign}swordfishswordfish").as_bytes(), false);
            assert_stays(&[&format!("Basic {text}"), &format!("a Basic {text}= b")]);
        }
    }
    // Eleven characters hold eight bytes.
    let text = base64(b"ab:cdefg", false);
    assert_eq!(text.len(), 11);
    assert_hidden("basic credentials", &[&format!("Basic «{text}»")]);
    assert_stays(&[
        &format!("Basic {}", &text[..10]),
        &format!("Basic ===={}", "A".repeat(9)),
    ]);
    // The colon stands in the first 256 characters.
    let text = base64(format!("{}:b", "a".repeat(190)).as_bytes(), false);
    assert_hidden("basic credentials", &[&format!("Basic «{text}»")]);
    let text = base64(format!("{}:b", "a".repeat(192)).as_bytes(), false);
    assert_stays(&[&format!("Basic {text}")]);
}
