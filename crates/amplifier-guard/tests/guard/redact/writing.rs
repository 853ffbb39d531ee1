//! Ways to write a secret.

use proptest::prelude::*;

/// How a secret may be written.
#[derive(Clone, Debug)]
pub(super) enum Writing {
    Plain,
    Base64 { before: usize, is_url: bool },
    Hex { is_upper: bool },
    Percent { mask: u64, is_lower: bool },
    Json { mask: u64 },
    Entities { mask: u64 },
    PercentOfBase64,
    JsonOfPercent { mask: u64 },
    Octal,
    Wide { mask: u64 },
    Spaced { separator: &'static str },
    Invisible { mask: u64 },
    Utf16 { is_url: bool },
}

pub(super) fn writing() -> impl Strategy<Value = Writing> {
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
        Just(Writing::Octal),
        any::<u64>().prop_map(|mask| Writing::Wide { mask }),
        prop::sample::select(vec![" ", ":", "-", ",", ", ", "\n", " 0x", ",0x", ", 0x"])
            .prop_map(|separator| Writing::Spaced { separator }),
        any::<u64>().prop_map(|mask| Writing::Invisible { mask }),
        any::<bool>().prop_map(|is_url| Writing::Utf16 { is_url }),
    ]
}

pub(super) fn base64(bytes: &[u8], is_url: bool) -> String {
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

pub(super) fn written(secret: &str, writing: &Writing) -> String {
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
        Writing::Octal => {
            let bytes: Vec<String> = secret.bytes().map(|byte| format!("\\{byte:03o}")).collect();
            bytes.concat()
        }
        Writing::Wide { mask } => {
            let characters = secret.chars().enumerate();
            characters
                .map(|(place, character)| match u32::from(character) {
                    code if is_chosen(mask, place) => format!("\\U{code:08x}"),
                    code => format!("\\u{{{code:x}}}"),
                })
                .collect()
        }
        Writing::Spaced { separator } => {
            let bytes: Vec<String> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            bytes.join(separator)
        }
        Writing::Invisible { mask } => {
            let characters = secret.chars().enumerate();
            let hidden = [
                '\u{200b}',
                '\u{ad}',
                '\u{2060}',
                '\u{200d}',
                '\u{feff}',
                '\u{e0061}',
            ];
            characters
                .flat_map(|(place, character)| {
                    let is_before = place > 0 && is_chosen(mask, place);
                    let before = is_before.then_some(hidden[place % hidden.len()]);
                    before.into_iter().chain([character])
                })
                .collect()
        }
        Writing::Utf16 { is_url } => {
            let units: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
            base64(&units, is_url)
        }
    }
}
