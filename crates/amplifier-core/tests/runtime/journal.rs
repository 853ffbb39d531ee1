//! What the driver logs, by thread: each test runs on one of its own.

use std::cell::RefCell;
use std::sync::Once;

use log::{Level, Log, Metadata, Record};

thread_local! {
    static LINES: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
}

struct Journal;

impl Log for Journal {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("amplifier_core.")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = (record.level(), record.args().to_string());
            LINES.with_borrow_mut(|lines| lines.push(line));
        }
    }

    fn flush(&self) {}
}

/// Begins to write down; whatever is logged on this thread before is forgotten.
pub(crate) fn begin() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&Journal).expect("nobody else sets a logger");
        log::set_max_level(log::LevelFilter::Debug);
    });
    LINES.take();
}

/// The lines since `begin`.
pub(crate) fn lines() -> Vec<(Level, String)> {
    LINES.take()
}
