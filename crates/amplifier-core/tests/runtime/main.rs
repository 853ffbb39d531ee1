//! The tokio driver keeps what the contract promises.

mod cancellation;
mod coordinator;
mod dropping;
mod effects;
mod fakes;
mod hooks;
mod journal;
mod model;
mod programs;
mod session;
