//! Names that say secret, and which kind of it.

use super::{BODY, assert_hidden, assert_stays};

#[test]
fn each_name_tells_the_kind_of_its_value() {
    for (kind, names) in [
        (
            "password",
            &[
                "password",
                "passwd",
                "passphrase",
                "passcode",
                "pwd",
                "password_hash",
                "userPassword",
                "DB_PASSWORD",
                "pass-word",
                "db.password",
                "mail_pass",
                "smtp-pass",
                "dbPass",
                "x.pass",
                "pw",
                "pw1",
                "PW_BASE",
                "db-pw",
                "dbPw",
            ][..],
        ),
        (
            "secret",
            &["secret", "clientSecret", "client_secret", "APP-SECRET"],
        ),
        (
            "token",
            &[
                "token",
                "accessToken",
                "refresh_token",
                "x-csrf-token",
                "authToken",
                "2token",
            ],
        ),
        (
            "key",
            &[
                "api_key",
                "apikey",
                "apiKey",
                "secret_key",
                "private-key",
                "accessKey",
                "account_key",
                "signing.key",
                "encryption_key",
                "master_key",
                "subscription-key",
                "session_key",
                "auth_key",
            ],
        ),
        (
            "credentials",
            &["credential", "credentials", "AWS_CREDENTIALS"],
        ),
        ("signature", &["X-Amz-Signature", "x_goog_signature"]),
    ] {
        for name in names {
            assert_hidden(
                kind,
                &[
                    &format!("{name}=«swordfish»"),
                    &format!("{name}: «swordfish»\n"),
                ],
            );
        }
    }
}

#[test]
fn weak_names_hide_what_looks_drawn_at_random_only() {
    for (kind, names) in [
        (
            "token",
            &[
                "auth",
                "bearer",
                "jwt",
                "session",
                "sessionid",
                "SESSIONID",
                "sid",
                "user_session",
                "x-auth",
            ][..],
        ),
        (
            "key",
            &[
                "openai_key",
                "AZURE-KEY",
                "awsKey",
                "deploy_key",
                "my_ssh_key",
                "hostKey",
                "license.key",
            ],
        ),
    ] {
        for name in names {
            assert_hidden(
                kind,
                &[
                    &format!("{name}=«Q7wE9rT2yU4iO6pA»"),
                    &format!("{name}: \"«Q7wE9rT2yU4iO6pA»\""),
                    &format!("{name}=«{BODY}» b"),
                    &format!("{name}=\"«{} b»\"", BODY.repeat(8)),
                ],
            );
            assert_stays(&[
                &format!("{name}=Q7wE9rT2yU4iO6p"),
                &format!("{name}=swordfishswordfish"),
                &format!("{name}: \"Q7wE9rT2yU4i O6pA\""),
                &format!("{name}=self.Q7wE9rT2yU4iO6pA"),
                &format!("{name}={{Q7wE9rT2yU4iO6pA}}"),
            ]);
        }
    }
}

#[test]
fn other_names_say_nothing() {
    for name in [
        "pass",
        "bypass",
        "compass",
        "key",
        "monkey",
        "monkeys",
        "session_id",
        "session-id",
        "sessionId",
        "sessions",
        "author",
        "authors",
        "tokens",
        "token_count",
        "passwords",
        "secrets",
        "keys",
        "sig",
        "code",
        "signature",
        "ocean",
        "keyboard",
        "my_key",
        "bearers",
        "oauth",
        "assid",
        "jwts",
        "tokenid",
        "next_token",
        "nextPageToken",
        "page_token",
        "continuation-token",
        "stop_token",
        "eos_token",
        "bos_token",
        "pad_token",
        "unk_token",
        "sep_token",
        "cls_token",
        "mask_token",
        "special_token",
        "per_token",
        "max_token",
        "min_token",
        "start_token",
        "end_token",
        "first_token",
        "last_token",
        "input_token",
        "output_token",
        "prompt_token",
        "completion_token",
        "cached_token",
        "reasoning_token",
        "total_token",
        "each token",
        "cancellationToken",
        "sync_token",
        "unexpected_token",
        "invalid_token",
        "cancel_token",
    ] {
        if name.contains(' ') {
            continue;
        }
        assert_stays(&[
            &format!("{name}={BODY}"),
            &format!("{name}: \"{BODY}\""),
            &format!("{name} = {BODY}"),
        ]);
    }
}

#[test]
fn short_names_say_secret_in_the_query_of_an_address() {
    for name in ["sig", "key", "code", "signature"] {
        assert_hidden(
            "key",
            &[
                &format!("/b?{name}=«{BODY}»&c=d"),
                &format!("/b?c=d&{name}=«{BODY}»"),
            ],
        );
        assert_stays(&[
            &format!("/b?x{name}={BODY}"),
            &format!("/b?x_{name}=swordfish"),
            &format!("b;{name}={BODY}"),
        ]);
    }
}

#[test]
fn a_name_has_at_most_64_characters_that_count() {
    for length in [50, 56, 57, 70, 200] {
        assert_hidden(
            "password",
            &[&format!("{}_password=«swordfish»", "n".repeat(length))],
        );
        assert_hidden(
            "password",
            &[&format!("{}.pass=«swordfish»", "n".repeat(length))],
        );
    }
    let dashes = "-".repeat(40);
    assert_hidden("password", &[&format!("pass{dashes}word=«swordfish»")]);
    let dashes = "-".repeat(57);
    assert_stays(&[&format!("pass{dashes}word=swordfish")]);
}
