//! Constructors and builders of the shared types, for programs in Rust.
//!
//! All fields are public, so a struct literal does the same; what is built here leaves the rest at
//! its default, as JSON without the key would.

mod approval;
mod block;
mod hook;
mod info;
mod message;
mod request;
mod response;
