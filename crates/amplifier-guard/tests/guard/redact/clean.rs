//! Text that only looks as if it held a secret.

use super::{BODY, assert_unchanged};
use amplifier_guard::Redactor;
use proptest::prelude::*;

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "sk-learn is a library",
        "sk-",
        "sk-...",
        "sk-ant-...",
        "risk-management-and-mitigation-1",
        "sk-learn-contrib-projects-2-stable",
        "ghp_ is the prefix",
        "AKIA is how ids begin",
        "cache-key-0f9e8d7c6b5a49382716f5e4d3c2b1a0",
        "key-0f9e8d7c6b5a49382716f5e4d3c2b1a0f9",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "toolu_01A09q90qw90lq917835lq9",
        "call_abc123DEF456ghi789JKL012",
        "req_011CSHoEeqs5C35K2UUqR7Fy",
        "prompt_tokens=12 completion_tokens=34",
        "token_count=5",
        "max_tokens: 4096",
        "tokenizer: cl100k_base",
        "\"next_page_token\": \"Q7wE9rT2yU4iO6pA\"",
        "api_key is missing",
        "Authorization header not set",
        "secret santa list",
        "the password is wrong",
        "password: must be eight characters",
        "password: required",
        "api_key=<YOUR_KEY>",
        "api_key=<your key>",
        "api_key=${API_KEY}",
        "token=$TOKEN",
        "password=xxxxxxxx",
        "password: ********",
        "api_key=None",
        "api_key: str | None = None",
        "api_key: Optional[str] = None",
        "token = get_token(name)",
        "api_key=os.environ[\"X\"]",
        "self.token = self.tokens[0]",
        "password = getpass.getpass()",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "\"password\": {\"type\": \"string\"}",
        "{\"password\": \"\", \"token\": null}",
        "if token == 'a': pass",
        "PWD=/home/ada/project",
        "Authorization: required",
        "Bearer authentication-of-requests is used",
        "basic instructions",
        "Basic understanding/knowledge",
        "cookie: a delicious one",
        "secret::Secret::new()",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFAKE user@host",
        "\"signature\": \"EqQBCkYIBxgCKkBQ7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb==\"",
        "keyboard: qwerty",
        "monkey: Q7wE9rT2yU4iO6pA",
        "https://a.b/c?monkey=Q7wE9rT2yU4iO6pA",
        "[REDACTED:password]",
        "password=[REDACTED:password]",
        "пароль — секрет, Ключ: да",
        "--password is required",
        "--token <TOKEN>",
        "--secret --x",
    ] {
        assert_unchanged(text);
    }
}

#[test]
fn long_runs_of_what_is_nearly_a_secret_end_and_stay() {
    let redactor = Redactor::new([BODY]).unwrap();
    for part in [
        "sk-",
        "eyJ-",
        "a",
        "=",
        "session=",
        "://a",
        "%25",
        "\\",
        "&#x",
        "-----BEGIN ",
    ] {
        let text = part.repeat(100_000 / part.len());
        assert_eq!(redactor.redact(&text), text);
    }
}

proptest! {
    #[test]
    fn prose_stays_as_it_is(text in "([A-Za-zäé]{1,10}[ ,.!?\n]{1,2}){0,40}") {
        let redactor = Redactor::new([BODY]).unwrap();
        prop_assert_eq!(redactor.redact(&text), text.as_str());
    }
}
