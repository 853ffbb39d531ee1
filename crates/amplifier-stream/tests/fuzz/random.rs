//! A stream of random choices that one number repeats.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Pieces of text of which each is hard somewhere.
const PIECES: [&str; 20] = [
    "a", "word ", "é", "😀", "\u{FFFD}", "\n", "\r\n", "\"", "\\", "\u{0}", "{", "}", "[", ",",
    ":", "&amp;", "<tool>", "</think>", "data: ", "null",
];

/// `SplitMix64`: small, quick, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap();
        usize::try_from(self.next() % end).unwrap()
    }

    /// Whether something happens that does once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    pub(crate) fn text(&mut self) -> String {
        let count = self.below(5);
        (0..count).map(|_| self.pick(&PIECES)).collect()
    }

    /// A number of any form, also those that are refused.
    fn number(&mut self) -> String {
        match self.below(8) {
            0 => self
                .pick(&[
                    "1e400",
                    "-0",
                    "01",
                    "1.",
                    "NaN",
                    "1e5",
                    "-1.5E-3",
                    "12345678901234567890",
                ])
                .to_owned(),
            1 if self.once_in(8) => "9".repeat(4_298 + self.below(4)),
            _ => (self.next() >> self.below(64)).to_string(),
        }
    }

    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => Value::Null,
            1 => json!(self.once_in(2)),
            2 => json!(self.next() >> self.below(64)),
            3 => json!(self.text()),
            4 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let entries = (0..self.below(4)).map(|_| (self.text(), self.value(depth - 1)));
                Value::Object(entries.collect())
            }
        }
    }

    /// The JSON of an object, mostly valid, written in one of many ways.
    pub(crate) fn object_text(&mut self) -> String {
        let mut text = String::from("{");
        for number in 0..self.below(4) {
            if number > 0 {
                text.push(',');
            }
            text.push_str(self.pick(&["", "", " ", "\n\t"]));
            let key = if self.once_in(12) {
                "k".to_owned()
            } else {
                self.text() + &number.to_string()
            };
            write!(text, "{}:", json!(key)).unwrap();
            match self.below(12) {
                0 => text.push_str(&self.number()),
                1 => text.push_str(&self.escapes()),
                2 => {
                    let depth = 1 + self.below(140);
                    write!(text, "{}1{}", "[".repeat(depth), "]".repeat(depth)).unwrap();
                }
                _ => text.push_str(&self.value(3).to_string()),
            }
        }
        text.push('}');
        text
    }

    /// A string of escapes, whole and broken.
    fn escapes(&mut self) -> String {
        const ESCAPES: [&str; 12] = [
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00",
            "\\u00e9",
            "\\n",
            "\\/",
            "\\\\",
            "\\\"",
            "\\u12",
            "\\x",
            "x",
            "é",
        ];
        let count = self.below(6);
        let escapes: String = (0..count).map(|_| self.pick(&ESCAPES)).collect();
        format!("\"{escapes}\"")
    }

    /// Places in ascending order at which so many bytes are cut.
    pub(crate) fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<usize> = (0..self.below(6)).map(|_| self.below(length + 1)).collect();
        if self.once_in(16) {
            cuts = (0..length).collect();
        }
        cuts.sort_unstable();
        cuts.push(length);
        cuts
    }

    /// The text in pieces.
    pub(crate) fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut start = 0;
        let mut pieces = Vec::new();
        for end in self.cuts(text.len()) {
            if text.is_char_boundary(end) {
                pieces.push(text[start..end].to_owned());
                start = end;
            }
        }
        pieces
    }
}
