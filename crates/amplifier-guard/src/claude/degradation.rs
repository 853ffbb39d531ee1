//! What the dialect cannot hold, named.

use amplifier_core::{Degradation, Json, Object, Visibility};

/// The degradations of a message so far. They show no text of it, which may be secret.
#[derive(Default)]
pub(super) struct Degradations(pub(super) Vec<Degradation>);

impl Degradations {
    /// Record what was found at a place, what became of it, and why.
    pub(super) fn name(&mut self, place: &str, found: &str, actual: &str, reason: &str) {
        self.0.push(Degradation {
            requested: format!("`{place}`: {found}"),
            actual: actual.to_owned(),
            reason: reason.to_owned(),
            extra: Object::new(),
        });
    }

    /// Name a value that is left out.
    pub(super) fn leave_out(&mut self, place: &str, value: &Json, reason: &str) {
        self.name(place, value.kind(), "left out", reason);
    }

    /// Name who may see a block, if that is said.
    pub(super) fn visibility(&mut self, block: &str, visibility: Option<Visibility>) {
        if let Some(visibility) = visibility {
            self.name(
                &format!("{block}.visibility"),
                &format!("`{}`", visibility.as_str()),
                "left out",
                "blocks of the Claude dialect do not say who may see them",
            );
        }
    }
}
