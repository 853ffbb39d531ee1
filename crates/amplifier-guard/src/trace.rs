//! What the guard refuses, as events of `tracing`: why, but never with what looks like a secret.

use std::fmt::Display;

use crate::shown;

/// The most characters of a reason.
const MAX_REASON_CHARACTERS: usize = 300;

/// Reports that `sink` refused something.
pub(crate) fn refused(sink: &'static str, reason: &impl Display) {
    if tracing::enabled!(target: "amplifier_guard::sinks", tracing::Level::DEBUG) {
        let reason = shown::line(&reason.to_string(), MAX_REASON_CHARACTERS);
        tracing::debug!(target: "amplifier_guard::sinks", sink, reason, "refused");
    }
}
