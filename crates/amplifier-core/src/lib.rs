//! The agent kernel: types and decisions, with no Python and no I/O.

mod json;

pub use json::{BigInt, Json, JsonError, MAX_DEPTH, MAX_DIGITS, Object};
