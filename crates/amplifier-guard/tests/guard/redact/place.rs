//! Where a key may begin, and what is known by more than a prefix: web tokens, AWS secrets.

use super::{BODY, assert_becomes, assert_hidden, assert_stays};

#[test]
fn a_key_begins_at_a_word_or_behind_an_escape() {
    let key = format!("sk-{BODY}");
    for before in [
        "",
        " ",
        "/",
        "=",
        "_",
        "-",
        ".",
        "+",
        "\\n",
        "\\t",
        "\\r",
        "\\b",
        "\\f",
        "%3D",
        "%aF",
        "\\x3d",
        "\\u003d",
        "\\u00aF",
        "\x1b[m",
        "\x1b[0m",
        "\x1b[1;31m",
        "\x1b[38;5;123m",
        "\x1b[",
        "a\\n",
        "aa-",
        "é",
        "123 ",
        "a=b%3D",
        "x\\u003d",
        "\x1b[000000000000m",
    ] {
        assert_hidden(
            "api key",
            &[&format!("{before}«{key}» b"), &format!("a {before}«{key}»")],
        );
    }
    for before in [
        "a",
        "Z",
        "9",
        "\\q",
        "\\a",
        "%3",
        "%3g",
        "%g3",
        "\\x3",
        "\\xg3",
        "\\x3g",
        "\\u03d",
        "\\ug03d",
        "\\u003g",
        "\x1bm",
        "\x1b[1",
        "[0m",
        "[1;31m",
        "\x1b[0am",
        "\x1b[0K",
        "x0",
        "\x1b[0000000000000000m",
        ";1m",
    ] {
        assert_stays(&[&format!("{before}{key} b"), &format!("a {before}{key}")]);
    }
}

#[test]
fn keys_are_found_at_every_place_of_a_run() {
    for before in 0..20 {
        let before = "ab-".repeat(before);
        assert_hidden("npm token", &[&format!("{before}«npm_{}»", &BODY[..20])]);
    }
    let key = format!("npm_{}", &BODY[..20]);
    assert_becomes(&[
        (
            &format!("{key}-{key}"),
            "[REDACTED:npm token]-[REDACTED:npm token]",
        ),
        (
            &format!("{key} {key},"),
            "[REDACTED:npm token] [REDACTED:npm token],",
        ),
        (
            &format!("\\n{key}=\\n{key}"),
            "\\n[REDACTED:npm token]=\\n[REDACTED:npm token]",
        ),
    ]);
}

#[test]
fn a_web_token_has_a_header_and_the_beginning_of_a_payload() {
    let header = format!("eyJ{}", "a".repeat(7));
    assert_hidden(
        "json web token",
        &[
            &format!("a «{header}.bbbbbbbb» c"),
            &format!("«{header}.bbbbbbbb.c».").replace("».", "»."),
            &format!("«{header}.bbbbbbbb.c-_»"),
            &format!("«{header}.bbbbbbbb.c.d.e» f"),
            &format!("«{header}.bbbbbbbb»..c"),
            &format!("«{header}.bbbbbbbb.c».. f"),
            &format!("«eyJ{}.bbbbbbbb»", "a".repeat(1021)),
        ],
    );
    assert_stays(&[
        &format!("{}.bbbbbbbb.c", &header[..9]),
        &format!("a b c d {}.bbbbbbbb.c", &header[..9]),
        &format!("{header}.bbbbbbb.cccccccccc"),
        &format!("{header}bbbbbbbbbb"),
        &format!("{header}/bbbbbbbb"),
        &format!("x{header}.bbbbbbbb"),
        &format!("eyJ{}.bbbbbbbb", "a".repeat(1022)),
        &format!("eyj{}.bbbbbbbb", "a".repeat(7)),
    ]);
}

#[test]
fn the_secret_of_an_aws_key_stands_shortly_after_its_id() {
    let secret = "Q7wE9rT2yU4iO6pA/8sD1fG3hJ5kL0zXcVb+nM2q";
    let id = |prefix: &str| format!("{prefix}{}", "Q7WE9RT2YU4IO6PA");
    for prefix in ["AKIA", "ASIA"] {
        for between in [" ", "\n", ", ", "\",\"", &" ".repeat(76)] {
            let text = format!("{}{between}{secret} b", id(prefix));
            let redacted = format!("[REDACTED:aws key id]{between}[REDACTED:aws secret] b");
            assert_becomes(&[(&text, &redacted)]);
        }
    }
    let hidden = "[REDACTED:aws key id]";
    for (between, secret) in [
        (" ".repeat(77), secret.to_string()),
        (" ".to_string(), secret[1..].to_string()),
        (" ".to_string(), format!("{secret}A")),
        (" ".to_string(), secret.replace('+', "-")),
        (" ".to_string(), secret.replace('+', "_")),
        (" ".to_string(), secret.replace('+', ".")),
        (" ".to_string(), secret.replace('+', "=")),
        (" ".to_string(), "a".repeat(40)),
    ] {
        let text = format!("{}{between}{secret}", id("AKIA"));
        assert_becomes(&[(&text, &format!("{hidden}{between}{secret}"))]);
    }
    assert_becomes(&[(
        &format!("{} =={secret}", id("AKIA")),
        &format!("{hidden} ==[REDACTED:aws secret]"),
    )]);
    assert_stays(&[
        &format!("a {secret}"),
        &format!("AKIA {secret}"),
        &format!("AKIA is what ids begin with: {secret}"),
        &format!("{} {secret}", id("ABIA").replace("ABIA", "AKIB")),
    ]);
}

#[test]
fn passwords_are_known_in_password_files() {
    assert_hidden(
        "password",
        &[
            "localhost:5432:shop:ada:«swordfish»",
            "# host:port:database:user:password\n*:*:*:ada:«swordfish»\n*:5433:*:*:«a b:c»\nend",
            "10.0.0.1:*:shop:ada:«sword\\:fish»\r\n",
            "\\:\\:1:5432:sh\\:op:ada:«swordfish»\n",
            "/run/postgresql:5432:shop:ada:«swordfish»\n",
            "echo 'db.example:5439:shop:ada:«swordfish»' >> ~/.pgpass",
            "echo db.example:5432:*:ada:«swordfish» >> ~/.pgpass",
        ],
    );
    assert_stays(&[
        "localhost:5432:shop:ada:password\n",
        "localhost:5432:shop:ada:$PGPASSWORD\n",
        "a.py:5432: error: a: b",
        "127.0.0.1:5432:5432",
        "a b:5432:c d:e:f",
        "12:54:32:543:a:b:c",
        "a:*:b:c",
    ]);
}
