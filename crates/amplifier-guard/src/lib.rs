//! Decisions at the sinks: what a path, a command or a text may do.
