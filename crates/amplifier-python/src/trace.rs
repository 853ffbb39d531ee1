//! The decisions that the Rust code traces, kept until Python asks for them.
//!
//! Nothing here calls Python: decisions are traced while locks are held and the interpreter is
//! detached.

use std::collections::VecDeque;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber, callsite, span};

use crate::world;

/// The most lines that are kept; the oldest are dropped first.
const MAX_LINES: usize = 1000;

/// The levels by the names that `logging` has for them, from the most to the least.
const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warning", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// Which of the levels is kept.
static KEPT: AtomicU8 = AtomicU8::new(0);
static IS_LISTENING: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<VecDeque<Told>> = Mutex::new(VecDeque::new());

/// A traced decision: its level as in `logging`, its place, its text, and its time in seconds
/// since 1970, unless a world of Python has it.
type Told = (u8, &'static str, String, Option<f64>);

struct Listener;

/// The message and the fields of an event, each field after its name.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0.insert_str(0, value);
        } else {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0.insert_str(0, &format!("{value:?}"));
        } else {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        !about.is_span() && *about.level() <= kept()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(kept())
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let about = event.metadata();
        let now = world::system_time().map(|now| now.duration_since(UNIX_EPOCH));
        let told = (
            severity(*about.level()),
            about.target(),
            line.0,
            now.map(|since| since.unwrap_or_default().as_secs_f64()),
        );
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(told);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

fn kept() -> LevelFilter {
    LEVELS[usize::from(KEPT.load(Ordering::Relaxed))].1
}

/// The number of a level in `logging`.
fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

/// Keep decisions from this level on: `off`, `error`, `warning`, `info`, `debug` or `trace`.
#[pyfunction]
pub(crate) fn keep_decisions(level: &str) -> PyResult<()> {
    let Some(index) = LEVELS.iter().position(|(name, _)| *name == level) else {
        let names = LEVELS.map(|(name, _)| format!("`{name}`")).join(", ");
        let message = format!("`level` must be one of {names}, found {level:?}");
        return Err(PyValueError::new_err(message));
    };
    KEPT.store(u8::try_from(index).unwrap_or_default(), Ordering::Relaxed);
    if !IS_LISTENING.swap(true, Ordering::Relaxed) {
        // It fails if another subscriber is set, and this library sets no other.
        let _ = tracing::subscriber::set_global_default(Listener);
    }
    callsite::rebuild_interest_cache();
    Ok(())
}

/// Return the decisions since the last call: level, place, text and seconds since 1970 of each.
///
/// The seconds are None where a world is in use that is not the system.
#[pyfunction]
pub(crate) fn take_decisions() -> Vec<(u8, &'static str, String, Option<f64>)> {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.drain(..).collect()
}
