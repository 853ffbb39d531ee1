//! Tests of changes, on layers written as the kernel writes them.

mod conflicts;
mod crashes;
mod layers;
mod random;
mod recordings;
mod tampering;
mod world;
