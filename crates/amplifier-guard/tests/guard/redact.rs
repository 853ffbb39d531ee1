//! Secrets are taken out of text whole, in any encoding and any chunks; other text stays as it is.

use amplifier_guard::{Redactor, RedactorStream, SecretTooShort, hide_homes, shorten};
use proptest::prelude::*;

/// A made-up secret of random-looking characters, in pieces, so that no scanner takes it for real.
const BODY: &str = "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb";

fn plain() -> Redactor {
    Redactor::new::<&str>([]).unwrap()
}

/// The redactor of a stream, which owns it.
struct Owned(Redactor);

impl AsRef<Redactor> for Owned {
    fn as_ref(&self) -> &Redactor {
        &self.0
    }
}

fn streamed(secrets: &[String], chunks: &[&[u8]]) -> Vec<u8> {
    let mut stream = RedactorStream::new(Owned(Redactor::new(secrets).unwrap()));
    let mut out: Vec<u8> = chunks.iter().flat_map(|chunk| stream.feed(chunk)).collect();
    out.extend(stream.flush());
    out
}

/// The text cut at the places, each anywhere in it.
fn cut<'text>(text: &'text [u8], places: &[usize]) -> Vec<&'text [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .collect();
    places.sort_unstable();
    let starts = [0].into_iter().chain(places.clone());
    let ends = places.clone().into_iter().chain([text.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &text[start..end])
        .collect()
}

/// A part of eight characters of the secret that stands in the text.
fn part_of(secret: &str, text: &str) -> Option<String> {
    let characters: Vec<char> = secret.chars().collect();
    let length = characters.len().min(8);
    characters
        .windows(length)
        .map(|part| part.iter().collect::<String>())
        .find(|part| text.contains(part))
}

fn assert_redacted(text: &str, secret: &str) {
    let redacted = plain().redact(text).into_owned();
    assert_eq!(part_of(secret, &redacted), None, "{text} became {redacted}");
    assert!(redacted.contains("[REDACTED:"), "{text} became {redacted}");
    assert_eq!(plain().redact(&redacted), redacted, "redacted twice");
    for place in 0..=text.len() {
        let chunks = cut(text.as_bytes(), &[place]);
        let out = String::from_utf8(streamed(&[], &chunks)).unwrap();
        assert_eq!(out, redacted, "{text} cut at {place}");
    }
}

fn assert_unchanged(text: &str) {
    assert_eq!(plain().redact(text), text);
    for place in 0..=text.len() {
        let out = streamed(&[], &cut(text.as_bytes(), &[place]));
        assert_eq!(String::from_utf8_lossy(&out), text, "cut at {place}");
    }
}

#[test]
fn the_mark_names_the_kind_and_nothing_else() {
    let key = format!("sk-{}-api03-{BODY}", "ant");
    assert_eq!(
        plain().redact(&format!("key {key}, and again {key}.")),
        "key [REDACTED:anthropic key], and again [REDACTED:anthropic key]."
    );
    let known = Redactor::new(["correct horse"]).unwrap();
    assert_eq!(
        known.redact("a correct horse ran"),
        "a [REDACTED:secret] ran"
    );
}

#[test]
fn keys_of_vendors_are_known_by_their_shape() {
    for prefix in [
        "sk-ant-api03-",
        "sk-proj-",
        "sk-",
        "sk-or-v1-",
        "gsk_",
        "xai-",
        "hf_",
        "AIza",
        "ya29.a0",
        "GOCSPX-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_11AAAA_",
        "glpat-",
        "xoxb-123456789012-",
        "xapp-1-A0-",
        "sk_live_",
        "rk_test_",
        "whsec_",
        "npm_",
        "pypi-AgEIcHlwaS5vcmc",
        "dckr_pat_",
        "dop_v1_",
        "shpat_",
        "hvs.",
        "pplx-",
        "r8_",
        "nvapi-",
        "https://hooks.slack.com/services/T00/B00/",
    ] {
        let key = format!("{prefix}{BODY}");
        for text in [
            key.clone(),
            format!("a {key} b"),
            format!("\"{key}\""),
            format!("line\\n{key}\\nline"),
            format!("k%3D{key}%20"),
            format!("\x1b[1;31m{key}\x1b[0m"),
            format!("({key})."),
            format!("ключ:{key}…"),
        ] {
            assert_redacted(&text, BODY);
        }
    }
    assert_redacted(&format!("SG.{}.{BODY}", &BODY[..22]), BODY);
    assert_redacted(
        &format!("id {}{}", "AKIA", "Q7WE9RT2YU4IO6PA"),
        "Q7WE9RT2YU4IO6PA",
    );
    assert_redacted(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.Q7wE9rT2yU4i",
        "Q7wE9rT2yU4i",
    );
    let digits = "0f9e8d7c6b5a49382716f5e4d3c2b1a0";
    assert_redacted(&format!("key-{digits}"), digits);
    assert_redacted(&format!("EAAA{BODY}{BODY}"), BODY);
    assert_redacted("cut off: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJm", "eyJzdWIiOiJm");
}

#[test]
fn the_secret_of_an_aws_key_is_known_by_the_id_before_it() {
    let id = format!("{}{}", "AKIA", "Q7WE9RT2YU4IO6PA");
    let secret = "Q7wE9rT2yU4iO6pA/8sD1fG3hJ5kL0zXcVb+nM2q";
    assert_redacted(&format!("{id}:{secret}"), secret);
    assert_redacted(&format!("{id}\n{secret}\n"), secret);
    assert_unchanged(&format!("digest {secret}"));
}

#[test]
fn credentials_are_known_by_their_scheme() {
    let basic = "ZmFrZTpmYWtlcGFzc3dvcmQ=";
    for text in [
        format!("Authorization: Basic {basic}"),
        format!("authorization: basic {basic}"),
        format!("sent Basic {basic} to"),
        format!("curl -H 'Authorization: Basic {basic}' https://a.b/c"),
        format!("{{\"Authorization\": \"Basic {basic}\"}}"),
        format!("{{\\\"authorization\\\": \\\"Basic {basic}\\\"}}"),
        format!("[(b'authorization', b'Basic {basic}')]"),
        format!("Proxy-Authorization: Basic {basic}\r\nHost: a"),
    ] {
        assert_redacted(&text, basic);
    }
    for text in [
        format!("Authorization: Bearer {BODY}"),
        format!("used bearer {BODY} there"),
        format!("Authorization: token {BODY}"),
        format!("Authorization: {BODY}"),
        format!("Authorization: Digest username=\"a\", response=\"{BODY}\""),
        format!("Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature={BODY}"),
        format!("Authorization=Bearer+{BODY}"),
    ] {
        assert_redacted(&text, BODY);
    }
}

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
fn private_keys_are_found_whole_escaped_and_cut_off() {
    let lines = format!("{BODY}{}\n{BODY}+/\n{BODY}=", &BODY[..30]);
    let (begin, end) = ("-----BEGIN RSA PRIVATE", "-----END RSA PRIVATE");
    let block = format!("{begin} KEY-----\n{lines}\n{end} KEY-----");
    assert_eq!(
        plain().redact(&format!("a\n{block}\nb")),
        "a\n[REDACTED:private key]\nb"
    );
    for text in [
        block.clone(),
        block.replace('\n', "\\n"),
        block.replace('\n', "\\\\n"),
        block.replace('\n', "\r\n"),
        block.replace('\n', "\n    "),
        block.replace('\n', " "),
        format!("{begin} KEY-----\n{lines}"),
        format!(
            "{begin} KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n{lines}\n{end} KEY-----"
        ),
        format!(
            "key = \"{begin} KEY-----\\n{}\"",
            lines.replace('\n', "\\n")
        ),
        format!("{begin} KEY-----\n{lines}\n{end}"),
    ] {
        assert_redacted(&text, &format!("{BODY}{}", &BODY[..30]));
        assert_redacted(&text, BODY);
    }
    assert_eq!(
        plain().redact(&format!(
            "{begin} KEY-----\n{BODY}{BODY}\nThat was the key."
        )),
        "[REDACTED:private key]\nThat was the key."
    );
    for label in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"] {
        assert_unchanged(&format!(
            "-----BEGIN {label}-----\nMIIB\n-----END {label}-----"
        ));
    }
}

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
fn secrets_that_cannot_be_looked_for_are_refused() {
    let refused = Redactor::new(["long enough", " ab "]).err().unwrap();
    assert_eq!(refused, SecretTooShort { place: 1, bytes: 2 });
    assert!(!refused.to_string().contains("ab "));
    assert_eq!(Redactor::new(["", " "]).unwrap().redact("a b"), "a b");
}

#[test]
fn short_secrets_are_found_as_a_whole() {
    let redactor = Redactor::new(["hunter2", "ключ"]).unwrap();
    assert_eq!(redactor.redact("a hunter2 b"), "a [REDACTED:secret] b");
    assert_eq!(redactor.redact("a hunter b"), "a hunter b");
    assert_eq!(redactor.redact("мой ключ."), "мой [REDACTED:secret].");
    assert_eq!(redactor.redact("мой клю."), "мой клю.");
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

#[test]
fn homes_are_hidden_wherever_they_stand() {
    for (text, hidden) in [
        ("open /home/ada/a.py and /home/bob/b", "open ~/a.py and ~/b"),
        ("/Users/Ádám/x", "~/x"),
        ("PATH=/home/a/bin:/home/b/bin", "PATH=~/bin:~/bin"),
        ("C:\\Users\\ada\\x and c:\\\\Users\\\\ada", "~\\x and ~"),
        ("file:///home/ada/x", "file://~/x"),
        ("/root/x /root", "~/x ~"),
        (
            "/home/ /rooted /srv/home/x https://a.b/home/x",
            "/home/ /rooted /srv/home/x https://a.b/home/x",
        ),
    ] {
        assert_eq!(hide_homes(text), hidden);
    }
}

#[test]
fn lines_are_cut_between_characters() {
    assert_eq!(shorten("naïve", 5), "naïve");
    assert_eq!(shorten("naïve!", 5), "naïv…");
    assert_eq!(shorten("ééé", 0), "");
}

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
            "" => assert_eq!(given + end.len(), text.len()),
            _ => assert_eq!((marks, end.as_slice()), (1, b"".as_slice())),
        }
    }
}

/// How a secret may be written.
#[derive(Clone, Debug)]
enum Writing {
    Plain,
    Base64 { before: usize, is_url: bool },
    Hex { is_upper: bool },
    Percent { mask: u64, is_lower: bool },
    Json { mask: u64 },
    Entities { mask: u64 },
    PercentOfBase64,
    JsonOfPercent { mask: u64 },
}

fn writing() -> impl Strategy<Value = Writing> {
    prop_oneof![
        Just(Writing::Plain),
        (0..3_usize, any::<bool>()).prop_map(|(before, is_url)| Writing::Base64 { before, is_url }),
        any::<bool>().prop_map(|is_upper| Writing::Hex { is_upper }),
        (any::<u64>(), any::<bool>())
            .prop_map(|(mask, is_lower)| Writing::Percent { mask, is_lower }),
        any::<u64>().prop_map(|mask| Writing::Json { mask }),
        any::<u64>().prop_map(|mask| Writing::Entities { mask }),
        Just(Writing::PercentOfBase64),
        any::<u64>().prop_map(|mask| Writing::JsonOfPercent { mask }),
    ]
}

fn base64(bytes: &[u8], is_url: bool) -> String {
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(if is_url { ['-', '_'] } else { ['+', '/'] })
        .collect();
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, place| {
            bits << 8 | usize::from(three.get(place).copied().unwrap_or(0))
        });
        for place in 0..=three.len() {
            text.push(alphabet[bits >> (18 - 6 * place) & 63]);
        }
    }
    text
}

fn is_chosen(mask: u64, place: usize) -> bool {
    mask >> (place % 64) & 1 == 1
}

fn percent(text: &str, mask: u64, is_lower: bool) -> String {
    let bytes = text.bytes().enumerate();
    bytes
        .map(|(place, byte)| {
            match (
                is_chosen(mask, place) || byte == b'%' || !byte.is_ascii(),
                is_lower,
            ) {
                (false, _) => char::from(byte).to_string(),
                (true, true) => format!("%{byte:02x}"),
                (true, false) => format!("%{byte:02X}"),
            }
        })
        .collect()
}

fn json(text: &str, mask: u64) -> String {
    let characters = text.chars().enumerate();
    characters
        .map(|(place, character)| match character {
            '"' | '\\' => format!("\\{character}"),
            '/' if is_chosen(mask, place) => "\\/".to_string(),
            _ if is_chosen(mask, place) => {
                let mut units = [0; 2];
                let units = character.encode_utf16(&mut units);
                units
                    .iter()
                    .map(|unit| format!("\\u{unit:04x}"))
                    .collect::<Vec<_>>()
                    .concat()
            }
            _ => character.to_string(),
        })
        .collect()
}

fn written(secret: &str, writing: &Writing) -> String {
    match *writing {
        Writing::Plain => secret.to_string(),
        Writing::Base64 { before, is_url } => {
            base64(format!("{}{secret}:b", &"ab"[..before]).as_bytes(), is_url)
        }
        Writing::Hex { is_upper } => secret
            .bytes()
            .map(|byte| {
                if is_upper {
                    format!("{byte:02X}")
                } else {
                    format!("{byte:02x}")
                }
            })
            .collect(),
        Writing::Percent { mask, is_lower } => percent(secret, mask, is_lower),
        Writing::Json { mask } => json(secret, mask),
        Writing::Entities { mask } => {
            let characters = secret.chars().enumerate();
            characters
                .map(|(place, character)| match character {
                    '&' => "&amp;".to_string(),
                    _ if is_chosen(mask, place) => format!("&#{};", u32::from(character)),
                    _ if is_chosen(mask, place + 1) => format!("&#x{:x};", u32::from(character)),
                    _ => character.to_string(),
                })
                .collect()
        }
        Writing::PercentOfBase64 => percent(&base64(secret.as_bytes(), false), 0x8421_8421, false),
        Writing::JsonOfPercent { mask } => json(&percent(secret, mask, true), !mask),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_part_of_a_known_secret_survives_in_any_encoding_and_chunks(
        secret in "[!-~é§]{8,40}|[A-Za-z0-9+/_-]{8,60}",
        before in "[ -~éß\n]{0,30}",
        after in "[ -~éß\n]{0,30}",
        writing in writing(),
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = Redactor::new([&secret]).unwrap();
        let form = written(&secret, &writing);
        let text = format!("{before}{form}{after}");
        let redacted = redactor.redact(&text).into_owned();
        let out = streamed(std::slice::from_ref(&secret), &cut(text.as_bytes(), &places));
        let out = String::from_utf8(out).unwrap();
        for found in [&redacted, &out] {
            // What the marks say of themselves is no part of a secret.
            let bare = found.replace("[REDACTED:", "\u{0}");
            prop_assert_eq!(part_of(&secret, &bare), None, "{} became {}", text, found);
            prop_assert_eq!(part_of(&form, &bare), None, "{} became {}", text, found);
        }
    }

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

    #[test]
    fn redaction_is_idempotent(
        text in "([a-z :=\"'-]{0,6}(password|token|Bearer |Basic |://a:|sk-ant-|--BEGIN |; )?[ -~\n]{0,12}){0,6}",
    ) {
        let once = plain().redact(&text).into_owned();
        prop_assert_eq!(plain().redact(&once), once.clone(), "{}", text);
    }

    #[test]
    fn no_bytes_are_too_strange(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = Redactor::new([BODY]).unwrap();
        let whole = redactor.redact_bytes(&bytes).into_owned();
        if std::str::from_utf8(&bytes).is_ok() {
            prop_assert!(String::from_utf8(whole).is_ok());
        }
        streamed(&[BODY.to_string()], &cut(&bytes, &places));
    }

    #[test]
    fn prose_stays_as_it_is(text in "([A-Za-zäé]{1,10}[ ,.!?\n]{1,2}){0,40}") {
        let redactor = Redactor::new([BODY]).unwrap();
        prop_assert_eq!(redactor.redact(&text), text.as_str());
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
