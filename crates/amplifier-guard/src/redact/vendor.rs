//! Keys and tokens that are known by their shape: a vendor's prefix, or a scheme before them.

use super::runs::Runs;
use super::{Span, Until};

/// The characters of a key after its prefix.
#[derive(Clone, Copy)]
enum Body {
    /// Letters and digits.
    Letters,
    /// Capital letters and digits, an exact number of them.
    Capitals,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`; in one stretch of at least twelve, a digit or both cases.
    Dashed,
    /// As `Dashed`, and `.`.
    Dotted,
    /// As `Dotted`, and `/`.
    Path,
}

impl Body {
    fn holds(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Letters | Self::Capitals => false,
                Self::Word => byte == b'_',
                Self::Dashed => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.'),
                Self::Path => matches!(byte, b'_' | b'-' | b'.' | b'/'),
            }
    }
}

/// Prefix, kind, characters and fewest characters of the keys of each vendor.
const VENDORS: &[(&str, &str, Body, usize)] = &[
    ("sk-ant-", "anthropic key", Body::Dashed, 16),
    ("sk-proj-", "openai key", Body::Dashed, 16),
    ("sk-svcacct-", "openai key", Body::Dashed, 16),
    ("sk-admin-", "openai key", Body::Dashed, 16),
    ("sk-or-", "openrouter key", Body::Dashed, 16),
    ("sk-", "api key", Body::Dashed, 16),
    ("csk-", "cerebras key", Body::Dashed, 16),
    ("gsk_", "groq key", Body::Word, 20),
    ("xai-", "xai key", Body::Dashed, 20),
    ("pplx-", "perplexity key", Body::Dashed, 20),
    ("fw_", "fireworks key", Body::Letters, 20),
    ("tgp_v1_", "together key", Body::Dashed, 20),
    ("nvapi-", "nvidia key", Body::Dashed, 20),
    ("tvly-", "tavily key", Body::Dashed, 16),
    ("lsv2_", "langsmith key", Body::Word, 20),
    ("hf_", "hugging face token", Body::Letters, 20),
    ("api_org_", "hugging face token", Body::Letters, 20),
    ("r8_", "replicate token", Body::Letters, 20),
    ("AIza", "google key", Body::Dashed, 30),
    ("ya29.", "google token", Body::Dotted, 16),
    ("GOCSPX-", "google secret", Body::Dashed, 20),
    ("AKIA", "aws key id", Body::Capitals, 16),
    ("ASIA", "aws key id", Body::Capitals, 16),
    ("ABIA", "aws key id", Body::Capitals, 16),
    ("ACCA", "aws key id", Body::Capitals, 16),
    ("ghp_", "github token", Body::Letters, 20),
    ("gho_", "github token", Body::Letters, 20),
    ("ghu_", "github token", Body::Letters, 20),
    ("ghs_", "github token", Body::Letters, 20),
    ("ghr_", "github token", Body::Letters, 20),
    ("github_pat_", "github token", Body::Word, 20),
    ("glpat-", "gitlab token", Body::Dotted, 16),
    ("glptt-", "gitlab token", Body::Dashed, 16),
    ("gldt-", "gitlab token", Body::Dashed, 16),
    ("glrt-", "gitlab token", Body::Dotted, 16),
    ("glcbt-", "gitlab token", Body::Dashed, 16),
    ("gloas-", "gitlab token", Body::Dashed, 16),
    ("xoxa-", "slack token", Body::Dashed, 16),
    ("xoxb-", "slack token", Body::Dashed, 16),
    ("xoxc-", "slack token", Body::Dashed, 16),
    ("xoxd-", "slack token", Body::Dashed, 16),
    ("xoxe-", "slack token", Body::Dashed, 16),
    ("xoxe.", "slack token", Body::Dotted, 16),
    ("xoxp-", "slack token", Body::Dashed, 16),
    ("xoxr-", "slack token", Body::Dashed, 16),
    ("xoxs-", "slack token", Body::Dashed, 16),
    ("xapp-", "slack token", Body::Dashed, 16),
    ("hooks.slack.com/services/", "slack webhook", Body::Path, 20),
    (
        "discord.com/api/webhooks/",
        "discord webhook",
        Body::Path,
        20,
    ),
    ("sk_live_", "stripe key", Body::Letters, 16),
    ("sk_test_", "stripe key", Body::Letters, 16),
    ("rk_live_", "stripe key", Body::Letters, 16),
    ("rk_test_", "stripe key", Body::Letters, 16),
    ("whsec_", "stripe secret", Body::Letters, 16),
    ("SG.", "sendgrid key", Body::Dotted, 40),
    ("xkeysib-", "brevo key", Body::Dashed, 20),
    ("npm_", "npm token", Body::Letters, 20),
    ("pypi-", "pypi token", Body::Dashed, 16),
    ("rubygems_", "rubygems key", Body::Letters, 20),
    ("dckr_pat_", "docker token", Body::Dashed, 20),
    ("dop_v1_", "digitalocean token", Body::Letters, 20),
    ("doo_v1_", "digitalocean token", Body::Letters, 20),
    ("shpat_", "shopify token", Body::Letters, 20),
    ("shpss_", "shopify secret", Body::Letters, 20),
    ("shpca_", "shopify token", Body::Letters, 20),
    ("shppa_", "shopify token", Body::Letters, 20),
    ("hvs.", "vault token", Body::Dashed, 20),
    ("hvb.", "vault token", Body::Dashed, 20),
    ("dapi", "databricks token", Body::Letters, 32),
    ("PMAK-", "postman key", Body::Dashed, 20),
    ("lin_api_", "linear key", Body::Letters, 20),
    ("ntn_", "notion token", Body::Letters, 20),
    ("sntrys_", "sentry token", Body::Word, 20),
    ("sntryu_", "sentry token", Body::Word, 20),
    ("glsa_", "grafana token", Body::Word, 20),
    ("figd_", "figma token", Body::Dashed, 20),
    ("NRAK-", "new relic key", Body::Letters, 20),
    ("ATATT3", "atlassian token", Body::Dashed, 20),
    ("tskey-", "tailscale key", Body::Dashed, 16),
    ("sq0atp-", "square token", Body::Dashed, 20),
    ("sq0csp-", "square secret", Body::Dashed, 20),
    ("AGE-SECRET-KEY-1", "age key", Body::Letters, 20),
];

/// The kinds of all vendors' keys.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    VENDORS.iter().map(|(_, kind, _, _)| *kind)
}

/// Finds keys by their prefixes, and tokens behind `Bearer` and `Basic`.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    for (start, end) in Runs::new(text) {
        if let Some(kind) = scheme_before(text, start, end) {
            spans.push(Span {
                start,
                end,
                kind,
                until: Until::Word,
            });
        }
        if let Some(span) = aws_secret(text, start, end) {
            spans.push(span);
        }
        let mut place = start;
        while place < end {
            let found = if is_boundary(text, place) {
                key_at(text, place)
            } else {
                None
            };
            if let Some((key_end, kind)) = found {
                spans.push(Span {
                    start: place,
                    end: key_end,
                    kind,
                    until: Until::Word,
                });
                place = key_end;
            } else {
                place += 1;
            }
        }
    }
}

/// Whether a key may begin here: not inside a word, but after an escape that ends in a letter.
fn is_boundary(text: &[u8], place: usize) -> bool {
    let before = &text[..place];
    let Some(last) = before.last() else {
        return true;
    };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', one, two] | [.., b'\\', b'x', one, two] => hex(&[*one, *two]),
        [.., b'\\', b'u', one, two, three, four] => hex(&[*one, *two, *three, *four]),
        // The end of a terminal's colour.
        [.., b'0'..=b'9' | b'[', b'm'] => {
            let tail = &before[before.len().saturating_sub(16)..];
            let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
            let start = tail[..tail.len() - 1]
                .iter()
                .rposition(|byte| !digits(byte));
            start.is_some_and(|start| tail[..=start].ends_with(b"\x1b["))
        }
        _ => false,
    }
}

/// The end and the kind of the key that begins here.
fn key_at(text: &[u8], place: usize) -> Option<(usize, &'static str)> {
    let rest = &text[place..];
    if rest.starts_with(b"eyJ") {
        return Some((place + web_token(rest)?, "json web token"));
    }
    VENDORS.iter().find_map(|(prefix, kind, body, least)| {
        let after = rest.strip_prefix(prefix.as_bytes())?;
        // What is no key is looked at again from its next part on, so the look is bounded.
        let window = &after[..after.len().min(LOOK)];
        let mut length = stretch(window, |byte| body.holds(byte));
        let window = &window[..length];
        let fits = match body {
            Body::Capitals => {
                length == *least && window.iter().all(|byte| !byte.is_ascii_lowercase())
            }
            Body::Letters | Body::Word => length >= *least && is_random(window),
            Body::Dashed | Body::Dotted | Body::Path => {
                length >= *least
                    && window
                        .split(|byte| !byte.is_ascii_alphanumeric())
                        .any(|part| part.len() >= 12 && is_random(part))
            }
        };
        if !fits {
            return None;
        }
        length += stretch(&after[length..], |byte| body.holds(byte));
        let after = &after[..length];
        let dots = after.iter().rev().take_while(|byte| **byte == b'.').count();
        Some((place + prefix.len() + length - dots, *kind))
    })
}

/// The length of a JSON web token: a header, and at least the beginning of a payload.
fn web_token(text: &[u8]) -> Option<usize> {
    const HEADER: usize = 1024;
    let part = |text: &[u8]| stretch(text, |byte| Body::Dashed.holds(byte));
    let header = part(&text[..text.len().min(HEADER)]);
    if header < 10 || text.get(header) != Some(&b'.') {
        return None;
    }
    let payload = part(&text[header + 1..]);
    if payload < 8 {
        return None;
    }
    let mut end = header + 1 + payload;
    while text.get(end) == Some(&b'.') && part(&text[end + 1..]) > 0 {
        end += 1 + part(&text[end + 1..]);
    }
    Some(end)
}

/// What a run is by the scheme of authorisation before it.
fn scheme_before(text: &[u8], start: usize, end: usize) -> Option<&'static str> {
    let before = &text[start.saturating_sub(12)..start];
    let word = before.trim_ascii_end();
    if word.len() == before.len() || before[word.len()..].contains(&b'\n') {
        return None;
    }
    let named = |scheme: &str| {
        word.len() >= scheme.len()
            && word[word.len() - scheme.len()..].eq_ignore_ascii_case(scheme.as_bytes())
    };
    let run = &text[start..end];
    if named("bearer") && run.len() >= 16 && is_random(&run[..run.len().min(LOOK)]) {
        return Some("bearer token");
    }
    (named("basic") && is_credentials(run)).then_some("basic credentials")
}

/// Whether a run is base64 of `user:password`.
fn is_credentials(run: &[u8]) -> bool {
    let body = &run[..stretch(run, |byte| byte != b'=')];
    // The colon ends in one of four sextets of each three bytes.
    let mut bits = 0_u32;
    body.iter().take(LOOK).enumerate().any(|(place, byte)| {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(sextet);
        match place % 4 {
            1 => bits >> 4 & 0xff == u32::from(b':'),
            2 => bits >> 2 & 0xff == u32::from(b':'),
            3 => bits & 0xff == u32::from(b':'),
            _ => false,
        }
    })
}

/// The secret of an AWS key: forty characters of base64 shortly after the key's id.
fn aws_secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    const SECRET: usize = 40;
    let before = &text[start.saturating_sub(96)..start];
    let mut ids = before.windows(4).enumerate();
    ids.find(|(place, prefix)| {
        matches!(*prefix, b"AKIA" | b"ASIA")
            && before[*place..].len() > 20
            && before[*place..*place + 20]
                .iter()
                .all(u8::is_ascii_alphanumeric)
    })?;
    let run = &text[start..end];
    let from = run.iter().position(|byte| *byte != b'=')?;
    let run = &run[from..];
    let fits = run.len() == SECRET
        && !run
            .iter()
            .any(|byte| matches!(byte, b'-' | b'_' | b'.' | b'='))
        && is_random(run);
    fits.then_some(Span {
        start: start + from,
        end,
        kind: "aws secret",
        until: Until::Word,
    })
}

/// How much of a run is looked at to judge it.
pub(super) const LOOK: usize = 256;

/// Whether characters are not words: a digit beside letters or both cases, and some variety.
pub(super) fn is_random(characters: &[u8]) -> bool {
    let characters = &characters[..characters.len().min(LOOK)];
    let has = |test: fn(&u8) -> bool| characters.iter().any(test);
    let capitals = characters
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || capitals && has(u8::is_ascii_lowercase);
    mixed && variety(characters) >= 5
}

/// How many different bytes there are, among letters and digits.
pub(super) fn variety(characters: &[u8]) -> u32 {
    characters
        .iter()
        .fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f))
        .count_ones()
}

/// How many bytes at the beginning of a text are of a kind.
pub(super) fn stretch(text: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    text.iter()
        .position(|byte| !holds(*byte))
        .unwrap_or(text.len())
}
