//! The life of a session: which phase it is in, and what each step of a turn has to announce.

use crate::error::SessionError;
use crate::event;

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Made, with nothing loaded.
    #[default]
    Created,
    /// Modules are being loaded.
    Initializing,
    /// Ready for turns.
    Ready,
}

/// What a call of `initialize` has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initialization {
    /// Load the modules now.
    Load,
    /// Wait for the load that runs, then ask again.
    Wait,
    /// Nothing: it is done.
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

    /// Says what a call of `initialize` has to do, and claims the load.
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

    /// Ends the load that was claimed; after a failure it can be tried again.
    pub fn end_initialize(&mut self, succeeded: bool) {
        self.phase = if succeeded {
            Phase::Ready
        } else {
            Phase::Created
        };
    }

    /// Begins a turn and names the event that announces the session: on its first turn only, as
    /// resuming must not look like starting and a second prompt like neither.
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

    /// Closes the session; true if it was open, so that its end has to be announced.
    pub fn close(&mut self) -> bool {
        let was_open = self.is_initialized();
        if was_open {
            self.phase = Phase::Created;
        }
        was_open
    }
}
