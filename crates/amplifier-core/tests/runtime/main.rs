//! The tokio driver keeps what the contract promises.

mod basic_loop;
mod cancellation;
mod coordinator;
mod dropping;
mod effects;
mod fakes;
mod histories;
mod hooks;
mod journal;
mod model;
mod programs;
mod scripted_provider;
mod session;
mod simple_context;
mod turns;
mod world;
