//! Keys, strings, numbers and words, which may end in the next piece.

use amplifier_core::Json;

use super::{Open, Reader, Scanner, State, Step, steps};
use crate::json::string::{Escape, plain_length};

/// How far a string went.
#[derive(Clone, Copy)]
enum Reached {
    End,
    /// The end of what came.
    Edge,
    Mistake,
}

impl Reader {
    /// Skips white space and returns the byte after it.
    pub(super) fn skip_whitespace(&mut self, text: &str) -> Option<u8> {
        let rest = &text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        steps::count(blanks + 1);
        self.at += blanks;
        rest.get(blanks).copied()
    }

    pub(super) fn read_key(&mut self, text: &str) -> Step {
        let mut key = std::mem::take(&mut self.key);
        let reached = self.extend(&mut key, text);
        self.key = key;
        self.go_on(reached, State::Colon)
    }

    pub(super) fn read_text(&mut self, open: &mut Open<'_>, text: &str) -> Step {
        let Some(Json::Str(value)) = open.newest() else {
            return self.stop();
        };
        let reached = self.extend(value, text);
        self.go_on(reached, State::AfterValue)
    }

    fn go_on(&mut self, reached: Reached, next: State) -> Step {
        match reached {
            Reached::End => {
                self.state = next;
                Step::Inside
            }
            Reached::Edge => Step::Stops,
            Reached::Mistake => self.stop(),
        }
    }

    /// Appends what there is of a string.
    fn extend(&mut self, value: &mut String, text: &str) -> Reached {
        loop {
            let rest = &text.as_bytes()[self.at..];
            let run = plain_length(rest);
            steps::count(run + 1);
            value.push_str(&text[self.at..self.at + run]);
            self.at += run;
            match rest.get(run) {
                None => return Reached::Edge,
                Some(..0x20) => return Reached::Mistake,
                Some(b'"') => {
                    self.at += 1;
                    return Reached::End;
                }
                Some(_) if !is_whole_escape(&rest[run..]) => return Reached::Edge,
                Some(_) => {
                    let mut scanner = Scanner::new(text);
                    scanner.at = self.at;
                    value.push(match scanner.escape() {
                        Ok(Escape::Char(character)) => character,
                        Ok(Escape::High(_) | Escape::Low(_)) => char::REPLACEMENT_CHARACTER,
                        Err(_) => return Reached::Mistake,
                    });
                    self.at = scanner.at;
                }
            }
        }
    }

    /// Adds a number or a word once the byte after it is there.
    pub(super) fn read_word(&mut self, open: &mut Open<'_>, text: &str) -> Step {
        // `pending` counts the bytes of the word that were read, so that a long number that comes
        // in many pieces is not scanned from its start each time.
        let rest = &text.as_bytes()[self.at + self.pending..];
        let more = rest.iter().take_while(|byte| is_of_word(**byte)).count();
        steps::count(more + 1);
        self.pending += more;
        if more == rest.len() {
            return Step::Stops;
        }
        let word = &text[self.at..self.at + self.pending];
        let Ok(value) = Scanner::strict(word, 0).document() else {
            return self.stop();
        };
        self.at += self.pending;
        self.pending = 0;
        self.add(value, State::AfterValue, open, Step::Inside)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether the escape is there with everything that could change what it means.
fn is_whole_escape(text: &[u8]) -> bool {
    const HIGH: [u8; 6] = *b"89abAB";
    match text {
        [_] => false,
        // `\uD800` to `\uDBFF`: the first half of a pair.
        [_, b'u', b'd' | b'D', second, _, _, rest @ ..] if HIGH.contains(second) => {
            let may_be_pair = rest.is_empty() || rest == b"\\" || rest.starts_with(b"\\u");
            // The other half of the pair may be on its way.
            !may_be_pair || rest.len() >= 6
        }
        [_, b'u', digits @ ..] => digits.len() >= 4,
        _ => true,
    }
}
