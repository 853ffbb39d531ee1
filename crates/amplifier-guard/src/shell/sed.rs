//! What a sed script can do: printing and editing pass, running and writing do not.

use std::iter::Peekable;
use std::str::Chars;

/// Whether `script` is understood as a whole and neither runs a command nor opens a file.
pub(super) fn is_harmless(script: &str) -> bool {
    Script {
        rest: script.chars().peekable(),
    }
    .commands()
    .is_some()
}

struct Script<'script> {
    rest: Peekable<Chars<'script>>,
}

impl Script<'_> {
    fn skip(&mut self, skipped: &[char]) {
        while self.rest.next_if(|next| skipped.contains(next)).is_some() {}
    }

    fn digits(&mut self) {
        while self.rest.next_if(char::is_ascii_digit).is_some() {}
    }

    /// All commands to the end; `None` at the first that is not known to be harmless.
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(&[' ', '\t', '\n', ';']);
            if self.rest.peek().is_none() {
                return Some(());
            }
            self.address()?;
            self.skip(&[' ', '\t', '!']);
            match self.rest.next()? {
                '{' | '}' => continue,
                'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' => {}
                'q' | 'Q' | 'l' | 'L' => {
                    self.skip(&[' ', '\t']);
                    self.digits();
                }
                's' => self.substitute()?,
                'y' => {
                    let delimiter = self.delimiter()?;
                    self.part(delimiter)?;
                    self.part(delimiter)?;
                }
                ':' | 'b' | 't' | 'T' => {
                    self.skip(&[' ', '\t']);
                    while self
                        .rest
                        .next_if(|next| next.is_alphanumeric() || *next == '_')
                        .is_some()
                    {}
                }
                // The text of these goes on to the end of the script, at most.
                'a' | 'i' | 'c' if !self.rest.clone().any(|next| next == '\n') => return Some(()),
                _ => return None,
            }
            self.skip(&[' ', '\t']);
            match self.rest.peek() {
                None | Some(';' | '\n' | '}') => {}
                Some(_) => return None,
            }
        }
    }

    /// Up to two addresses: numbers, `$`, patterns, `first~step`, `+count`, `~multiple`.
    fn address(&mut self) -> Option<()> {
        for _ in 0..2 {
            match self.rest.peek() {
                Some('0'..='9') => {
                    self.digits();
                    if self.rest.next_if_eq(&'~').is_some() {
                        self.digits();
                    }
                }
                Some('+' | '~') => {
                    self.rest.next();
                    self.digits();
                }
                Some('$') => {
                    self.rest.next();
                }
                Some('/') => {
                    self.rest.next();
                    self.pattern('/')?;
                    self.skip(&['I', 'M']);
                }
                _ => return Some(()),
            }
            self.skip(&[' ', '\t']);
            if self.rest.next_if_eq(&',').is_none() {
                return Some(());
            }
            self.skip(&[' ', '\t']);
        }
        Some(())
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.pattern(delimiter)?;
        self.part(delimiter)?;
        self.skip(&[
            'g', 'p', 'i', 'I', 'm', 'M', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
        ]);
        Some(())
    }

    fn delimiter(&mut self) -> Option<char> {
        self.rest
            .next()
            .filter(|next| next.is_ascii_punctuation() && *next != '\\')
    }

    /// A pattern up to its delimiter. Implementations differ on a delimiter within brackets, so
    /// there is none in a script that is understood.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let pattern = self.part(delimiter)?;
        let mut bracketed = false;
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' if !bracketed => {
                    characters.next();
                }
                '[' if !bracketed => {
                    bracketed = true;
                    // A bracket right at the start, negated or not, is one of the characters.
                    let inside = characters.as_str();
                    let inside = inside.strip_prefix('^').unwrap_or(inside);
                    characters = inside.strip_prefix(']').unwrap_or(inside).chars();
                }
                ']' => bracketed = false,
                _ => {}
            }
        }
        (!bracketed).then_some(())
    }

    /// Everything up to the next delimiter that has no backslash before it.
    fn part(&mut self, delimiter: char) -> Option<String> {
        let mut part = String::new();
        loop {
            match self.rest.next()? {
                '\\' => {
                    part.push('\\');
                    part.push(self.rest.next()?);
                }
                '\n' => return None,
                character if character == delimiter => return Some(part),
                character => part.push(character),
            }
        }
    }
}
