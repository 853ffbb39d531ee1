#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]

mod attributes;
mod change;
mod chosen;
mod clean;
mod error;
mod exchange;
mod folder_state;
mod identity;
mod layer;
mod manifest;
mod moment;
mod name_in;
mod outcome;
mod place;
mod plan;
mod recorded;
mod same_file;
mod seen;
mod step;
mod swap;
#[cfg(test)]
mod tests;
mod tree;

pub use change::Change;
pub use error::ChangeError;
pub use outcome::{ChangedPath, Conflict, Dropped, Outcome, State};
pub use plan::{Kind, PathType};
