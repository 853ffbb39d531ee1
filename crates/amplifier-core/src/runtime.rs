//! The driver for tokio: a whole session in Rust, with no Python.
//!
//! The decisions are those of [`crate::hook`], [`crate::coordinator`], [`crate::cancellation`] and
//! [`crate::session`]; here they are put behind locks and awaited. No lock is held while a module
//! runs. Dropping a future cancels what it waits for and leaves no operation half done.
//!
//! Only time limits need tokio's runtime, with its timer enabled. What is skipped is logged
//! through the crate `log`, under the logger names of the contract.

mod basic_loop;
mod cancellation;
mod cleanup;
mod contribution;
mod coordinator;
mod effects;
mod emission;
mod function_tool;
mod history;
mod hook;
#[cfg(all(test, any(loom, shuttle)))]
mod interleavings;
mod kernel;
mod module;
mod redaction;
mod scripted_provider;
mod session;
mod simple_context;
mod sync;
mod together;
mod world;

pub use basic_loop::BasicLoop;
pub use cancellation::CancellationToken;
pub use coordinator::Coordinator;
pub use function_tool::FunctionTool;
pub use hook::{HookOptions, HookRegistry, Unregister};
pub use module::Module;
pub use scripted_provider::{ScriptItem, ScriptedProvider};
pub use session::{Session, SessionBuilder, SessionOptions};
pub use simple_context::SimpleContext;
pub use world::SystemWorld;
