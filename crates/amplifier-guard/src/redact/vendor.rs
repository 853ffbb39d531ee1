//! Keys and tokens that are known by their shape: the prefixes of their vendors.

use super::random::{LOOK_BYTES, is_random, stretch};
use super::runs::Runs;
use super::span::{Span, Until};

/// The characters of a key after its prefix.
#[derive(Clone, Copy)]
enum Body {
    /// Letters and digits.
    Letters,
    /// Capital letters and digits, an exact number of them.
    Capitals,
    /// Small hexadecimal digits, an exact number of them, behind a prefix that is no part of a name.
    Hex,
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
                Self::Letters | Self::Capitals | Self::Hex => false,
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
    ("EAAA", "square token", Body::Dashed, 60),
    ("key-", "mailgun key", Body::Hex, 32),
];

/// The kinds of all vendors' keys.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    VENDORS.iter().map(|(_, kind, _, _)| *kind)
}

/// The first three bytes of all prefixes, as a set of 4,096 bits that others may share.
const STARTS: [u64; 64] = {
    let mut bits = [0; 64];
    let mut place = 0;
    while place < VENDORS.len() {
        let prefix = VENDORS[place].0.as_bytes();
        let bit = start_bit(prefix[0], prefix[1], prefix[2]);
        bits[bit / 64] |= 1 << (bit % 64);
        place += 1;
    }
    let bit = start_bit(b'e', b'y', b'J');
    bits[bit / 64] |= 1 << (bit % 64);
    bits
};

const fn start_bit(first: u8, second: u8, third: u8) -> usize {
    let three = first as u32 | (second as u32) << 8 | (third as u32) << 16;
    (three.wrapping_mul(0x9e37_79b1) >> 20) as usize
}

/// Finds keys by their prefixes.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    for (start, end) in Runs::new(text) {
        if let Some(span) = aws_secret(text, start, end) {
            spans.push(span);
        }
        let mut keys = Keys::default();
        let mut place = start;
        while place < end {
            if may_start(text, place)
                && is_boundary(text, place)
                && let Some((key_end, kind)) = keys.at(text, place)
            {
                spans.push(Span {
                    start: place,
                    end: key_end,
                    kind,
                    until: Until::Word,
                });
                place = key_end;
            } else if place < start + ESCAPE && is_behind_escape(text, start) {
                place += 1;
            } else {
                // A key cannot begin inside a word.
                place += stretch(&text[place..end], |byte| byte.is_ascii_alphanumeric()) + 1;
            }
        }
    }
}

/// How far into a run an escape before it may reach: the end of a terminal's colour.
const ESCAPE: usize = 16;

/// Whether the run that begins here may begin with the end of an escape.
fn is_behind_escape(text: &[u8], start: usize) -> bool {
    matches!(text[..start].last(), Some(b'\\' | b'%' | b'[' | b';'))
}

/// Whether the first three bytes here may be those of a prefix.
fn may_start(text: &[u8], place: usize) -> bool {
    text[place..]
        .first_chunk()
        .is_some_and(|[first, second, third]| {
            let bit = start_bit(*first, *second, *third);
            STARTS[bit / 64] >> (bit % 64) & 1 == 1
        })
}

/// Whether a key may begin here: not inside a word, but after an escape that ends in a letter.
pub(super) fn is_boundary(text: &[u8], place: usize) -> bool {
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

/// Looks for keys at places of a run, in order.
#[derive(Default)]
pub(super) struct Keys {
    /// Up to where the characters of a web token's parts are known to go on.
    dashed: usize,
}

impl Keys {
    /// The end and the kind of the key that begins here.
    pub(super) fn at(&mut self, text: &[u8], place: usize) -> Option<(usize, &'static str)> {
        if text[place..].starts_with(b"eyJ") {
            return Some((self.web_token(text, place)?, "json web token"));
        }
        key_at(text, place)
    }

    /// The end of a JSON web token: a header, and at least the beginning of a payload.
    fn web_token(&mut self, text: &[u8], start: usize) -> Option<usize> {
        const HEADER: usize = 1024;
        let part = |start: usize| start + stretch(&text[start..], |byte| Body::Dashed.holds(byte));
        if self.dashed <= start {
            self.dashed = part(start);
        }
        let header = self.dashed;
        if !(10..=HEADER).contains(&(header - start)) || text.get(header) != Some(&b'.') {
            return None;
        }
        let mut end = part(header + 1);
        if end - header - 1 < 8 {
            return None;
        }
        while text.get(end) == Some(&b'.') {
            let more = part(end + 1);
            if more == end + 1 {
                break;
            }
            end = more;
        }
        Some(end)
    }
}

fn key_at(text: &[u8], place: usize) -> Option<(usize, &'static str)> {
    let rest = &text[place..];
    VENDORS.iter().find_map(|(prefix, kind, body, least)| {
        let after = rest.strip_prefix(prefix.as_bytes())?;
        // Text that is not a key is searched again from its next part on, so each search is
        // bounded.
        let window = &after[..after.len().min(LOOK_BYTES)];
        let mut length = stretch(window, |byte| body.holds(byte));
        let window = &window[..length];
        let fits = match body {
            Body::Capitals => {
                length == *least && window.iter().all(|byte| !byte.is_ascii_lowercase())
            }
            Body::Hex => {
                let before = text[..place].last();
                length == *least
                    && window
                        .iter()
                        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                    && is_random(window)
                    && !before.is_some_and(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/'))
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

/// The secret of an AWS key: forty characters of base64 shortly after the key's id.
pub(super) fn aws_secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    const SECRET: usize = 40;
    let run = &text[start..end];
    let run = &run[stretch(run, |byte| byte == b'=')..];
    if run.len() != SECRET {
        return None;
    }
    let before = &text[start.saturating_sub(96)..start];
    let mut ids = before.windows(4).enumerate();
    ids.find(|(place, prefix)| {
        matches!(*prefix, b"AKIA" | b"ASIA")
            && before[*place..].len() > 20
            && before[*place..*place + 20]
                .iter()
                .all(u8::is_ascii_alphanumeric)
    })?;
    let fits = is_random(run)
        && !run
            .iter()
            .any(|byte| matches!(byte, b'-' | b'_' | b'.' | b'='));
    fits.then_some(Span {
        start: end - SECRET,
        end,
        kind: "aws secret",
        until: Until::Word,
    })
}
