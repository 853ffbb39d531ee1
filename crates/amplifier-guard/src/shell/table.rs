//! The tables of known programs: which of their sub-commands, options and operands only read.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::kind::Kind;

/// How a program reads its options.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    /// `-abc` is three options and `--long` is one; whether options may follow operands depends on
    /// the system.
    #[default]
    Getopt,
    /// As `Getopt`, and options may follow operands everywhere.
    Free,
    /// As `Free`, but a word that begins with `@` names a file of arguments.
    Argparse,
    /// As `Free`, but the value of a short option is the next word.
    Separate,
    /// As `Free`, but a first word without a dash holds options, whose values follow it.
    Tar,
    /// Each option is a whole word.
    Words,
    /// There are no options: every word is text.
    Text,
}

/// What may follow an option.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) kinds: Vec<Kind>,
    /// It is in the same word, or there is none.
    pub(super) is_optional: bool,
    /// The first operand is missing if the option is there.
    pub(super) replaces_operand: bool,
}

/// What is known to be harmless after the name of a program or sub-command.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a row of a table")]
pub(super) struct Table {
    pub(super) style: Style,
    pub(super) options: HashMap<&'static str, Values>,
    pub(super) operands: Vec<Kind>,
    /// The last operand may come any number of times.
    pub(super) repeats: bool,
    /// `-5` is an option.
    pub(super) is_numeric: bool,
    /// What follows an operand is one, whatever it looks like.
    pub(super) is_ordered: bool,
    /// It runs the program that its words name.
    pub(super) runs_others: bool,
    /// Options of which there must be one.
    pub(super) needs: Option<Vec<&'static str>>,
    pub(super) commands: HashMap<&'static str, Table>,
}

const TEXTS: [&str; 12] = [
    include_str!("programs/build"),
    include_str!("programs/cluster"),
    include_str!("programs/curl"),
    include_str!("programs/files"),
    include_str!("programs/find"),
    include_str!("programs/git"),
    include_str!("programs/go"),
    include_str!("programs/python"),
    include_str!("programs/runners"),
    include_str!("programs/search"),
    include_str!("programs/system"),
    include_str!("programs/text"),
];

static TABLES: LazyLock<Table> = LazyLock::new(|| {
    let mut reader = Reader::default();
    for text in TEXTS {
        let mut row = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            // A line that begins with a blank continues the row.
            if !line.starts_with(' ') {
                reader.expect_row(&row);
                row.clear();
            }
            row.extend(line.split_whitespace());
        }
        reader.expect_row(&row);
    }
    reader.all
});

/// What is known about `program`, by its file name without version digits.
pub(super) fn table(program: &str) -> Option<&'static Table> {
    let name = program.rsplit('/').next().unwrap_or_default();
    let unversioned = name.trim_end_matches(|end: char| end.is_ascii_digit() || "-.".contains(end));
    let tables = &TABLES.commands;
    tables.get(name).or_else(|| tables.get(unversioned))
}

/// Reads the rows of the tables; `programs/README.md` describes them.
#[derive(Default)]
struct Reader {
    all: Table,
    names: Vec<&'static str>,
    /// The programs, or sub-commands of them, that rows are about.
    places: Vec<Vec<&'static str>>,
}

impl Reader {
    fn expect_row(&mut self, row: &[&'static str]) {
        if let Err(problem) = self.row(row) {
            panic!(
                "a table of programs has the row `{}`: {problem}",
                row.join(" ")
            );
        }
    }

    fn row(&mut self, row: &[&'static str]) -> Result<(), &'static str> {
        let Some((&first, rest)) = row.split_first() else {
            return Ok(());
        };
        if matches!(first, "program" | "command") {
            let paths = if first == "command" { rest } else { &[] };
            if first == "program" {
                if rest.iter().any(|name| self.all.commands.contains_key(name)) {
                    return Err("a program twice");
                }
                self.names = rest.to_vec();
            }
            let paths = || paths.split(|word| *word == "|");
            let of = |name| paths().map(move |path| [&[name], path].concat());
            self.places = self.names.iter().flat_map(|name| of(*name)).collect();
        }
        for place in self.places.clone() {
            // Without words it is the program that the command ends with.
            let programs = if rest.is_empty() {
                &place[place.len() - 1..]
            } else {
                rest
            };
            let used = programs.iter().map(|program| self.used(place[0], program));
            let used: Option<Vec<_>> = used.collect();
            let table = self.table(&place);
            match first {
                "program" | "command" => table.needs = None,
                "style" => {
                    table.style = Style::deserialize(rest.concat().as_str().into_deserializer())
                        .map_err(|_: Error| "an unknown style")?;
                }
                "numeric" => table.is_numeric = true,
                "ordered" => table.is_ordered = true,
                "runs" => table.runs_others = true,
                "needs" => {
                    table.needs = Some(rest.to_vec());
                    for option in rest {
                        table.options.entry(option).or_default();
                    }
                }
                "use" => {
                    for used in used.ok_or("it is not known yet")? {
                        if used.style != Style::Getopt {
                            table.style = used.style;
                        }
                        table.options.extend(used.options);
                        table.commands.extend(used.commands);
                        table.is_numeric |= used.is_numeric;
                        table.needs = used.needs.or(table.needs.take());
                        if !used.operands.is_empty() {
                            (table.operands, table.repeats) = (used.operands, used.repeats);
                        }
                    }
                }
                "operands" => {
                    let (last, others) = rest.split_last().ok_or("there is none")?;
                    table.repeats = last.ends_with('*');
                    let last = last.trim_end_matches('*');
                    let kinds = others.iter().chain([&last]).map(|kind| Kind::read(kind));
                    table.operands = kinds.collect::<Option<_>>().ok_or("an unknown kind")?;
                }
                _ => options(table, row)?,
            }
        }
        Ok(())
    }

    /// A sub-command of `name`, another program or a family.
    fn used(&self, name: &str, used: &str) -> Option<Table> {
        let program = self.all.commands.get(name);
        let command = program.and_then(|program| program.commands.get(used));
        command.or_else(|| self.all.commands.get(used)).cloned()
    }

    /// The table of a program, or of the sub-command of it that further words name.
    fn table(&mut self, place: &[&'static str]) -> &mut Table {
        place.iter().fold(&mut self.all, |table, word| {
            let style = table.style;
            table.commands.entry(word).or_insert_with(|| Table {
                style,
                // Without a row of its own it does not pass.
                needs: Some(Vec::new()),
                ..Table::default()
            })
        })
    }
}

/// Adds options: `flags` or what follows them, then their spellings.
fn options(table: &mut Table, row: &[&'static str]) -> Result<(), &'static str> {
    let start = row.iter().position(|word| word.starts_with('-'));
    let (form, spellings) = row.split_at(start.ok_or("an unknown row")?);
    let mut values = Values::default();
    for word in form {
        let optional = word
            .strip_prefix("[=")
            .and_then(|kind| kind.strip_suffix(']'));
        if let Some(kind) = optional.or(word.strip_prefix('=')) {
            values
                .kinds
                .push(Kind::read(kind).ok_or("an unknown kind")?);
            values.is_optional = optional.is_some();
        } else if *word == "instead" {
            values.replaces_operand = true;
        } else if *word != "flags" {
            return Err("an unknown row");
        }
    }
    for spelling in spellings {
        let rows = match spelling.strip_prefix("--[no-]") {
            // The option that switches another one off has no value.
            Some(name) => vec![
                (&*format!("--{name}").leak(), values.clone()),
                (&*format!("--no-{name}").leak(), Values::default()),
            ],
            None => vec![(*spelling, values.clone())],
        };
        for (option, values) in rows {
            if !option.starts_with('-') || table.options.insert(option, values).is_some() {
                return Err("an option twice, or none");
            }
        }
    }
    (!form.is_empty())
        .then_some(())
        .ok_or("options without their form")
}
