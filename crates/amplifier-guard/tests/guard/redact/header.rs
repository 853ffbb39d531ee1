//! Headers, flags and elements whose names say secret.

use super::{BODY, assert_becomes, assert_hidden, assert_stays, plain};

const TOKEN: &str = "Q7wE9rT2yU4i";

#[test]
fn the_scheme_of_an_authorization_stays_and_names_the_kind() {
    for (kind, schemes) in [
        ("bearer token", &["Bearer", "bearer", "BEARER"][..]),
        ("basic credentials", &["Basic", "BASIC"]),
        (
            "credentials",
            &[
                "Token",
                "token",
                "ApiKey",
                "Bot",
                "SharedKey",
                "Negotiate",
                "NTLM",
                "Key",
            ],
        ),
    ] {
        for scheme in schemes {
            for name in ["Authorization", "proxy-authorization", "HTTP_AUTHORIZATION"] {
                assert_hidden(
                    kind,
                    &[
                        &format!("{name}: {scheme} «{TOKEN}»"),
                        &format!("{name}: {scheme} «{TOKEN}»\r\nHost: a"),
                        &format!("{name}:{scheme}  \t«{TOKEN}»\nHost: a"),
                        &format!("{name}: {scheme} «swordfish»"),
                        &format!("\"{name}\": \"{scheme} «{TOKEN}»\", \"a\": 1"),
                        &format!("\\\"{name}\\\": \\\"{scheme} «{TOKEN}»\\\", \\\"a\\\": 1"),
                        &format!("'{name}: {scheme} «{TOKEN}»' a"),
                        &format!("{name}=\"{scheme} «{TOKEN}»\""),
                        &format!("{{'{name}': '{scheme} «{TOKEN}»'}}"),
                    ],
                );
                assert_stays(&[
                    &format!("{name}: {scheme} <token>"),
                    &format!("{name}: {scheme} "),
                    &format!("\"{name}\": \"{scheme} \" {TOKEN}"),
                ]);
            }
        }
    }
}

#[test]
fn credentials_without_a_scheme_are_hidden_and_prose_stays() {
    assert_hidden(
        "credentials",
        &[
            &format!("Authorization: «{TOKEN}»"),
            &format!("Authorization: \"«{TOKEN}»\" a"),
            "Authorization: «swordfish»\nHost: a",
            "Authorization=«swordfish»&a=b",
            "Authorization: «sword/fish» a",
            &format!("Authorization: «{}» (b", "a".repeat(70)),
            &format!("Authorization: «{TOKEN}» a"),
            &format!("Authorization: Custom-Scheme2 «{TOKEN}»"),
        ],
    );
    assert_stays(&[
        "Authorization: ",
        "Authorization: \n",
        "Authorization: none",
        "Authorization: header is required",
        "Authorization: custom swordfish",
        "Authorization: swordfish is required",
        "Authorization: <scheme> <token>",
        "Authorization: your-Key1Aa2 b",
        "\"Authorization\": \"\"",
    ]);
}

#[test]
fn schemes_with_pairs_are_hidden_to_the_end_of_the_line() {
    assert_hidden(
        "credentials",
        &[
            "Authorization: Digest «username=\"a b\", response=\"c\"»\r\nHost: a",
            "Authorization: digest «a=b»\nHost: a",
            "Authorization: Hawk «id=\"a\", mac=\"b\"»",
            "Authorization: OAuth «oauth_token=\"a\"»",
            "Authorization: AWS4-HMAC-SHA256 «Credential=a/b, Signature=c»\nHost: a",
            "'Authorization: Digest «a=\"b c\"»' d",
            "\"Authorization\": \"Digest «a=b\", c»",
        ],
    );
    assert_stays(&[
        "Authorization: Digest is old",
        "Authorization: OAuth 2.0\na=b",
        "Authorization: hawk eyes\n",
        "Authorization: digests a=b",
    ]);
}

#[test]
fn cookies_are_hidden_to_the_end_of_the_line() {
    assert_hidden(
        "cookie",
        &[
            "Cookie: «a=b; c=d»",
            "Cookie: «a=b; c=d»\r\nHost: a",
            "Set-Cookie: «a=b; Path=/; HttpOnly»\nHost: a",
            "cookies: «a=b »' c",
            "cookie: «chocolate a=b»\nc",
            "cookie: \"«chocolate a=b»\" c",
            "\"cookie\": \"«a=b; c=d»\", \"e\": 1",
            "\\\"cookie\\\": \\\"«a=b»\\\", \\\"e\\\": 1",
            "cookie=\"«a=b»\"",
            "('cookie', '«a=b»')",
            "[b'cookie', b'«a=b»']",
            &format!("Cookie: «a=b; {}»", "c=d; ".repeat(100)),
            &format!("Cookie: «{}=b»\nc", "a".repeat(255)),
        ],
    );
    assert_stays(&[
        "Cookie: chocolate\na=b",
        "Cookie: <a=b>",
        "Cookie: ${A=B}",
        "Cookie: ",
        "cookie_name: a=b",
        "my-cookie: a=b",
        "\"cookie\": \"\", a=b",
        "('cookie', 'a')",
    ]);
    let long = format!("Cookie: {}=b", "a".repeat(256));
    assert_stays(&[&long]);
}

#[test]
fn the_word_behind_a_flag_is_hidden_unless_it_is_a_plain_word() {
    for (kind, flag) in [
        ("password", "--password"),
        ("token", "--access-token"),
        ("key", "--api-key"),
        ("token", "--auth"),
        ("secret", "--a--secret"),
    ] {
        assert_hidden(
            kind,
            &[
                &format!("a {flag} «{TOKEN}» b"),
                &format!("a {flag}  «{TOKEN}»"),
                &format!("a {flag} '«sword fish»' b"),
                &format!("a {flag} \"«swordfish»\" b"),
                &format!("a {flag} «sword-fish»"),
                &format!("a {flag} «12345678»"),
                &format!("a {flag} «swordFish{TOKEN}»\nb"),
            ],
        );
        assert_stays(&[
            &format!("a {flag} swordfish b"),
            &format!("a {flag} -b {TOKEN}"),
            &format!("a {flag} --b2 c"),
            &format!("a {flag}"),
            &format!("a {flag} "),
            &format!("a {flag}\n{TOKEN}"),
            &format!("a {flag}\t{TOKEN}"),
            &format!("a {flag}, {TOKEN}"),
            &format!("a {flag} <b2>"),
            &format!("a {flag} {}1", "a".repeat(256)),
            &format!("a {flag} $B2"),
        ]);
    }
    assert_stays(&[
        &format!("-password {TOKEN}"),
        &format!("--passwords {TOKEN}"),
        &format!("- -password {TOKEN}"),
    ]);
    assert_hidden(
        "password",
        &[
            &format!("----password «{TOKEN}»"),
            &format!("---password «{TOKEN}»"),
            &format!("x--password «{TOKEN}»"),
            &format!("a --password «{TOKEN}» --password «{TOKEN}»"),
            &format!("--{}password «{TOKEN}»", "n".repeat(55)),
        ],
    );
    assert_stays(&[&format!("--{}password {TOKEN}", "n".repeat(56))]);
    assert_stays(&[&format!("--{}password {TOKEN}", "n".repeat(80))]);
    assert_hidden(
        "password",
        &[&format!("--{}--password «{TOKEN}»", "n".repeat(80))],
    );
}

#[test]
fn the_text_of_an_element_is_hidden() {
    assert_hidden(
        "password",
        &[
            "<password>«swordfish»</password>",
            "<user><password>«swordfish»</password><a>b</a></user>",
            "<password>«sword fish»</password>",
            "<password>«swordfish»</password> <password>«swordfish»</password>",
        ],
    );
    // What no longer fits into what a stream holds back.
    for value in ["sword\nfish", &"a ".repeat(511)] {
        let text = format!("<password>{value}</password>");
        let redacted = "<password>[REDACTED:password]</password>";
        assert_eq!(plain().redact(&text), redacted);
    }
    assert_hidden(
        "token",
        &[
            &format!("<session>«{BODY}»</session>"),
            "<access_token>«a b»</access_token>",
        ],
    );
    assert_stays(&[
        "<password></password>",
        "<password>none</password>",
        "<password>******</password>",
        "<password>${PASSWORD}</password>",
        "<a>swordfish</a>",
        "swordfish</password>",
        "<a>swordfish</passwords>",
        &format!("<password>{}</password>", "a ".repeat(512)),
        "<authorization>swordfish</authorization>",
    ]);
}

#[test]
fn a_header_may_be_a_pair() {
    assert_hidden(
        "key",
        &[
            "('x-api-key', '«swordfish»')",
            "[\"x-api-key\", \"«swordfish»\"]",
            "(b'x-api-key', b'«swordfish»')",
            "[('a', 'b'), ('x-api-key', '«sword fish»')]",
            &format!("('{}-api-key', '«swordfish»')", "n".repeat(50)),
        ],
    );
    assert_becomes(&[
        (
            "('Authorization', 'Bearer Q7wE9rT2')",
            "('Authorization', 'Bearer [REDACTED:bearer token]')",
        ),
        (
            "[b'authorization', b'Basic Q7wE9rT2']",
            "[b'authorization', b'Basic [REDACTED:basic credentials]']",
        ),
        (
            "('Authorization', 'swordfish')",
            "('Authorization', '[REDACTED:credentials]')",
        ),
    ]);
    assert_stays(&[
        "('token', 'swordfish')",
        "('x-api-key', swordfish)",
        "('x-api-key', '')",
        "('x-api-key', '<key>')",
        "'x-api-key', 'swordfish'",
        "(a'x-api-key', 'swordfish')",
        "f('a x-api-key', 'swordfish')"
            .replace("a x-api-key", "a-key")
            .as_str(),
        "('x-api-key','swordfish')",
        "('x-api-key\", 'swordfish')",
        "(b\"session-id\", b\"Q7wE9rT2yU4iO6pA\")",
        "('my-session', 'Q7wE9rT2yU4iO6pA')",
    ]);
}
