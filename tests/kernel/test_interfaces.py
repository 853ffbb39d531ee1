"""The protocols, the approval models, and where modules come from."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import amplifier_core
from amplifier_core import approval, display, interfaces, models, module_sources
from amplifier_core.interfaces import (
    ApprovalProvider,
    ApprovalRequest,
    ApprovalResponse,
    ContextManager,
    HookHandler,
    Orchestrator,
    Provider,
    Tool,
)

PROTOCOLS = [Orchestrator, Provider, Tool, ContextManager, HookHandler, ApprovalProvider]

protocols = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)


@protocols
def test_a_protocol_is_a_class_that_cannot_be_checked_at_run_time(protocol: Any):
    assert isinstance(protocol, type)
    assert not getattr(protocol, "_is_runtime_protocol", False)
    with pytest.raises(TypeError):
        isinstance(object(), protocol)


def parameters(function: Any) -> list[tuple[str, str, Any]]:
    return [
        (parameter.name, parameter.kind.name, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ][1:]


def test_a_loop_is_executed_with_the_five_parts_and_whatever_else():
    free = inspect.Parameter.empty
    names = ["prompt", "context", "providers", "tools", "hooks"]
    expected = [(name, "POSITIONAL_OR_KEYWORD", free) for name in names]
    assert parameters(Orchestrator.execute) == [*expected, ("kwargs", "VAR_KEYWORD", free)]


def test_the_methods_that_are_awaited_are_coroutine_functions():
    asynchronous = [
        Orchestrator.execute,
        Provider.list_models,
        Provider.complete,
        Tool.execute,
        ContextManager.add_message,
        ContextManager.get_messages_for_request,
        ContextManager.get_messages,
        ContextManager.set_messages,
        ContextManager.clear,
        HookHandler.__call__,
        ApprovalProvider.request_approval,
        approval.ApprovalSystem.request_approval,
    ]
    assert [
        function for function in asynchronous if not inspect.iscoroutinefunction(function)
    ] == []
    plain = [Provider.get_info, Provider.parse_tool_calls, display.DisplaySystem.show_message]
    assert [function for function in plain if inspect.iscoroutinefunction(function)] == []


def test_a_tool_may_do_without_a_schema():
    assert hasattr(Tool, "input_schema")
    assert Tool.input_schema.fget is not None  # pyright: ignore[reportAttributeAccessIssue]
    assert Tool.input_schema.fget(object()) == {}  # pyright: ignore


def test_an_approval_request_has_its_defaults():
    request = ApprovalRequest(tool_name="shell", action="run `ls`", risk_level="low")
    assert request.model_dump() == {
        "tool_name": "shell",
        "action": "run `ls`",
        "details": {},
        "risk_level": "low",
        "timeout": None,
    }
    assert ApprovalResponse(approved=True).model_dump() == {
        "approved": True,
        "reason": None,
        "remember": False,
    }


@pytest.mark.parametrize("timeout", [0, -1, -0.5])
def test_an_approval_cannot_time_out_before_it_began(timeout: float):
    with pytest.raises(ValueError, match="Timeout must be positive or None"):
        ApprovalRequest(tool_name="t", action="a", risk_level="low", timeout=timeout)


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), "soon"])
def test_a_timeout_is_a_finite_number(timeout: Any):
    with pytest.raises(ValidationError):
        ApprovalRequest(tool_name="t", action="a", risk_level="low", timeout=timeout)


@pytest.mark.parametrize("name", ["ApprovalRequest", "ApprovalResponse"])
def test_an_approval_model_is_one_class_under_each_of_its_names(name: str):
    kind = getattr(models, name)
    assert getattr(interfaces, name) is kind
    assert getattr(amplifier_core, name) is kind
    assert kind.__module__ == "amplifier_core.models"


def test_an_approval_model_is_unpickled_by_the_path_of_either_module():
    request = ApprovalRequest(tool_name="t", action="a", risk_level="low", timeout=3)
    pickled = pickle.dumps(request, 0)
    assert b"amplifier_core.models" in pickled
    older = pickled.replace(b"amplifier_core.models", b"amplifier_core.interfaces")
    assert pickle.loads(pickled) == pickle.loads(older) == request


def test_the_approval_timeout_needs_no_arguments_and_is_no_builtin_timeout():
    assert str(approval.ApprovalTimeoutError()) == ""
    assert approval.ApprovalTimeoutError.__bases__ == (Exception,)


def test_the_models_are_to_be_had_from_the_interfaces_as_well():
    from amplifier_core import message_models, models

    assert interfaces.ToolResult is models.ToolResult
    assert interfaces.ChatRequest is message_models.ChatRequest


def test_a_source_must_resolve():
    with pytest.raises(TypeError):
        module_sources.ModuleSource()  # pyright: ignore[reportAbstractUsage]

    class Here(module_sources.ModuleSource):
        def resolve(self) -> Path:
            return Path("here")

    assert Here().resolve() == Path("here")


def test_the_folders_of_a_file_system_source_are_copies():
    given = ["a", "b"]
    source = module_sources.FileSystemModuleSource(given)
    given.append("c")
    source.get_module_paths().append("d")
    assert source.get_module_paths() == ["a", "b"]
    assert module_sources.FileSystemModuleSource().get_module_paths() == []
    assert source.get_mention_mappings() == {}


def test_the_error_of_resolvers_is_not_the_builtin():
    assert module_sources.ModuleNotFoundError.__bases__ == (Exception,)
    assert module_sources.ModuleLoadError.__bases__ == (Exception,)
