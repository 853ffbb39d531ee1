//! The life of a session: its phase, and the announcements of each step.

use crate::error::SessionError;
use crate::event;

/// The phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Created, with nothing loaded.
    #[default]
    Created,
    /// Modules are being loaded.
    Initializing,
    /// Ready for turns.
    Ready,
}

/// The task of a call of `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initialization {
    /// Load the modules now.
    Load,
    /// Wait for the load in progress, then ask again.
    Wait,
    /// Nothing: the session is initialized.
    Done,
}

/// The state of one session, without its modules.
#[derive(Debug, Default)]
pub struct Session {
    phase: Phase,
    is_resumed: bool,
    is_announced: bool,
}

impl Session {
    /// A new session, or one that continues an earlier one.
    #[must_use]
    pub fn new(is_resumed: bool) -> Self {
        Self {
            is_resumed,
            ..Self::default()
        }
    }

    /// Whether it is ready for turns.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Whether it continues an earlier session.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Decides the task of a call of `initialize`, and claims the load.
    pub fn begin_initialize(&mut self) -> Initialization {
        match self.phase {
            Phase::Created => {
                self.phase = Phase::Initializing;
                Initialization::Load
            }
            Phase::Initializing => Initialization::Wait,
            Phase::Ready => Initialization::Done,
        }
    }

    /// Ends the claimed load; after a failure it can be retried.
    pub fn end_initialize(&mut self, succeeded: bool) {
        self.phase = if succeeded {
            Phase::Ready
        } else {
            Phase::Created
        };
    }

    /// Lets the session be announced as one that goes on, which was found while it was loaded.
    pub fn resume(&mut self) {
        self.is_resumed = true;
    }

    /// Begins a turn and names the event that announces the session: only on its first turn, and
    /// differently for a resumed one.
    pub fn begin_turn(&mut self) -> Result<Option<&'static str>, SessionError> {
        if !self.is_initialized() {
            return Err(SessionError::NotInitialized);
        }
        if std::mem::replace(&mut self.is_announced, true) {
            return Ok(None);
        }
        Ok(Some(if self.is_resumed {
            event::SESSION_RESUME
        } else {
            event::SESSION_START
        }))
    }

    /// Closes the session; true if it was open and its end has to be announced.
    pub fn close(&mut self) -> bool {
        let was_open = self.is_initialized();
        if was_open {
            self.phase = Phase::Created;
        }
        was_open
    }
}
