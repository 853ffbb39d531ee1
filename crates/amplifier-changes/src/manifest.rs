//! The manifest of a change: lines of JSON, each of which is on the disk before what it announces.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::plan::{Plan, Recording};
use crate::step;

/// Which way the versions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Commit,
    Undo,
    Redo,
}

/// What is about to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) direction: Direction,
    /// The numbers of the operations and of the folders whose times are set, sorted.
    pub(crate) operations: Vec<usize>,
    pub(crate) folders: Vec<usize>,
}

/// A conflict: where, which version was kept aside where, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clash {
    pub(crate) place: Place,
    pub(crate) kept: Option<Place>,
    pub(crate) reason: String,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) direction: Direction,
    pub(crate) operations: Vec<usize>,
    pub(crate) clashes: Vec<Clash>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Line {
    Recording(Recording),
    Plan(Plan),
    Start(Start),
    End(End),
}

/// All that a manifest says.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) recording: Option<Recording>,
    pub(crate) plan: Option<Plan>,
    /// What was begun and has not ended.
    pub(crate) start: Option<Start>,
    /// How the change came into the project.
    pub(crate) committed: Option<End>,
    /// What ended last.
    pub(crate) last: Option<Direction>,
}

impl Manifest {
    /// Reads it; of a line that a crash cut off nothing was done.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            text => text?,
        };
        let mut manifest = Self::default();
        for line in whole_lines(&text) {
            match serde_json::from_slice(line)? {
                Line::Recording(recording) => manifest.recording = Some(recording),
                Line::Plan(plan) => manifest.plan = Some(plan),
                Line::Start(start) => manifest.start = Some(start),
                Line::End(end) => {
                    manifest.last = Some(end.direction);
                    manifest.start = None;
                    if end.direction == Direction::Commit {
                        manifest.committed = Some(end);
                    }
                }
            }
        }
        Ok(manifest)
    }
}

/// Reads what a tool has kept of files, which is the first line; None for other changes, whose lines
/// may be long.
pub(crate) fn read_recording(path: &Path) -> io::Result<Option<Recording>> {
    const BEGINNING: &str = r#"{"recording":"#;

    let mut file = File::open(path)?;
    let mut text = vec![0; BEGINNING.len()];
    match file.read_exact(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if text != BEGINNING.as_bytes() {
        return Ok(None);
    }
    file.read_to_end(&mut text)?;
    let Some(line) = whole_lines(&text).next() else {
        return Ok(None);
    };
    match serde_json::from_slice(line)? {
        Line::Recording(recording) => Ok(Some(recording)),
        _ => Ok(None),
    }
}

/// Appends lines; `is_intent` has them on the disk before this returns.
pub(crate) fn append(path: &Path, lines: &[Line], is_intent: bool) -> io::Result<()> {
    let file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    // A line that a crash cut off would swallow the next one.
    let text = std::fs::read(path)?;
    let whole = whole_lines(&text).map(|line| line.len() + 1).sum::<usize>();
    if whole < text.len() {
        file.set_len(whole as u64)?;
    }
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
    }
    step::write(&file, &bytes)?;
    if is_intent {
        step::sync(&file)?;
        if let Some(folder) = path.parent() {
            step::sync(File::open(folder)?.as_fd())?;
        }
    }
    Ok(())
}

fn whole_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
}
