//! Fields of data, and secrets that overlap.

use amplifier_guard::Redactor;

use super::{BODY, assert_becomes, plain};

#[test]
fn a_secret_key_hides_its_text() {
    for (key, text, kind) in [
        ("password", "swordfish", "password"),
        ("userPassword", "sword fish", "password"),
        ("api_key", "a b", "key"),
        ("token", "12345678", "token"),
        ("Authorization", "Bearer abc", "credentials"),
        ("cookie", "a=b", "cookie"),
        ("set-cookie", "a", "cookie"),
        ("pwd", "swordfish", "password"),
        ("password", "/swordfish", "password"),
        ("session", "Q7wE9rT2yU4iO6pA", "token"),
        ("openai_key", BODY, "key"),
    ] {
        let mark = format!("[REDACTED:{kind}]");
        assert_eq!(plain().redact_field(key, text), Some(mark), "{key}: {text}");
    }
}

#[test]
fn what_is_no_secret_in_a_field_stays() {
    for (key, text) in [
        ("name", BODY),
        ("password", ""),
        ("password", "required"),
        ("password", "<password>"),
        ("token", "1234567"),
        ("pwd", "/home/ada"),
        ("PWD", "/"),
        ("session", "Q7wE9rT2yU4iO6p"),
        ("session", "swordfishswordfish"),
        ("session", "Q7wE9rT2yU4iO6pA b"),
        ("session_id", BODY),
        ("authorization", "none"),
        ("cookie", "${COOKIE}"),
    ] {
        assert_eq!(plain().redact_field(key, text), None, "{key}: {text}");
    }
}

#[test]
fn keys_whose_values_are_secret_whatever_they_are() {
    for key in [
        "password",
        "apiKey",
        "client_secret",
        "x-auth-token",
        "Authorization",
        "credentials",
    ] {
        assert!(Redactor::is_secret_key(key), "{key}");
    }
    for key in [
        "name",
        "session",
        "auth",
        "cookie",
        "set-cookie",
        "openai_key",
        "max_token",
        "tokens",
        "",
    ] {
        assert!(!Redactor::is_secret_key(key), "{key}");
    }
}

#[test]
fn secrets_that_overlap_or_touch_are_one_of_the_longest_ones_kind() {
    let key = format!("sk-{BODY}");
    assert_becomes(&[
        (&format!("password={key}"), "password=[REDACTED:password]"),
        (
            &format!("password=x/{key} b"),
            "password=[REDACTED:password] b",
        ),
        (
            &format!("token: \"{key} b\""),
            "token: \"[REDACTED:token]\"",
        ),
        (&format!("Bearer x-{key}"), "Bearer [REDACTED:bearer token]"),
        (
            &format!("password=a@{key}-npm_{BODY}"),
            "password=[REDACTED:password]",
        ),
    ]);
    let redactor = Redactor::new(["hunter22 hunter33", "fjord"]).unwrap();
    for (text, redacted) in [
        (
            "password=hunter22 hunter33 b",
            "password=[REDACTED:secret] b",
        ),
        ("password=hunter22 hunter", "password=[REDACTED:secret]"),
        (
            "password=x/hunter22 hunter33 b",
            "password=[REDACTED:secret] b",
        ),
        ("a hunter22 hunter33fjord b", "a [REDACTED:secret] b"),
        (
            "a hunter22 hunter33,fjord b",
            "a [REDACTED:secret],[REDACTED:secret] b",
        ),
        ("password=fjordfish", "password=[REDACTED:password]"),
        ("password=fishfjord", "password=[REDACTED:password]"),
        (
            "password=fish,fjord;a=b",
            "password=[REDACTED:password];a=b",
        ),
    ] {
        assert_eq!(redactor.redact(text), redacted);
    }
}

#[test]
fn a_character_is_taken_out_whole_or_not_at_all() {
    // What begins or ends within a character: bytes of one secret stand in others' characters.
    let redactor = Redactor::new(["abcdefgé", "éhijklmn"]).unwrap();
    for (text, redacted) in [
        ("é%61bcdefgã!", "é[REDACTED:secret]!"),
        ("(%c2%a9hijklm%6e)", "(%c2[REDACTED:secret])"),
        ("x©hijklm%6e)", "x[REDACTED:secret])"),
        ("abcdefg韩!", "[REDACTED:secret]!"),
        ("(abcdefg韩韩)", "([REDACTED:secret]韩)"),
        ("(abcdefgé)", "([REDACTED:secret])"),
        ("(abcdefgf)", "(abcdefgf)"),
    ] {
        assert_eq!(redactor.redact(text), redacted);
    }
    let cut = b"\xa9hijklm%6e)";
    assert_eq!(redactor.redact_bytes(cut).as_ref(), b"[REDACTED:secret])");
}
