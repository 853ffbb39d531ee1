//! Messages of handlers to the user about an event that continues.

use crate::model::UserMessageLevel;

/// One message to the user, made of those of all handlers, and whether the output is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The texts in the order of the handlers, each on lines of its own; `None` if there are none.
    pub message: Option<String>,
    /// The highest level of all.
    pub level: UserMessageLevel,
    /// The sources that the handlers name, each once.
    pub sources: Vec<String>,
    /// Whether any handler suppresses the output.
    pub suppresses_output: bool,
}

impl Default for Notice {
    fn default() -> Self {
        Self {
            message: None,
            level: UserMessageLevel::Info,
            sources: Vec::new(),
            suppresses_output: false,
        }
    }
}

impl Notice {
    /// Adds what the next handler says; a source without a message says nothing.
    pub fn add(&mut self, next: Self) {
        self.suppresses_output |= next.suppresses_output;
        let Some(text) = next.message.filter(|text| !text.is_empty()) else {
            return;
        };
        self.message = Some(match self.message.take() {
            Some(before) => format!("{before}\n{text}"),
            None => text,
        });
        if weight(next.level) > weight(self.level) {
            self.level = next.level;
        }
        for name in next.sources {
            if !name.is_empty() && !self.sources.contains(&name) {
                self.sources.push(name);
            }
        }
    }

    /// The sources, joined; `None` if no handler names one.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        (!self.sources.is_empty()).then(|| self.sources.join(", "))
    }
}

fn weight(level: UserMessageLevel) -> u8 {
    match level {
        UserMessageLevel::Info => 0,
        UserMessageLevel::Warning => 1,
        UserMessageLevel::Error => 2,
    }
}
