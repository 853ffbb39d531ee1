//! Known secret values, in any encoding and in parts.
//!
//! Every eight bytes that stand next to each other in a secret are looked for, so that no part of
//! eight characters stays, whatever surrounds it or cuts it short. Eight bytes are one number, and a
//! text that is decoded yields such numbers as it goes: plain, from base64 at each of its
//! alignments, from hexadecimal digits.

use std::collections::HashSet;

use memchr::{memchr3_iter, memmem};

use super::escape::{Escapes, Unescaped, Unit};
use super::runs::Runs;

/// The part of a secret that is looked for, in bytes and in characters.
const PART: usize = 8;
/// The fewest bytes of a secret.
pub(super) const LEAST: usize = 4;
/// How far an escape reaches, three layers deep, with a part after it.
const REACH: usize = 96;

/// The parts of all secrets.
pub(super) struct Known {
    secrets: Vec<Vec<u8>>,
    /// The lengths that parts have, and the parts as numbers.
    parts: Vec<(usize, HashSet<u64>)>,
    /// One bit for each three bytes that stand in a secret; others may share it.
    triples: Vec<u64>,
    /// The fewest characters of a part, where a character has several bytes.
    characters: usize,
}

impl Known {
    /// Takes secrets of at least four bytes; parts of `exempt`, the marks, are not looked for.
    pub(super) fn new(secrets: &[&str], exempt: &str) -> Self {
        let mut known = Self {
            secrets: Vec::new(),
            parts: Vec::new(),
            triples: vec![0; 1024],
            characters: PART,
        };
        for secret in secrets {
            known.characters = known.characters.min(secret.chars().count());
            known.add(secret.as_bytes(), exempt);
            if secret.contains(' ') {
                known.add(secret.replace(' ', "+").as_bytes(), exempt);
            }
            if !secret.is_ascii()
                && let Ok(latin) = secret
                    .chars()
                    .map(u8::try_from)
                    .collect::<Result<Vec<_>, _>>()
                && latin.len() >= LEAST
            {
                known.add(&latin, exempt);
            }
        }
        known
    }

    fn add(&mut self, secret: &[u8], exempt: &str) {
        let length = secret.len().min(PART);
        if self.parts.iter().all(|(other, _)| *other != length) {
            self.parts.push((length, HashSet::new()));
        }
        let parts = secret
            .windows(length)
            .filter(|part| memmem::find(exempt.as_bytes(), part).is_none());
        let parts: Vec<u64> = parts.map(number).collect();
        for (_, known) in self.parts.iter_mut().filter(|(other, _)| *other == length) {
            known.extend(&parts);
        }
        for triple in secret.windows(3) {
            let bit = bit(number(triple));
            self.triples[bit / 64] |= 1 << (bit % 64);
        }
        self.secrets.push(secret.to_vec());
    }

    /// The places that hold parts, in no order.
    pub(super) fn find(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Found::default();
        if self.parts.is_empty() {
            return found.places;
        }
        self.find_plain(text, &mut found);
        found.drop_shorter(text, self.characters);
        self.find_in_runs(text, &mut found);
        self.find_escaped(text, &mut found);
        found.places
    }

    /// Whether a character beyond ASCII ends whatever was begun.
    pub(super) fn is_ascii(&self) -> bool {
        self.secrets.iter().all(|secret| secret.is_ascii())
    }

    /// How many bytes at the end of the text may begin a part.
    pub(super) fn open_tail(&self, text: &[u8]) -> usize {
        let longest = (PART - 1).min(text.len());
        (1..=longest)
            .rev()
            .find(|length| {
                let tail = &text[text.len() - length..];
                let holds = |secret: &Vec<u8>| memmem::find(secret, tail).is_some();
                self.secrets.iter().any(holds)
            })
            .unwrap_or(0)
    }

    fn find_plain(&self, text: &[u8], found: &mut Found) {
        let shortest = self.parts.iter().map(|(length, _)| *length).min();
        let Some(shortest) = shortest else { return };
        let mut last = shortest - 1;
        while last < text.len() {
            if self.has_triple(number(&text[last - 2..=last])) {
                for (length, parts) in &self.parts {
                    if let Some(start) = (last + 1).checked_sub(*length)
                        && parts.contains(&number(&text[start..=last]))
                    {
                        found.add(start, last + 1);
                    }
                }
                last += 1;
            } else {
                // No part holds these three bytes: the next one begins after the first of them.
                last += shortest - 2;
            }
        }
    }

    fn find_in_runs(&self, text: &[u8], found: &mut Found) {
        let mut rolling = Rolling::new(self);
        let mut done = 0;
        for (start, mut end) in Runs::new(text) {
            if end <= done {
                continue;
            }
            // Base64 is broken into lines, and the last of them may be short.
            while let Some(rest) = text.get(end..) {
                let line_break = rest.iter().take_while(|byte| is_break(**byte)).count();
                let more = rest[line_break..]
                    .iter()
                    .take_while(|byte| sextet(**byte).is_some())
                    .count();
                if line_break == 0 || line_break > 2 || more == 0 {
                    break;
                }
                end += line_break + more;
            }
            rolling.restart();
            for unit in units(text, start.max(done), end) {
                rolling.push_encoded(unit, found);
            }
            done = end;
        }
    }

    fn find_escaped(&self, text: &[u8], found: &mut Found) {
        let mut regions: Vec<(usize, usize)> = Vec::new();
        for place in memchr3_iter(b'%', b'\\', b'&', text) {
            let start = place.saturating_sub(REACH);
            let end = (place + REACH).min(text.len());
            match regions.last_mut() {
                Some(region) if start <= region.1 => region.1 = end,
                _ => regions.push((start, end)),
            }
        }
        for (start, end) in regions {
            let plain = || units(text, start, end);
            // A secret may itself hold what looks like an escape of another kind.
            for first in Escapes::EACH {
                let mut layer = Unescaped::new(plain(), first);
                self.roll(&mut layer, found);
                if !layer.is_layered() {
                    continue;
                }
                for second in Escapes::EACH {
                    let mut layer = Unescaped::new(Unescaped::new(plain(), first), second);
                    self.roll(&mut layer, found);
                    if layer.is_layered() && first == second {
                        let below = Unescaped::new(Unescaped::new(plain(), first), second);
                        self.roll(&mut Unescaped::new(below, first), found);
                    }
                }
            }
        }
    }

    fn roll(&self, units: &mut impl Iterator<Item = Unit>, found: &mut Found) {
        let mut rolling = Rolling::new(self);
        for unit in units {
            rolling.push_plain(unit, found);
            rolling.push_encoded(unit, found);
        }
    }

    fn has_triple(&self, value: u64) -> bool {
        let bit = bit(value & 0xff_ffff);
        self.triples[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn has(&self, parts: &HashSet<u64>, length: usize, value: u64) -> bool {
        let value = value & mask(length);
        self.has_triple(value) && parts.contains(&value)
    }
}

/// The bytes of a text from `start` to `end` as they are.
fn units(text: &[u8], start: usize, end: usize) -> impl Iterator<Item = Unit> {
    (start..end).map(|place| Unit {
        byte: text[place],
        start: place,
        end: place + 1,
    })
}

/// The last bytes, sextets and nibbles of a text that is decoded, and where each came from.
struct Rolling<'known> {
    known: &'known Known,
    plain: Window<u64, 8>,
    base64: Window<u128, 16>,
    hex: Window<u64, 16>,
}

/// The last `N` values as one number.
struct Window<T, const N: usize> {
    value: T,
    starts: [usize; N],
    count: usize,
}

impl<T: Default + Copy, const N: usize> Window<T, N> {
    fn new() -> Self {
        Self {
            value: T::default(),
            starts: [0; N],
            count: 0,
        }
    }

    fn push(&mut self, value: T, start: usize) {
        self.value = value;
        self.starts[self.count % N] = start;
        self.count += 1;
    }

    /// Where the last `count` values begin, if there are so many.
    fn start(&self, count: usize) -> Option<usize> {
        let first = self.count.checked_sub(count)?;
        Some(self.starts[first % N])
    }
}

impl<'known> Rolling<'known> {
    fn new(known: &'known Known) -> Self {
        Self {
            known,
            plain: Window::new(),
            base64: Window::new(),
            hex: Window::new(),
        }
    }

    fn restart(&mut self) {
        self.base64.count = 0;
        self.hex.count = 0;
    }

    fn push_plain(&mut self, unit: Unit, found: &mut Found) {
        let value = self.plain.value << 8 | u64::from(unit.byte);
        self.plain.push(value, unit.start);
        for (length, parts) in &self.known.parts {
            if let Some(start) = self.plain.start(*length)
                && self.known.has(parts, *length, value)
            {
                found.add(start, unit.end);
            }
        }
    }

    fn push_encoded(&mut self, unit: Unit, found: &mut Found) {
        match sextet(unit.byte) {
            Some(sextet) => {
                let value = self.base64.value << 6 | u128::from(sextet);
                self.base64.push(value, unit.start);
                // A byte ends after each second bit of a sextet, depending on the alignment.
                for surplus in [0, 2, 4] {
                    #[expect(clippy::cast_possible_truncation, reason = "the last eight bytes")]
                    let value = (value >> surplus) as u64;
                    for (length, parts) in &self.known.parts {
                        if let Some(start) = self.base64.start((8 * length + surplus).div_ceil(6))
                            && self.known.has(parts, *length, value)
                        {
                            found.add(start, unit.end);
                        }
                    }
                }
            }
            None if is_break(unit.byte) => {}
            None => self.base64.count = 0,
        }
        match char::from(unit.byte).to_digit(16) {
            Some(nibble) => {
                let value = self.hex.value << 4 | u64::from(nibble);
                self.hex.push(value, unit.start);
                for (length, parts) in &self.known.parts {
                    if let Some(start) = self.hex.start(2 * length)
                        && self.known.has(parts, *length, value)
                    {
                        found.add(start, unit.end);
                    }
                }
            }
            None => self.hex.count = 0,
        }
    }
}

/// Places of a text, neighbours joined as they come.
#[derive(Default)]
struct Found {
    places: Vec<(usize, usize)>,
}

impl Found {
    fn add(&mut self, start: usize, end: usize) {
        match self.places.last_mut() {
            Some(last) if start >= last.0 && start <= last.1 => last.1 = last.1.max(end),
            _ => self.places.push((start, end)),
        }
    }

    /// Forgets the places of fewer characters than are worth hiding.
    fn drop_shorter(&mut self, text: &[u8], characters: usize) {
        self.places.retain(|(start, end)| {
            let place = &text[*start..*end];
            place.is_ascii()
                || place.iter().filter(|byte| **byte & 0xc0 != 0x80).count() >= characters
        });
    }
}

/// At most eight bytes as a number, the first one highest.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn mask(length: usize) -> u64 {
    u64::MAX >> (64 - 8 * length)
}

/// The place of three bytes in a table of 65,536 bits.
fn bit(triple: u64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "three bytes times four, folded"
    )]
    let mixed = (triple as u32).wrapping_mul(0x9e37_79b1);
    (mixed >> 16) as usize
}

/// What a character of either base64 alphabet stands for.
fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
