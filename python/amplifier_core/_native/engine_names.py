"""Names of `_engine` that are not part of the compiled module.

Some are implemented in Python, once for both engines. The others belonged to the gRPC and WASM
transports, which are not there: asking for one says so.
"""

from __future__ import annotations

from typing import Any

PYTHON_NAMES = {
    "ProviderError": "_provider_error",
    "RetryConfig": "_retry_config",
    "_normalize_tool_result_content": "_models.tool_content_json",
    "_tool_result_safe_hook_presentation": "_models.tool_content_json",
    "classify_error_message": "_kernel.error_words",
    "compute_delay": "_retry_config",
    "resolve_module": "_loading.resolve",
}
"""Names that are implemented in Python, and their submodule of `amplifier_core`."""

ABSENT_NAMES = {
    "WasmApproval": "WASM",
    "WasmContext": "WASM",
    "WasmHook": "WASM",
    "WasmOrchestrator": "WASM",
    "WasmProvider": "WASM",
    "WasmTool": "WASM",
    "json_to_proto_chat_response": "gRPC",
    "load_and_mount_wasm": "WASM",
    "load_wasm_from_path": "WASM",
    "proto_chat_request_to_json": "gRPC",
}
"""Names of the transports that are not there."""


def lookup(name: str) -> Any:
    """Return what `_engine` has under a name in addition to its compiled members.

    Raises:
        ImportError: The name belongs to a transport that is not there.
        AttributeError: There is no such name.
    """
    if name in PYTHON_NAMES:
        from importlib import import_module

        return getattr(import_module(f"amplifier_core.{PYTHON_NAMES[name]}"), name)
    if name in ABSENT_NAMES:
        raise ImportError(explain_absence(ABSENT_NAMES[name], f"`amplifier_core._engine.{name}`"))
    raise AttributeError(f"module 'amplifier_core._engine' has no attribute '{name}'")


def explain_absence(transport: str, name: str) -> str:
    """Return why something of a transport cannot be imported."""
    return (
        f"cannot import {name}: this package has no {transport} transport, "
        "its modules are Python packages"
    )
