//! Secrets that are known by the name in front of them, and passwords in addresses.

use super::{BODY, assert_redacted, assert_unchanged, plain};

#[test]
fn values_are_known_by_their_names() {
    for text in [
        format!("password: {BODY}"),
        format!("PASSWORD={BODY}"),
        format!("password = \"{BODY}\""),
        format!("{{\"api_key\": \"{BODY}\"}}"),
        format!("{{'api_key': '{BODY}'}}"),
        format!("{{\\\"apiKey\\\":\\\"{BODY}\\\"}}"),
        format!("x-api-key: {BODY}"),
        format!("api-key: {BODY}"),
        format!("Ocp-Apim-Subscription-Key: {BODY}"),
        format!("OPENAI_API_KEY={BODY} python a.py"),
        format!("export AWS_SECRET_ACCESS_KEY={BODY}"),
        format!("Config(name='a', api_key='{BODY}', n=3)"),
        format!("https://a.b/c?x=1&access_token={BODY}&y=2"),
        format!("https://a.b/c?key={BODY}"),
        format!("https://a.b/c?sig={BODY}&se=2"),
        format!("Server=a;Password={BODY};Database=b"),
        format!("AccountName=a;AccountKey={BODY}==;EndpointSuffix=b"),
        format!("--api-key {BODY} --x"),
        format!("--password={BODY}"),
        format!("<password>{BODY}</password>"),
        format!("Cookie: session={BODY}; theme=dark"),
        format!("Set-Cookie: sid={BODY}; HttpOnly"),
        format!("client_secret => '{BODY}'"),
        format!("[('x-api-key', '{BODY}')]"),
        format!("\\napi_key={BODY}\\n"),
        format!("//registry.npmjs.org/:_authToken={BODY}"),
        format!("refreshToken: {BODY}"),
        format!("&quot;api_key&quot;: &quot;{BODY}&quot;"),
    ] {
        assert_redacted(&text, BODY);
    }
    assert_redacted(
        "{\"password\": \"correct horse battery\"}",
        "correct horse battery",
    );
    assert_redacted("password=swordfish", "swordfish");
    assert_redacted("user: bob\npassword: swordfish\n", "swordfish");
    assert_redacted("password: p@ss,w0rd;1!)x", "p@ss,w0rd;1!)x");
}

#[test]
fn what_stands_beside_a_secret_stays() {
    for (text, redacted) in [
        (
            "https://a.b/c?token=Q7wE9rT2&y=2",
            "https://a.b/c?token=[REDACTED:token]&y=2",
        ),
        (
            "Server=a;Pwd=Q7wE9rT2;Database=b",
            "Server=a;Pwd=[REDACTED:password];Database=b",
        ),
        (
            "f(password='Q7wE9rT2', n=1)",
            "f(password='[REDACTED:password]', n=1)",
        ),
        (
            "{token: Q7wE9rT2yU, n: 1}",
            "{token: [REDACTED:token], n: 1}",
        ),
        (
            "postgres://bob:Q7wE9rT2@db:5432/x",
            "postgres://bob:[REDACTED:password]@db:5432/x",
        ),
        (
            "curl -H 'X-Api-Key: Q7wE9rT2' a",
            "curl -H 'X-Api-Key: [REDACTED:key]' a",
        ),
        (
            "Authorization: Bearer Q7wE9rT2\nHost: a",
            "Authorization: Bearer [REDACTED:bearer token]\nHost: a",
        ),
    ] {
        assert_eq!(plain().redact(text), redacted);
        assert_eq!(plain().redact(redacted), redacted);
    }
}

#[test]
fn passwords_in_addresses_are_found() {
    for address in [
        format!("https://user:{BODY}@host/path"),
        format!("https://user:{BODY}@host:80/path?q=1"),
        format!("redis://:{BODY}@host:6379/0"),
        format!("postgresql+asyncpg://user:{BODY}@host/db"),
        format!("https://{BODY}@github.com/a/b.git"),
        format!("postgres://user:{BODY}/x@host/db"),
        format!("mongodb+srv://user:{BODY}%40@host"),
    ] {
        assert_redacted(&format!("connect to {address} failed"), BODY);
    }
    for address in [
        "https://host:8080/path@x",
        "ssh://git@github.com/a/b.git",
        "https://user:${PASSWORD}@host",
        "https://<user>:<password>@host",
        "https://a.b/c",
    ] {
        assert_unchanged(&format!("connect to {address} failed"));
    }
}

#[test]
fn values_under_secret_keys_become_marks() {
    let redactor = plain();
    assert_eq!(
        redactor.redact_field("apiKey", "x1").as_deref(),
        Some("[REDACTED:key]")
    );
    assert_eq!(redactor.redact_field("password", "string"), None);
    assert_eq!(
        redactor.redact_field("prompt_tokens", "Q7wE9rT2yU4iO6pA"),
        None
    );
}
