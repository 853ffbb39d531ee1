//! The extension module `amplifier_core._engine`: one file for each exposed class.

mod path;

/// The Rust engine behind `amplifier_core`.
#[pyo3::pymodule]
mod _engine {
    #[pymodule_export]
    use crate::path::{LineWindow, PathPolicy, SearchReport, Walk};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const RUST_AVAILABLE: bool = true;
}
