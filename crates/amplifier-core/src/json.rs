//! Opaque JSON, kept exactly: order, integers of any size, and the forms that Pydantic writes.

mod read;
mod serde;
mod value;

pub use read::JsonError;
pub use value::{BigInt, Json, MAX_DEPTH, MAX_DIGITS, Object};
