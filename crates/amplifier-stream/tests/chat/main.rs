//! The Chat Completions dialect, however a vendor writes it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in the call read better without `&`"
)]

mod answers;
mod calls;
mod ends;
mod errors;
mod reasoning;
mod usage;
mod vendors;
mod wire;
