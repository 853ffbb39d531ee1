"""Every public name of amplifier-core 2.0.2 is there, and every name that programs reach for."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import amplifier_core
from amplifier_core import _engine

TOP_LEVEL = [
    "AbortError",
    "AccessDeniedError",
    "AmplifierSession",
    "ApprovalProvider",
    "ApprovalRequest",
    "ApprovalResponse",
    "AuthenticationError",
    "CancellationState",
    "CancellationToken",
    "ChatRequest",
    "ChatResponse",
    "ConfigField",
    "ConfigurationError",
    "ContentBlock",
    "ContentBlockType",
    "ContentFilterError",
    "ContextInjection",
    "ContextLengthError",
    "ContextManager",
    "Degradation",
    "EventRecorder",
    "HookHandler",
    "HookRegistry",
    "HookResult",
    "ImageBlock",
    "InvalidRequestError",
    "InvalidToolCallError",
    "LLMError",
    "LLMTimeoutError",
    "Message",
    "MockContextManager",
    "MockCoordinator",
    "MockTool",
    "ModelInfo",
    "ModuleCoordinator",
    "ModuleInfo",
    "ModuleLoader",
    "ModuleValidationError",
    "NetworkError",
    "NotFoundError",
    "Orchestrator",
    "Pricing",
    "Provider",
    "ProviderInfo",
    "ProviderUnavailableError",
    "QuotaExceededError",
    "RUST_AVAILABLE",
    "RateLimitError",
    "ReasoningBlock",
    "RedactedThinkingBlock",
    "ResponseFormat",
    "ResponseFormatJson",
    "ResponseFormatJsonSchema",
    "ResponseFormatText",
    "RetryConfig",
    "RustCancellationToken",
    "RustCoordinator",
    "RustHookRegistry",
    "RustSession",
    "ScriptedOrchestrator",
    "SessionStatus",
    "StreamError",
    "TextBlock",
    "TextContent",
    "ThinkingBlock",
    "ThinkingContent",
    "Tool",
    "ToolCall",
    "ToolCallBlock",
    "ToolCallContent",
    "ToolResult",
    "ToolResultBlock",
    "ToolResultContent",
    "ToolSpec",
    "Usage",
    "capabilities",
    "classify_error_message",
    "create_test_coordinator",
    "retry_with_backoff",
    "wait_for",
]

SUBMODULES = {
    "approval": "ApprovalSystem ApprovalTimeoutError",
    "cancellation": "CancellationState CancellationToken",
    "capabilities": "ALL_WELL_KNOWN_CAPABILITIES TOOLS BATCH",
    "cli": "main",
    "content_models": "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
    "ToolResultContent",
    "coordinator": "ModuleCoordinator",
    "correlation": "REQUEST_ID_FIELD REQUEST_EVENTS TERMINAL_EVENTS INTERIM_EVENTS new_request_id "
    "current_request_id reset_request_id resolve_request_id",
    "display": "DisplaySystem",
    "events": "ALL_EVENTS SESSION_START TURN_START",
    "hooks": "HookRegistry ContextInjection HookResult",
    "interfaces": "Orchestrator Provider Tool ContextManager HookHandler ApprovalProvider "
    "ApprovalRequest ApprovalResponse",
    "llm_errors": "LLMError RateLimitError",
    "loader": "ModuleLoader ModuleValidationError TYPE_TO_MOUNT_POINT module_failure_reason",
    "message_models": "Message ChatRequest ChatResponse ContentBlockUnion",
    "models": "HookResult ToolResult ProviderResponse ToolCall _sanitize_for_llm",
    "module_sources": "ModuleSource ModuleSourceResolver FileSystemModuleSource "
    "ModuleNotFoundError ModuleLoadError",
    "pytest_plugin": "pytest_addoption pytest_configure pytest_collection_modifyitems module_path "
    "module_type is_module_context coordinator mock_deps",
    "session": "AmplifierSession initialize_session ModuleLoader _safe_exception_str",
    "testing": "MockCoordinator TestCoordinator MockTool MockContextManager EventRecorder "
    "ScriptedOrchestrator create_test_coordinator wait_for",
    "utils": "truncate_values redact_secrets SENSITIVE_KEYS RetryConfig retry_with_backoff "
    "classify_error_message",
    "utils.retry": "RetryConfig retry_with_backoff classify_error_message",
    "utils.truncate": "truncate_values redact_secrets SENSITIVE_KEYS",
    "validation": "ValidationCheck ValidationResult MountPlanValidator MountPlanValidationResult "
    "ProviderValidator ToolValidator HookValidator OrchestratorValidator ContextValidator",
    "validation.base": "ValidationCheck ValidationResult check_on_session_ready "
    "import_module_from_path",
    "validation.behavioral": "ProviderBehaviorTests ToolBehaviorTests HookBehaviorTests "
    "OrchestratorBehaviorTests ContextBehaviorTests",
    "validation.context": "ContextValidator",
    "validation.hook": "HookValidator",
    "validation.mount_plan": "MountPlanValidator MountPlanValidationResult",
    "validation.orchestrator": "OrchestratorValidator",
    "validation.proto_schema": "validate_tool_result validate_hook_result",
    "validation.provider": "ProviderValidator",
    "validation.structural": "ProviderStructuralTests ToolStructuralTests HookStructuralTests "
    "OrchestratorStructuralTests ContextStructuralTests check_on_session_ready",
    "validation.tool": "ToolValidator",
    # Semi-private, and imported by existing suites and applications.
    "_async_compat": "_wrap",
    "_collect_helper": "collect_contributions",
    "_session_exec": "run_orchestrator emit_raw_field_if_configured",
    "_session_init": "initialize_session _session_aenter _safe_exception_str",
}
"""Each submodule, and the names that are reached for in it."""

BEHAVIOR = {
    "provider": "mount_succeeds get_info_returns_valid_provider_info list_models_returns_list "
    "provider_has_name_attribute parse_tool_calls_returns_list",
    "tool": "mount_succeeds tool_has_name tool_has_description tool_has_execute_method "
    "execute_returns_tool_result tool_result_has_required_fields "
    "invalid_input_returns_error_result",
    "hook": "mount_succeeds handler_returns_hook_result hook_result_has_valid_action "
    "cleanup_is_callable_if_present cleanup_does_not_raise "
    "handler_does_not_crash_on_malformed_data handler_does_not_crash_on_empty_data",
    "orchestrator": "mount_succeeds orchestrator_has_execute_method execute_returns_string "
    "execute_with_empty_prompt orchestrator_uses_provider orchestrator_updates_context",
    "context": "mount_succeeds context_has_required_methods message_round_trip multiple_messages "
    "clear_removes_messages get_messages_for_request_returns_messages "
    "internal_should_compact_returns_bool internal_compact_does_not_crash "
    "add_invalid_message_does_not_crash get_messages_never_returns_none",
}
"""The tests that modules of each type inherit."""

IN_PYTHON = {
    "ProviderError": "_provider_error",
    "RetryConfig": "utils.retry",
    "classify_error_message": "_kernel.error_words",
    "compute_delay": "utils.retry",
    "resolve_module": "_loading.resolve",
    "_normalize_tool_result_content": "_models.tool_content_json",
    "_tool_result_safe_hook_presentation": "_models.tool_content_json",
}
"""Names of the engine that are implemented in Python, and where."""

ABSENT = [
    "WasmApproval",
    "WasmContext",
    "WasmHook",
    "WasmOrchestrator",
    "WasmProvider",
    "WasmTool",
    "load_wasm_from_path",
    "load_and_mount_wasm",
    "proto_chat_request_to_json",
    "json_to_proto_chat_response",
]
"""Names of the transports that are not there."""


def submodule(name: str) -> Any:
    return importlib.import_module(f"amplifier_core.{name}")


def test_the_top_level_names_are_these_eighty():
    assert sorted(TOP_LEVEL) == amplifier_core.__all__
    assert len(TOP_LEVEL) == 80
    assert [name for name in TOP_LEVEL if not hasattr(amplifier_core, name)] == []


@pytest.mark.parametrize("name", SUBMODULES)
def test_a_submodule_has_the_names_that_programs_reach_for(name: str):
    module = submodule(name)
    assert [each for each in SUBMODULES[name].split() if not hasattr(module, each)] == []


@pytest.mark.parametrize("name", SUBMODULES)
def test_what_a_submodule_exports_is_there(name: str):
    module = submodule(name)
    assert [each for each in getattr(module, "__all__", []) if not hasattr(module, each)] == []


@pytest.mark.parametrize("name", [name for name in SUBMODULES if name.count(".") == 0])
def test_a_submodule_can_be_imported_first(name: str):
    program = f"import amplifier_core.{name}"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_names_are_the_same_object_wherever_they_stand():
    different = [
        f"{module}.{name}"
        for module, names in SUBMODULES.items()
        for name in names.split()
        if name in TOP_LEVEL
        and getattr(submodule(module), name) is not getattr(amplifier_core, name)
    ]
    # The engine's classes stand at the top, their counterparts in plain Python in the submodules;
    # an older form of a tool call is kept beside the one that messages have.
    assert different == [
        "cancellation.CancellationToken",
        "coordinator.ModuleCoordinator",
        "hooks.HookRegistry",
        "models.ToolCall",
        "session.AmplifierSession",
    ]


def test_the_checks_of_on_session_ready_are_one_function():
    structural, base = submodule("validation.structural"), submodule("validation.base")
    assert structural.check_on_session_ready is base.check_on_session_ready
    assert "check_on_session_ready" in structural.__all__


def test_a_name_is_not_wrapped_where_it_must_not_be():
    assert not hasattr(submodule("_session_init"), "_wrap_initialize")
    session, start = submodule("session"), submodule("_session_init")
    assert session._safe_exception_str is start._safe_exception_str


@pytest.mark.parametrize("kind", BEHAVIOR)
def test_the_inheritable_tests_have_these_names(kind: str):
    behavior = submodule(f"validation.behavioral.test_{kind}")
    structure = submodule(f"validation.structural.test_{kind}")
    inherited = getattr(behavior, f"{kind.capitalize()}BehaviorTests")
    names = [name.removeprefix("test_") for name in vars(inherited) if name.startswith("test_")]
    assert names == BEHAVIOR[kind].split()
    for name in names:
        marks = getattr(inherited, f"test_{name}").pytestmark
        assert [mark.name for mark in marks] == ["asyncio"]
    assert hasattr(structure, f"{kind.capitalize()}StructuralTests")
    for module, folder in ((behavior, "behavioral"), (structure, "structural")):
        path = Path(inspect.getfile(module))
        assert path.parts[-3:] == ("validation", folder, f"test_{kind}.py")


@pytest.mark.parametrize("name", IN_PYTHON)
def test_the_engine_has_what_is_implemented_in_python(name: str):
    assert getattr(_engine, name) is getattr(submodule(IN_PYTHON[name]), name)


def test_two_functions_of_one_name_differ():
    assert amplifier_core.classify_error_message("HTTP 429") is amplifier_core.LLMError
    assert _engine.classify_error_message("HTTP 429") == "rate_limit"  # pyright: ignore


@pytest.mark.parametrize("name", ABSENT)
def test_a_transport_that_is_not_there_says_so(name: str):
    with pytest.raises(ImportError, match=rf"cannot import `amplifier_core\._engine\.{name}`"):
        getattr(_engine, name)


@pytest.mark.parametrize("name", ["loader_grpc", "_grpc_gen"])
def test_a_module_of_a_transport_that_is_not_there_says_so(name: str):
    with pytest.raises(ImportError, match="this package has no gRPC transport"):
        submodule(name)


def test_the_engine_has_no_other_name():
    with pytest.raises(AttributeError, match=r"'amplifier_core\._engine' has no attribute 'zzz'"):
        _ = _engine.zzz  # pyright: ignore


def test_unittest_mock_is_imported_by_the_stand_ins_alone():
    program = (
        "import importlib, json, sys\n"
        f"names = [name for name in {sorted(SUBMODULES)!r} if name != 'testing' and "
        "not name.startswith(('pytest_plugin', 'validation.behavioral', 'validation.structural'))]"
        "\nfor name in names: importlib.import_module('amplifier_core.' + name)\n"
        "print(json.dumps('unittest.mock' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert json.loads(done.stdout) is False


def write(folder: Path, manifest: str | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    if manifest is not None:
        (folder / "amplifier.toml").write_text(manifest)
    return folder


# Holds: differ-99
@pytest.mark.parametrize(
    ("name", "manifest", "kind"),
    [
        ("amplifier_module_provider_x", None, "provider"),
        ("amplifier_module_loop_x", None, "orchestrator"),
        ("anything", None, "tool"),
        ("anything", '[module]\ntype = "hook"\n', "hook"),
        ("anything", '[module]\ntype = "hook"\ntransport = "python"\n', "hook"),
    ],
)
def test_a_package_is_resolved(name: str, manifest: str | None, kind: str, tmp_path: Path):
    package = write(tmp_path / name, manifest)
    expected = {
        "transport": "python",
        "module_type": kind,
        "artifact_type": "python",
        "package_name": name,
    }
    resolve_module = submodule("_loading.resolve").resolve_module
    assert resolve_module(str(package)) == expected
    if manifest is None:
        assert resolve_module(str(tmp_path)) == expected


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("[[[", "cannot read .*amplifier.toml"),
        ("", "`type` in `.module.` must be one of .*`tool`.*, found `None`"),
        ('[module]\ntype = "zzz"\n', "found `'zzz'`"),
        (
            '[module]\ntype = "tool"\ntransport = "grpc"\n',
            "asks for transport `grpc`: this package has `python` only",
        ),
    ],
)
def test_a_manifest_that_does_not_hold_here_is_told(manifest: str, message: str, tmp_path: Path):
    package = write(tmp_path / "anything", manifest)
    with pytest.raises(RuntimeError, match=message):
        submodule("_loading.resolve").resolve_module(str(package))


def test_a_folder_without_a_module_is_told(tmp_path: Path):
    resolve_module = submodule("_loading.resolve").resolve_module
    with pytest.raises(RuntimeError, match="could not detect module transport at"):
        resolve_module(str(tmp_path))
    with pytest.raises(RuntimeError, match="module path does not exist"):
        resolve_module(str(tmp_path / "not there"))


async def test_an_awaitable_becomes_a_coroutine():
    class Ready:
        def __await__(self) -> Any:
            return 5
            yield

    coroutine = submodule("_async_compat")._wrap(Ready())
    assert inspect.iscoroutine(coroutine)
    assert await coroutine == 5
