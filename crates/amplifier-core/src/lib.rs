//! The agent kernel: types and decisions, with no Python and no I/O.
