//! The words after the name of a program, read against its table.

use std::slice;

use super::kind::{Fault, Kind, Place};
use super::table::{Style, Table, Values};

/// The words that are left.
type Words<'words> = slice::Iter<'words, String>;
/// Nothing, or the word at fault.
type Judged<'words> = Result<(), (Fault, &'words str)>;

/// What has been read of a command.
pub(super) struct Arguments<'command> {
    pub(super) table: &'static Table,
    pub(super) place: Place<'command>,
    /// The options that were there.
    pub(super) seen: Vec<&'static str>,
    /// How many operands of this program or sub-command were there.
    pub(super) operands: usize,
    /// The first operand came as an option.
    pub(super) is_replaced: bool,
}

impl<'command> Arguments<'command> {
    /// Reads the words after the name, up to the first that is not known to be harmless.
    pub(super) fn read(mut self, words: &'command [String]) -> Judged<'command> {
        let mut words = words.iter();
        let mut is_over = self.table.style == Style::Text;
        if self.table.style == Style::Tar
            && let Some(letters) = words.as_slice().first()
            && !letters.starts_with('-')
        {
            words.next();
            for letter in letters.chars() {
                let values = self.option(&format!("-{letter}"), letters)?;
                self.next_values(&values.kinds, letters, &mut words)?;
            }
        }
        while let Some(word) = words.next() {
            is_over |= self.table.is_ordered && self.operands > 0;
            if !is_over
                && (self.operands == 0 || word == "--")
                && let Some(table) = self.table.commands.get(word.as_str())
            {
                self.table = table;
                self.place.command.push(word);
                (self.operands, self.is_replaced) = (0, false);
            } else if is_over || !word.starts_with('-') || word == "-" {
                self.operand(word)?;
            } else if word == "--" {
                is_over = true;
                // pytest looks for some options beyond it, and find has no end of options.
                if matches!(self.table.style, Style::Argparse | Style::Words) {
                    return Err((Fault::Unknown, word));
                }
            } else if word.starts_with("--") || self.table.style == Style::Words {
                self.whole(word, &mut words)?;
            } else {
                self.cluster(word, &mut words)?;
            }
        }
        let is_missing = |needed: &Vec<&str>| !needed.iter().any(|name| self.seen.contains(name));
        if self.table.needs.as_ref().is_some_and(is_missing) {
            return Err((Fault::Unknown, self.place.command.last().unwrap_or(&"")));
        }
        Ok(())
    }

    fn operand(&mut self, word: &'command str) -> Judged<'command> {
        let index = self.operands + usize::from(self.is_replaced);
        let kinds = &self.table.operands;
        let last = kinds.last().filter(|_| self.table.repeats);
        let kind = kinds.get(index).or(last).ok_or((Fault::Unknown, word))?;
        self.operands += 1;
        self.expect(kind, word, false)
    }

    /// An option that is a whole word, with its value behind `=` or in the next words.
    fn whole(&mut self, word: &'command str, words: &mut Words<'command>) -> Judged<'command> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let values = self.option(name, word)?;
        match (value, values.kinds.as_slice()) {
            (Some(value), [kind]) => self.expect(kind, value, true),
            (Some(_), _) => Err((Fault::Unknown, word)),
            (None, _) if values.is_optional => Ok(()),
            (None, kinds) => self.next_values(kinds, word, words),
        }
    }

    /// Options of one letter, the last of which may have a value.
    fn cluster(&mut self, word: &'command str, words: &mut Words<'command>) -> Judged<'command> {
        if self.table.is_numeric && word[1..].bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        for (offset, letter) in word.char_indices().skip(1) {
            let values = self.option(&format!("-{letter}"), word)?;
            let rest = &word[offset + letter.len_utf8()..];
            match values.kinds.as_slice() {
                [] => {}
                [_] if values.is_optional && rest.is_empty() => {}
                kinds if rest.is_empty() => return self.next_values(kinds, word, words),
                [kind] if self.table.style != Style::Separate => {
                    return self.expect(kind, rest, true);
                }
                _ => return Err((Fault::Unknown, word)),
            }
        }
        Ok(())
    }

    /// The row of the option `name`, the whole or a letter of `word`.
    fn option(
        &mut self,
        name: &str,
        word: &'command str,
    ) -> Result<&'static Values, (Fault, &'command str)> {
        let row = self.table.options.get_key_value(name);
        let (spelling, values) = row.ok_or((Fault::Unknown, word))?;
        self.seen.push(spelling);
        self.is_replaced |= values.replaces_operand;
        // Behind an operand it would be a path on some systems, or come too late for that operand.
        let is_early = values.replaces_operand || values.kinds.iter().any(Kind::is_folder);
        if is_early && self.operands > 0 {
            return Err((Fault::Unknown, word));
        }
        Ok(values)
    }

    fn next_values(
        &mut self,
        kinds: &[Kind],
        option: &'command str,
        words: &mut Words<'command>,
    ) -> Judged<'command> {
        for kind in kinds {
            let value = words.next().ok_or((Fault::Unknown, option))?;
            let is_number = value.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
            match self.table.style {
                // Whether it is a value or an option is up to the program.
                Style::Free | Style::Argparse if value.starts_with('-') && !is_number => {
                    return Err((Fault::Unknown, value));
                }
                // Where options may not follow operands, it is one.
                Style::Getopt if self.operands > 0 => {
                    self.place
                        .path(value)
                        .map_err(|fault| (fault, value.as_str()))?;
                }
                _ => {}
            }
            self.expect(kind, value, false)?;
        }
        Ok(())
    }

    fn expect(&mut self, kind: &Kind, word: &'command str, is_part: bool) -> Judged<'command> {
        if self.table.style == Style::Argparse && !is_part && word.starts_with('@') {
            // It names a file of arguments.
            return Err((Fault::Unknown, word));
        }
        kind.judge(word, &self.place)
            .map_err(|fault| (fault, word))?;
        if kind.is_folder() {
            self.place.folder.push(word);
        }
        Ok(())
    }
}
