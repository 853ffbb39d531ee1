//! Cancellation: a level that only rises, the running tools, and the children that follow it.

use indexmap::IndexMap;

/// The level of cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CancellationState {
    /// Not cancelled.
    #[default]
    None,
    /// Stop after what runs now.
    Graceful,
    /// Stop at once.
    Immediate,
}

impl CancellationState {
    /// The name of the level, as the contract writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Graceful => "graceful",
            Self::Immediate => "immediate",
        }
    }
}

/// The state of one token; `K` is the handle of a child token, `C` that of a callback.
///
/// A driver keeps it behind a lock and passes each rise on to the children that [`Self::request`]
/// names after it has released that lock, so that cyclic children end: the state is set before
/// they hear of it.
#[derive(Debug)]
pub struct Cancellation<K, C> {
    state: CancellationState,
    running_tools: IndexMap<String, String>,
    children: Vec<K>,
    callbacks: Vec<C>,
}

impl<K, C> Default for Cancellation<K, C> {
    fn default() -> Self {
        Self {
            state: CancellationState::None,
            running_tools: IndexMap::new(),
            children: Vec::new(),
            callbacks: Vec::new(),
        }
    }
}

impl<K, C> Cancellation<K, C> {
    /// The current level.
    #[must_use]
    pub fn state(&self) -> CancellationState {
        self.state
    }

    /// Raises the level; true if it rose. Never lowers it.
    pub fn request(&mut self, level: CancellationState) -> bool {
        let rises = level > self.state;
        if rises {
            tracing::debug!(target: "amplifier_core::cancellation", level = level.as_str(), "cancelled");
            self.state = level;
        }
        rises
    }

    /// Resets the level to none and forgets the running tools; children and callbacks stay.
    pub fn reset(&mut self) {
        self.state = CancellationState::None;
        self.running_tools.clear();
    }

    /// Records that the tool call `id` of the tool `name` is running.
    pub fn tool_started(&mut self, id: String, name: String) {
        self.running_tools.insert(id, name);
    }

    /// Records that the tool call `id` has ended; an unknown id is ignored.
    pub fn tool_completed(&mut self, id: &str) {
        self.running_tools.shift_remove(id);
    }

    /// The running tool calls, as id and tool name, in the order of their start.
    pub fn running_tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.running_tools
            .iter()
            .map(|(id, name)| (id.as_str(), name.as_str()))
    }

    /// Adds a child and returns the level that it has to be raised to.
    pub fn add_child(&mut self, child: K) -> CancellationState {
        self.children.push(child);
        self.state
    }

    /// Removes and returns every child that `is_it` accepts.
    pub fn remove_children(&mut self, mut is_it: impl FnMut(&K) -> bool) -> Vec<K> {
        self.children.extract_if(.., |child| is_it(child)).collect()
    }

    /// The children, to whom every rise is passed on.
    #[must_use]
    pub fn children(&self) -> &[K] {
        &self.children
    }

    /// Adds a callback after the others.
    pub fn add_callback(&mut self, callback: C) {
        self.callbacks.push(callback);
    }

    /// The callbacks in the order of registration.
    #[must_use]
    pub fn callbacks(&self) -> &[C] {
        &self.callbacks
    }

    /// Takes children and callbacks out, so that a driver can drop them outside its lock.
    pub fn clear(&mut self) -> (Vec<K>, Vec<C>) {
        (
            std::mem::take(&mut self.children),
            std::mem::take(&mut self.callbacks),
        )
    }
}
