//! `TerminalText`: text that a terminal neither acts on nor hides.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use guard::Untrusted;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PySlice, PyString};

/// Characters that are read at a time until the line is full.
const STEP_CHARACTERS: usize = 4096;

/// Shows text on a terminal, whole or in chunks, so that it can neither act nor deceive.
///
/// Shown escaped (as in `docs/sinks.md`) are control characters but newline and tab, separators of
/// lines, bidirectional controls, invisible characters, and of the marks over one character those
/// after the thirtieth. A carriage return before a newline is dropped. Joiners, variation selectors
/// and the tags of flags stay where they have a meaning, so that text of every script stays as it is.
/// What was shown stays as it is when it is shown again.
///
/// An object of the class shows one text that comes in chunks.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct TerminalText {
    text: Mutex<guard::TerminalText>,
}

#[pymethods]
impl TerminalText {
    #[new]
    fn new() -> Self {
        Self {
            text: Mutex::new(guard::TerminalText::new()),
        }
    }

    /// Return a whole text as it may be shown; the same object if nothing in it is escaped.
    #[staticmethod]
    fn show<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let py = text.py();
        with(text, "text", |untrusted| {
            match (
                guard::TerminalText::show(untrusted),
                text.cast::<PyString>(),
            ) {
                (Cow::Borrowed(_), Ok(same)) => same.clone(),
                (shown, _) => PyString::new(py, &shown),
            }
        })
    }

    /// Return a text as one line: blanks, tabs and newlines are one space, none at the ends.
    ///
    /// Of a line of more than `most` characters the last one is `…`; it is cut between visible
    /// characters, and nothing behind is looked at.
    #[staticmethod]
    #[pyo3(signature = (text, most = None))]
    fn line(text: &Bound<'_, PyAny>, most: Option<usize>) -> PyResult<String> {
        let mut line = guard::TerminalLine::new(most.unwrap_or(usize::MAX));
        if let Ok(string) = text.cast::<PyString>()
            && string.len()? > STEP_CHARACTERS
        {
            // The whole of a text that is not ASCII would be copied for its first characters.
            let (py, length) = (text.py(), string.len()?);
            for start in (0..length).step_by(STEP_CHARACTERS) {
                let end = (start + STEP_CHARACTERS).min(length);
                let slice = PySlice::new(py, start.cast_signed(), end.cast_signed(), 1);
                if !with(&string.get_item(slice)?, "text", |step| line.feed(step))? {
                    break;
                }
            }
        } else {
            with(text, "text", |whole| line.feed(whole))?;
        }
        Ok(line.finish())
    }

    /// Return a whole text as one line from which it can be read back.
    ///
    /// Newlines, tabs, carriage returns and backslashes are escaped, too.
    #[staticmethod]
    fn exact(text: &Bound<'_, PyAny>) -> PyResult<String> {
        with(text, "text", |whole| guard::TerminalText::exact(whole))
    }

    /// Take a chunk and return what of it can be shown by now.
    fn feed(&self, chunk: &Bound<'_, PyAny>) -> PyResult<String> {
        with(chunk, "chunk", |chunk| self.locked().feed(chunk))
    }

    /// Return the rest; what is fed later begins another text.
    fn flush(&self) -> String {
        self.locked().flush()
    }
}

impl TerminalText {
    fn locked(&self) -> std::sync::MutexGuard<'_, guard::TerminalText> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `act` with the text that an argument holds.
fn with<T>(
    argument: &Bound<'_, PyAny>,
    name: &str,
    act: impl FnOnce(Untrusted<'_>) -> T,
) -> PyResult<T> {
    let py = argument.py();
    if let Ok(bytes) = argument.cast::<PyBytes>() {
        return Ok(act(Untrusted::Bytes(bytes.as_bytes())));
    }
    if let Ok(bytes) = argument.cast::<PyByteArray>() {
        return Ok(act(Untrusted::Bytes(&bytes.to_vec())));
    }
    let Ok(string) = argument.cast::<PyString>() else {
        let found = argument.get_type().name()?;
        let message = format!("`{name}` must be `str` or `bytes`, found `{found}`");
        return Err(PyTypeError::new_err(message));
    };
    if let Ok(text) = string.to_str() {
        return Ok(act(Untrusted::Text(text)));
    }
    // It holds lone surrogates.
    let arguments = (intern!(py, "utf-32-le"), intern!(py, "surrogatepass"));
    let encoded = string.call_method1(intern!(py, "encode"), arguments)?;
    let (codes, _) = encoded.cast::<PyBytes>()?.as_bytes().as_chunks::<4>();
    let codes: Vec<u32> = codes.iter().map(|code| u32::from_le_bytes(*code)).collect();
    Ok(act(Untrusted::Codes(&codes)))
}
