//! What the kernel refuses, and why.

use thiserror::Error;

use crate::coordinator::Slot;

/// A mount, unmount or injection that the coordinator refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MountError {
    /// No such slot.
    #[error("Unknown mount point: {0}")]
    UnknownPoint(String),
    /// The registry is not mounted into.
    #[error("Hooks should be registered directly with the HookRegistry")]
    HooksAreRegistered,
    /// A named slot without a name.
    #[error("Name required for {}", .0.as_str())]
    NameRequired(Slot),
    /// A named slot without a name, on removal.
    #[error("Name required to unmount from {}", .0.as_str())]
    NameRequiredToUnmount(Slot),
    /// One injection is longer than the session allows.
    #[error("Context injection exceeds {limit} characters")]
    InjectionTooLong {
        /// The limit in characters.
        limit: i64,
    },
}

/// A session that cannot be made or used as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The configuration is empty.
    #[error("Configuration is required")]
    ConfigMissing,
    /// A module that every session needs is not named.
    #[error("Configuration must specify session.{0}")]
    ModuleMissing(&'static str),
    /// `execute` before `initialize`.
    #[error("Session not initialized. Call initialize() first.")]
    NotInitialized,
}
