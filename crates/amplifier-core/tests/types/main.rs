//! The shared types read what they write, and write what Pydantic writes.

mod construct;
mod content;
mod info;
mod json;
mod message;
mod model;
mod special;
mod strategies;
