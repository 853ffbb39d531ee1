//! The kernel: session, coordinator, hooks and cancellation, and what drives their operations.

pub(crate) mod awaitable;
pub(crate) mod cancellation;
pub(crate) mod coordinator;
pub(crate) mod drive;
pub(crate) mod hook;
pub(crate) mod payload;
pub(crate) mod report;
pub(crate) mod sequence;
pub(crate) mod session;
pub(crate) mod timeout;
