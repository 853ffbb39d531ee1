//! What the options of known programs can do beyond reading: run, write, or change what runs.

use super::options::{Operands, Options, Program};
use super::sed;
use super::table::{GIT_RUNS, GIT_SHOWS, PLAIN, PROGRAMS, RUNNERS, WRAPPERS};

/// Whether `name` runs other programs, so that `prefix_words` words of a prefix do not settle what.
pub(super) fn runs_others(name: &str, prefix_words: usize) -> bool {
    WRAPPERS.contains(&name) || (prefix_words < 2 && RUNNERS.contains(&name))
}

/// What is known about the program `name`.
pub(super) fn program(name: &str) -> &'static Program {
    let known = PROGRAMS.iter().find(|program| program.name == name);
    known.unwrap_or(&PLAIN)
}

/// What the words after a program's name hold.
#[derive(Debug, Default)]
pub(super) struct Reading<'argv> {
    /// The first word that must not pass without a person.
    pub(super) refused: Option<&'argv str>,
    /// Everything that the program may open.
    pub(super) paths: Vec<&'argv str>,
}

impl Program {
    /// Reads the words after the name; `prefix` of them were allowed by name.
    pub(super) fn read<'argv>(&self, argv: &'argv [String], prefix: usize) -> Reading<'argv> {
        let mut reading = Reading::default();
        let mut needs_pattern = self.operands == Operands::PatternThenPaths;
        let mut operands = Vec::new();
        let mut words = argv.iter().skip(1).map(String::as_str).enumerate();
        let mut is_over = false;
        let mut subcommand = None;
        while let Some((index, word)) = words.next() {
            if is_over || !word.starts_with('-') || word == "-" {
                if self.name == "git" && subcommand.is_none() {
                    subcommand = Some(word);
                    if index >= prefix && GIT_RUNS.contains(&word) {
                        reading.refused.get_or_insert(word);
                    }
                }
                if self.name == "tar" && index == 0 && self.has_refused_letter(word) {
                    // Its first word holds options, with or without a dash.
                    reading.refused.get_or_insert(word);
                }
                if self.name == "make" && index >= prefix && word.contains('=') {
                    // A variable may hold a command.
                    reading.refused.get_or_insert(word);
                }
                operands.push(word);
                continue;
            }
            if word == "--" {
                // find knows no end of options, and pytest looks for `-p` beyond it.
                is_over = self.options != Options::Words && self.name != "pytest";
                continue;
            }
            if self.name == "pytest"
                && let Some(plugin) = word.strip_prefix("-p")
            {
                let next = || words.next().map_or("", |(_, next)| next);
                let plugin = Some(plugin).filter(|plugin| !plugin.is_empty());
                if !plugin.unwrap_or_else(next).starts_with("no:") {
                    // Any other value loads a plugin; this one turns one off.
                    reading.refused.get_or_insert(word);
                }
                continue;
            }
            let is_setting = self.name == "git" && subcommand.is_none() && index >= prefix;
            if is_setting && !GIT_SHOWS.contains(&word) {
                // Options before the subcommand set what is run and where.
                reading.refused.get_or_insert(word);
            }
            let (option, value) = self.option(word);
            if self.refuses(word, option) {
                reading.refused.get_or_insert(word);
            }
            let gives_pattern = self.pattern.contains(&option);
            needs_pattern &= !gives_pattern;
            let value = match value {
                None if option.len() == 1 && self.valued.contains(option)
                    || gives_pattern && option != "files" =>
                {
                    words.next().map(|(_, next)| next)
                }
                value => value,
            };
            let Some(value) = value else { continue };
            match (self.name, gives_pattern) {
                ("sed", true) if !sed::is_harmless(value) => {
                    reading.refused.get_or_insert(value);
                }
                (_, true) if option != "f" && option != "file" => {}
                _ => reading.paths.push(value),
            }
        }
        if self.operands == Operands::Text {
            return reading;
        }
        let mut operands = operands.into_iter();
        if needs_pattern
            && let Some(pattern) = operands.next()
            && self.name == "sed"
            && !sed::is_harmless(pattern)
        {
            reading.refused.get_or_insert(pattern);
        }
        reading.paths.extend(operands);
        reading
    }

    /// The option that takes a value in `word`, or the whole of it, and the value, if it is there.
    fn option<'word>(&self, word: &'word str) -> (&'word str, Option<&'word str>) {
        let bare = word.trim_start_matches('-');
        if word.starts_with("--") || !matches!(self.options, Options::Usual | Options::Exact) {
            return match bare.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (bare, None),
            };
        }
        let valued = bare
            .char_indices()
            .find(|(_, letter)| self.valued.contains(*letter));
        if let Some((offset, letter)) = valued {
            let (name, value) = bare[offset..].split_at(letter.len_utf8());
            return (name, Some(value).filter(|value| !value.is_empty()));
        }
        // Whether a letter of an unknown option takes the rest is unknown: what looks like a
        // path is taken for one.
        let value = bare
            .find(['/', '=', '~'])
            .map(|offset| bare[offset..].trim_start_matches('='));
        (bare, value)
    }

    fn refuses(&self, word: &str, option: &str) -> bool {
        match self.options {
            Options::Words => return self.long.contains(&option),
            Options::Loose => return self.long.iter().any(|refused| refused.starts_with(option)),
            Options::Usual | Options::Exact => {}
        }
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            if self.options == Options::Exact {
                return self.long.contains(&name);
            }
            // Most programs accept abbreviated long options; one that takes a pattern must be
            // spelled out, or the words after it would be misread.
            return self.long.iter().any(|refused| refused.starts_with(name))
                || !self.pattern.contains(&name)
                    && self.pattern.iter().any(|pattern| pattern.starts_with(name));
        }
        self.has_refused_letter(&word[1..])
    }

    fn has_refused_letter(&self, letters: &str) -> bool {
        letters
            .chars()
            .take_while(|letter| !self.valued.contains(*letter))
            .any(|letter| self.short.contains(letter))
    }
}
