//! The kernel: session, coordinator, hooks and cancellation, and what drives their operations.

pub(crate) mod awaitable;
pub(crate) mod cancellation;
pub(crate) mod cleanup;
pub(crate) mod collect;
pub(crate) mod coordinator;
pub(crate) mod defaults;
pub(crate) mod drive;
pub(crate) mod effects;
pub(crate) mod emit;
pub(crate) mod execute;
pub(crate) mod handlers;
pub(crate) mod hook;
pub(crate) mod hook_result;
pub(crate) mod initialize;
pub(crate) mod mounted;
pub(crate) mod payload;
pub(crate) mod report;
pub(crate) mod sequence;
pub(crate) mod session;
pub(crate) mod shutdown;
pub(crate) mod time_limit;
pub(crate) mod unregister;
