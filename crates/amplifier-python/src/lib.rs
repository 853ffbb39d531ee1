//! The extension module `amplifier_core._engine`: one file for each exposed class.

mod awaitable;
mod breaker;
mod cancellation;
mod claude;
mod cleanup;
mod clock;
mod collect;
mod contents;
mod coordinator;
mod decoder;
mod defaults;
mod drive;
mod effects;
mod elsewhere;
mod emit;
mod error;
mod error_context;
mod error_handler;
mod execute;
mod framing;
mod handlers;
mod hook;
mod hook_result;
mod initialize;
mod interpreter;
mod json;
mod limits;
mod model;
mod module;
mod mounted;
mod partial_arguments;
mod path;
mod payload;
mod process;
mod processor;
mod rate;
mod redact;
mod report;
mod sequence;
mod session;
mod shell;
mod shutdown;
mod stream_event;
mod stream_result;
mod tag;
mod tag_call;
mod tag_event;
mod terminal;
mod time_limit;
mod tool_input;
mod trace;
mod unregister;
mod url;

/// The Rust engine behind `amplifier_core`.
#[pyo3::pymodule]
mod _engine {
    use amplifier_core::{capability, event};
    use pyo3::prelude::*;
    use pyo3::types::PyList;

    #[pymodule_export]
    use crate::{
        cancellation::RustCancellationToken, coordinator::RustCoordinator, hook::RustHookRegistry,
        session::RustSession, unregister::RustUnregisterFn,
    };

    #[pymodule_export]
    use crate::{
        json::{read_json, write_json},
        model::{json_schema, round_trip, shared_types},
    };

    #[pymodule_export]
    use crate::path::{LineWindow, PathPolicy, SearchReport, Walk, log_path};

    #[pymodule_export]
    use crate::shell::{ShellPolicy, read_command};

    #[pymodule_export]
    use crate::url::{CheckedUrl, Destination, UrlPolicy};

    #[pymodule_export]
    use crate::terminal::TerminalText;

    #[pymodule_export]
    use crate::redact::{Redactor, RedactorStream, hide_homes, shorten};

    #[pymodule_export]
    use crate::claude::{
        claude_from_kernel, claude_migrate_text, claude_migrate_tool_response,
        claude_new_tool_use_id, claude_to_kernel,
    };

    #[pymodule_export]
    use crate::{
        breaker::CircuitBreaker,
        error_context::{
            asked_wait, describe_error_context, error_kind, error_kinds, round_trip_error_context,
        },
        error_handler::ErrorHandler,
        rate::RateLimiter,
    };

    #[pymodule_export]
    use crate::{
        limits::{check_tool_name, resolve_limits},
        processor::{MessageProcessor, ProcessedMessage},
        tool_input::ToolInputPolicy,
    };

    #[pymodule_export]
    use crate::{
        decoder::{StreamDecoder, decode_error},
        framing::{NdjsonDecoder, SseDecoder, SseEvent},
        stream_event::StreamEvent,
        stream_result::StreamResult,
    };

    #[pymodule_export]
    use crate::{
        process::StreamProcessor,
        tag::{ThinkingFilter, ThinkingParser},
        tag_call::{ParsedCall, ToolCallParser, coerce_arguments},
        tag_event::{ParsedContent, TagEvent},
    };

    #[pymodule_export]
    use crate::trace::{keep_decisions, take_decisions};

    #[pymodule_export]
    use crate::{
        elsewhere::name_elsewhere,
        interpreter::{claim, leave_to_this_thread},
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const RUST_AVAILABLE: bool = true;

    /// Adds the names that are tables: events and capabilities.
    #[pymodule_init]
    fn tables(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        for (name, value) in event::NAMED
            .iter()
            .chain(event::LEGACY)
            .chain(capability::NAMED)
        {
            module.add(*name, *value)?;
        }
        let values =
            |named: &[(&str, &'static str)]| PyList::new(py, named.iter().map(|(_, value)| *value));
        module.add("ALL_EVENTS", values(event::NAMED)?)?;
        module.add("ALL_WELL_KNOWN_CAPABILITIES", values(capability::NAMED)?)
    }
}
