//! Decisions, told to whoever listens by `tracing`: why, but never with a secret that looks like one.

use std::fmt::Display;

use crate::redact::Redactor;
use crate::terminal::TerminalText;

/// The most characters of a reason.
const MOST: usize = 300;

/// Tells that `sink` refused something.
pub(crate) fn refused(sink: &'static str, reason: &impl Display) {
    if tracing::enabled!(target: "amplifier_guard::sinks", tracing::Level::DEBUG) {
        let reason = told(reason);
        tracing::debug!(target: "amplifier_guard::sinks", sink, reason, "refused");
    }
}

/// The words of an error as one line without what looks like a secret.
fn told(reason: &impl Display) -> String {
    match Redactor::new(std::iter::empty::<&str>()) {
        Ok(redactor) => TerminalText::line(&*redactor.redact(&reason.to_string()), MOST),
        Err(_) => String::new(),
    }
}
