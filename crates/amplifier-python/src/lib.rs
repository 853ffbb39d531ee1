//! The extension module `amplifier_core._engine`: what each family exposes, and what all share.

#[cfg(target_os = "linux")]
mod changes;
mod contents;
mod engine_names;
mod error;
mod guard;
mod interpreter;
mod json;
mod json_shape;
mod kernel;
mod lazy_object;
mod model;
mod module;
#[cfg(target_os = "linux")]
mod sandbox;
mod stream;
mod trace;
mod traverse;
mod world;

/// The Rust engine behind `amplifier_core`.
#[pyo3::pymodule]
mod _engine {
    use amplifier_core::{capability, event};
    use pyo3::prelude::*;
    use pyo3::types::PyList;

    use crate::kernel::drive::Step;

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::changes::Change;

    #[pymodule_export]
    use crate::json_shape::copy_of;

    #[pymodule_export]
    use crate::kernel::{
        cancellation::RustCancellationToken,
        coordinator::mounted::RustCoordinator,
        hook::{
            registry::RustHookRegistry, unfinished_text::UnfinishedText,
            unregister::RustUnregisterFn,
        },
        session::{plain_plan::is_plain_plan, state::RustSession},
    };

    #[pymodule_export]
    use crate::stream::{
        decoder::{StreamDecoder, decode_error},
        framing::{NdjsonDecoder, SseDecoder, SseEvent},
        http_status::{status_kind, status_of_kind},
        process::StreamProcessor,
        stream_event::StreamEvent,
        stream_result::StreamResult,
        tag::{
            block_filter::ThinkingFilter, call::ParsedCall, coerce::coerce_arguments,
            event::TagEvent, parsed_content::ParsedContent, thinking::ThinkingParser,
            tool_call::ToolCallParser,
        },
    };

    #[pymodule_export]
    use crate::guard::{
        breaker::CircuitBreaker,
        claude::{
            claude_from_kernel, claude_to_kernel, migrate_text, migrate_tool_response,
            new_tool_use_id,
        },
        error_context::{
            describe_error_context, enter_error_context, error_context_limits, error_kinds,
            retry_error_context, round_trip_error_context,
        },
        error_handler::ErrorHandler,
        failure::error_kind,
        limits::{check_tool_name, resolve_limits},
        path::{LineWindow, PathPolicy, SearchReport, Walk, log_path, secret_places},
        personal_data::{PersonalData, PersonalDataStream},
        processed_message::ProcessedMessage,
        processor::MessageProcessor,
        rate::RateLimiter,
        redact::{Redactor, RedactorStream, hide_homes, shorten},
        shell::{ShellPolicy, read_command},
        terminal::TerminalText,
        tool_input::ToolInputPolicy,
        url::{CheckedUrl, Destination, UrlDecisions},
    };

    #[pymodule_export]
    use crate::{
        engine_names::look_up_name,
        interpreter::{claim, leave_to_this_thread},
        json::{read_json, write_json},
        model::{json_schema, round_trip, shared_types},
        trace::{keep_decisions, take_decisions},
        world::follow,
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
        // Otherwise made at first use, under a lock, while Python code may run.
        py.get_type::<Step>();
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
