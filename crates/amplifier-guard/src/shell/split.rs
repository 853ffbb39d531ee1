//! One plain command line of POSIX shell to its words, and everything else refused by name.

use super::error::ShellError;
use crate::text::character::{Class, is_look_alike};

/// What joins a command to the one before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ShellJoiner {
    /// `|`: it reads what the one before it writes.
    Pipe,
    /// `&&`: it runs if the one before it succeeds.
    And,
}

/// One command of a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShellStep {
    /// What stands before it; nothing before the first.
    pub joiner: Option<ShellJoiner>,
    /// The words to run.
    pub words: Vec<String>,
}

/// The words of one simple command, as every shell would hand them to the program.
pub(super) fn words(command: &str) -> Result<Vec<String>, ShellError> {
    Reader::new(command, false).command()
}

/// The commands that `|` and `&&` join in `line`.
pub(super) fn steps(line: &str) -> Result<Vec<ShellStep>, ShellError> {
    let mut reader = Reader::new(line, true);
    let mut joiner = None;
    let mut steps = Vec::new();
    loop {
        let words = reader.command()?;
        steps.push(ShellStep { joiner, words });
        joiner = match reader.next() {
            None => return Ok(steps),
            Some('|') => Some(ShellJoiner::Pipe),
            Some(_) => reader.next().map(|_| ShellJoiner::And),
        };
    }
}

/// What a word has shown so far that matters only together.
#[derive(Default)]
struct Braces {
    opened: bool,
    separated: bool,
}

struct Reader<'command> {
    command: &'command str,
    offset: usize,
    /// Whether `|` and `&&` end a command.
    joins: bool,
}

impl<'command> Reader<'command> {
    fn new(command: &'command str, joins: bool) -> Self {
        Self {
            command,
            offset: 0,
            joins,
        }
    }

    /// The words up to the end or a joiner.
    fn command(&mut self) -> Result<Vec<String>, ShellError> {
        let mut words = Vec::new();
        while self.skip_blanks() && !self.is_at_joiner() {
            words.push(self.word(words.is_empty())?);
        }
        match words.first() {
            Some(name) if !name.is_empty() => Ok(words),
            _ => Err(ShellError::Empty),
        }
    }

    /// Whether a joiner follows, and not another operator that begins like one.
    fn is_at_joiner(&self) -> bool {
        let rest = self.rest();
        self.joins
            && (rest.starts_with("&&") || rest.starts_with('|') && !rest.starts_with("|&"))
            && !rest.starts_with("||")
    }

    fn rest(&self) -> &'command str {
        &self.command[self.offset..]
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.offset += character.len_utf8();
        Some(character)
    }

    /// Passes blanks; whether anything follows.
    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        self.offset = self.command.len() - rest.len();
        !rest.is_empty()
    }

    fn refuse<T>(&self, length: usize, construct: &'static str) -> Result<T, ShellError> {
        Err(ShellError::NotPlain {
            construct,
            offset: self.offset - length,
        })
    }

    fn word(&mut self, is_first: bool) -> Result<String, ShellError> {
        let mut word = String::new();
        let mut braces = Braces::default();
        let mut is_quoted = false;
        let start = self.offset;
        while !self.is_at_joiner()
            && let Some(character) = self.next()
        {
            let length = character.len_utf8();
            let is_start = self.offset == start + length;
            match character {
                ' ' | '\t' => break,
                '\'' | '"' => {
                    is_quoted = true;
                    if character == '"' {
                        self.double_quoted(&mut word)?;
                    } else {
                        self.single_quoted(&mut word)?;
                    }
                    continue;
                }
                '\\' => {
                    is_quoted = true;
                    let is_plain = |next: &char| next.is_ascii_graphic() || *next == ' ';
                    let Some(escaped) = self.next().filter(is_plain) else {
                        let construct =
                            "a backslash before a character that is not printable ASCII";
                        return self.refuse(1, construct);
                    };
                    word.push(escaped);
                    continue;
                }
                '\n' | '\r' => return self.refuse(length, "a line break"),
                ';' => return self.refuse(length, "the separator `;`"),
                '&' => return self.refuse(length, "`&` or `&&`"),
                '|' => return self.refuse(length, "a pipe or `||`"),
                '<' | '>' => return self.refuse(length, "a redirection"),
                '(' | ')' => return self.refuse(length, "a subshell or a function"),
                '`' => return self.refuse(length, "a command substitution"),
                '*' | '?' | '[' => return self.refuse(length, "a glob (quote it if it is text)"),
                '$' => self.dollar(" \t", true)?,
                '#' if is_start => return self.refuse(length, "a comment"),
                '~' if is_start || word.ends_with(['=', ':']) => {
                    return self.refuse(length, "a home directory `~`");
                }
                // zsh takes the rest for a program, and puts its path there.
                '=' if is_start && (is_first || self.has_more_of_word()) => {
                    return self.refuse(length, "an expansion `=`");
                }
                '=' if is_first && !is_quoted && is_name(&word) => {
                    return self.refuse(length, "an assignment");
                }
                '!' if is_first && is_start => return self.refuse(length, "the reserved word `!`"),
                '{' if is_first && is_start => return self.refuse(length, "a group or braces"),
                '{' => braces.opened = true,
                ',' => braces.separated |= braces.opened,
                '.' => braces.separated |= braces.opened && word.ends_with('.'),
                '}' if braces.opened && braces.separated => {
                    return self.refuse(length, "a brace expansion");
                }
                _ => {}
            }
            if Class::of(character) != Class::Visible || is_look_alike(character) {
                return self.refuse(length, "an invisible or look-alike character");
            }
            word.push(character);
        }
        Ok(word)
    }

    /// Whether the word goes on.
    fn has_more_of_word(&self) -> bool {
        !self.is_at_joiner() && self.rest().starts_with(|next| !matches!(next, ' ' | '\t'))
    }

    fn single_quoted(&mut self, word: &mut String) -> Result<(), ShellError> {
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(character) => self.push_quoted(word, character)?,
                None => return self.refuse(0, "an unclosed quote"),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), ShellError> {
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('`') => return self.refuse(1, "a command substitution"),
                Some('$') => {
                    self.dollar("\" |)/", false)?;
                    word.push('$');
                }
                Some('\\') => match self.next() {
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => word.push(escaped),
                    Some(other) => {
                        word.push('\\');
                        self.push_quoted(word, other)?;
                    }
                    None => return self.refuse(0, "an unclosed quote"),
                },
                Some(character) => self.push_quoted(word, character)?,
                None => return self.refuse(0, "an unclosed quote"),
            }
        }
    }

    fn push_quoted(&self, word: &mut String, character: char) -> Result<(), ShellError> {
        // Quoted text may hold what looks like ASCII, and what scripts and pictographs need.
        if Class::of(character).is_hidden() {
            return self.refuse(character.len_utf8(), "a control or invisible character");
        }
        word.push(character);
        Ok(())
    }

    /// Accepts a dollar sign before one of `plain`, or at the end if that `ends` a word: there it
    /// is literal.
    fn dollar(&self, plain: &str, ends: bool) -> Result<(), ShellError> {
        match self.rest().chars().next() {
            Some(next) if plain.contains(next) => Ok(()),
            Some('\'') if ends => self.refuse(1, "an ANSI-C quote"),
            Some('(') => self.refuse(1, "a command substitution"),
            None if ends => Ok(()),
            _ => self.refuse(1, "an expansion `$`"),
        }
    }
}

/// Whether `word` could be assigned to: a name, or one with `+` or an index after it.
fn is_name(word: &str) -> bool {
    let name = word.strip_suffix('+').unwrap_or(word);
    let begins = |first: char| first.is_alphabetic() || first == '_';
    name.starts_with(begins) && name.chars().all(|one| one.is_alphanumeric() || one == '_')
}
