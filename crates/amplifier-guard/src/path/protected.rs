//! Names that are not written, or not even read, without approval, and forms of paths that are not written at all.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use percent_encoding::percent_decode;

use crate::terminal::TerminalText;
use crate::text::character::{self, Class};

/// The list of protected names; its head says how it is written. Each row is under its first name,
/// or under the empty one if that has a `*`: most names are not looked for in other rows.
static ROWS: LazyLock<HashMap<&str, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<_, Vec<_>> = HashMap::new();
    let mut reason = "";
    for line in include_str!("protected.txt").lines() {
        if let Some(heading) = line.strip_prefix('[') {
            reason = heading.trim_end_matches(']');
        } else if !line.is_empty() && !line.starts_with('#') {
            let names: Vec<_> = line.trim_end_matches('/').split('/').collect();
            let first = if names[0].contains('*') { "" } else { names[0] };
            rows.entry(first).or_default().push(Row {
                names,
                is_folder: line.ends_with('/'),
                reason,
            });
        }
    }
    rows
});

/// Names in a row, each with at most one `*`.
struct Row {
    names: Vec<&'static str>,
    /// Whether more names may follow.
    is_folder: bool,
    /// What such a file does; empty for a name that is free.
    reason: &'static str,
}

impl Row {
    /// Whether `names` begin with the names of this row.
    fn covers(&self, names: &[&str]) -> bool {
        let count = self.names.len();
        let has_count = names.len() == count || self.is_folder && names.len() > count;
        has_count
            && self.names.iter().zip(names).all(|(known, name)| {
                known.split_once('*').map_or(known == name, |(head, tail)| {
                    let rest = name.strip_prefix(head);
                    rest.is_some_and(|rest| rest.ends_with(tail))
                })
            })
    }
}

/// The last names of rows that hold secrets, and what is around the `*` of those that have one.
type Ends = (HashSet<&'static str>, Vec<(&'static str, &'static str)>);

static SECRET_ENDS: LazyLock<Ends> = LazyLock::new(|| {
    let ends = || secret_rows().filter_map(|names| names.last().copied());
    let patterns = ends().filter_map(|name| name.split_once('*'));
    let names = ends().filter(|name| !name.contains('*'));
    (names.collect(), patterns.collect())
});

/// Names that Windows keeps for devices, with any ending.
const DEVICES: &[&str] = &["aux", "con", "conin$", "conout$", "nul", "prn"];

/// What follows `com` and `lpt` there.
const DEVICE_NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³",
];

/// A name that is in no row.
const ANY_NAME: &str = "\0";

/// The heading of names that are not read without approval either.
const SECRETS: &str = "holds secrets";

/// The first name of `path` that is not written without approval, and the reason.
pub(crate) fn protected(path: &Path) -> Option<(String, &'static str)> {
    first(path, |_| true)
}

/// The first name of `path` that is not read without approval.
pub(crate) fn secret(path: &Path) -> Option<String> {
    first(path, |reason| reason == SECRETS).map(|(name, _)| name)
}

/// The first name of `path` that is listed for such a reason, and not as free.
fn first(path: &Path, counts: impl Fn(&str) -> bool) -> Option<(String, &'static str)> {
    let names = folded_names(path);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    first_of(&names, counts)
}

/// Whether a file, or all that is in a folder, is not read without approval, by its name and those of
/// the folders around it, which are folded.
pub(super) fn secret_names(folders: &[String], name: &OsStr, is_folder: bool) -> bool {
    let name = folded(&name.to_string_lossy());
    let names = folders.iter().chain([&name]).map(String::as_str);
    let names: Vec<_> = names.chain(is_folder.then_some(ANY_NAME)).collect();
    first_of(&names, |reason| reason == SECRETS).is_some()
}

/// Whether a name may end a path that is not read without approval; it is folded.
pub(super) fn may_end_secret(name: &str) -> bool {
    let (names, patterns) = &*SECRET_ENDS;
    let fits = |(head, tail): &(&str, &str)| {
        let rest = name.strip_prefix(head);
        rest.is_some_and(|rest| rest.ends_with(tail))
    };
    names.contains(name) || patterns.iter().any(fits)
}

/// The paths of the list that are not read without approval; names may have a `*`.
pub(super) fn secret_rows() -> impl Iterator<Item = &'static [&'static str]> {
    let rows = ROWS.values().flatten();
    rows.filter(|row| row.reason == SECRETS)
        .map(|row| row.names.as_slice())
}

fn first_of(names: &[&str], counts: impl Fn(&str) -> bool) -> Option<(String, &'static str)> {
    (0..names.len()).find_map(|start| {
        let names = &names[start..];
        let rows = [names[0], ""].into_iter().filter_map(|key| ROWS.get(key));
        let mut rows = rows.flatten().filter(|row| row.covers(names));
        let row = rows.find(|row| row.reason.is_empty() || counts(row.reason))?;
        let found = names[..row.names.len()].join("/");
        (!row.reason.is_empty()).then_some((found, row.reason))
    })
}

/// The names of a path as the most lenient file system reads them.
pub(super) fn folded_names(path: &Path) -> Vec<String> {
    path.iter()
        .map(|name| folded(&name.to_string_lossy()))
        .collect()
}

/// A name as the most lenient file system reads it: case, invisible characters, wide forms, anything
/// after a colon, and dots and spaces at the end do not count.
pub(super) fn folded(name: &str) -> String {
    let mut folded = if name.is_ascii() {
        name.to_ascii_lowercase()
    } else {
        let is_seen = |one: &char| matches!(Class::of(*one), Class::Visible | Class::Control);
        let plain = name.chars().filter(is_seen).flat_map(character::plain);
        plain.flat_map(char::to_lowercase).collect()
    };
    let name = folded.split(':').next().unwrap_or_default();
    folded.truncate(name.trim_end_matches(['.', ' ']).len());
    folded
}

/// Why a new file must not be called `path`: other systems or layers would read another path, or
/// another name.
pub(crate) fn misread(path: &Path) -> Option<&'static str> {
    let Some(text) = path.to_str() else {
        return Some("it is not UTF-8");
    };
    if cfg!(windows) {
        // There both stand between names.
        return misread_text(&text.replace('\\', "/"));
    }
    misread_text(text)
}

fn misread_text(text: &str) -> Option<&'static str> {
    leads_elsewhere(text).or_else(|| text.split('/').find_map(renamed))
}

/// Why other systems or layers would read another path than `text`.
fn leads_elsewhere(text: &str) -> Option<&'static str> {
    let has_drive = text.as_bytes().get(1) == Some(&b':')
        && text.as_bytes()[0].is_ascii_alphabetic()
        && matches!(text.as_bytes().get(2), None | Some(b'\\' | b'/'));
    if text.contains('\\') || has_drive {
        return Some("it is a Windows path (use `/` between names, relative to the root)");
    }
    if text
        .chars()
        .any(|character| Class::of(character) == Class::Control)
    {
        return Some("it contains a control character");
    }
    if is_expanded(text.split('/').next().unwrap_or_default()) {
        return Some("a shell would expand its first name");
    }
    if text.contains("://") || text.starts_with("file:") {
        return Some("it is a URL");
    }
    if text.contains(":$") || cfg!(windows) && text.contains(':') {
        return Some("it names an alternate data stream");
    }
    if text.split('/').any(climbs_when_decoded) {
        return Some("it leads upwards when decoded");
    }
    None
}

/// Why what is looked for as `path`, and is not there, may be meant as something else.
pub(crate) fn misleading(path: &Path) -> Option<&'static str> {
    let hides = |text: &str| TerminalText::show(text) != text;
    misread(path).or_else(|| {
        let text = path.to_str()?;
        hides(text).then_some("it contains an invisible character")
    })
}

/// Whether a shell, or a program like one, takes `name` for a home directory or a variable.
fn is_expanded(name: &str) -> bool {
    let variable = name
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .or_else(|| name.strip_prefix('$'))
        .or_else(|| name.strip_prefix('%')?.strip_suffix('%'));
    let is_variable = variable.is_some_and(|variable| {
        !variable.is_empty()
            && variable
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_uppercase())
    });
    is_variable || name == "~"
}

/// Why Windows would use another name for a file called `name`.
fn renamed(name: &str) -> Option<&'static str> {
    if name.ends_with(['.', ' ']) && !name.trim_matches('.').is_empty() {
        return Some("a name ends in a dot or a space, which Windows drops");
    }
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_lowercase();
    let is_numbered = stem
        .strip_prefix("com")
        .or_else(|| stem.strip_prefix("lpt"))
        .is_some_and(|rest| DEVICE_NUMBERS.contains(&rest));
    (DEVICES.contains(&stem.as_str()) || is_numbered)
        .then_some("a name is reserved for a device on Windows")
}

/// Whether `name`, percent-decoded as often as it can be and its wide characters taken for the
/// plain ones, has a part that leads upwards; as it is written, it may be `..`.
fn climbs_when_decoded(name: &str) -> bool {
    if !name.contains(|one| one == '%' || character::ascii(one).is_some()) {
        return false;
    }
    let mut bytes = name.as_bytes().to_vec();
    // Each round shortens what it changes.
    loop {
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        if decoded.len() == bytes.len() {
            break;
        }
        bytes = decoded;
    }
    // An overlong slash is invalid UTF-8, but some decoders read it as a slash.
    let text: String = bytes
        .utf8_chunks()
        .flat_map(|chunk| {
            let slash = (!chunk.invalid().is_empty()).then_some('/');
            chunk.valid().chars().chain(slash)
        })
        .flat_map(character::plain)
        .map(|character| if character == '\\' { '/' } else { character })
        .collect();
    text.split('/').any(|part| part == "..")
}
