"""How to make an object of each public class, and what a parameter plainly takes."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType, SimpleNamespace
from typing import Any

from values import refuses_when_awaited

PLAN = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
TEXT_BLOCK = {"type": "text", "text": ""}
START_OF_A_BLOCK = (
    b"event: content_block_start\n"
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)


def folder() -> Path:
    """A new folder with a file of two lines."""
    made = Path(tempfile.mkdtemp(dir=Path.cwd()))
    (made / "text").write_text("a\nb\n")
    return made


def registry() -> Any:
    """A registry with a plain handler and one that fails."""
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.register("e", lambda *_: None, name="e")
    hooks.register("e", refuses_when_awaited)
    return hooks


def coordinator() -> Any:
    from amplifier_core import ModuleCoordinator

    return ModuleCoordinator()


def context() -> Any:
    from amplifier_core.testing import MockContextManager

    return MockContextManager()


def request() -> Any:
    from amplifier_core import ChatRequest

    return ChatRequest(messages=[{"role": "user", "content": "hi"}])


def response() -> Any:
    from amplifier_core import ChatResponse

    return ChatResponse(content=[TEXT_BLOCK])


def hook_result() -> Any:
    from amplifier_core import HookResult

    return HookResult()


PLAIN: dict[str, Callable[[], Any]] = {
    "approved": lambda: True,
    "arguments": dict,
    "choices": list,
    "chunk": lambda: b"",
    "config": lambda: PLAN,
    "content": lambda: [TEXT_BLOCK],
    "context": context,
    "context_window": lambda: 1,
    "coordinator": coordinator,
    "count": lambda: 1,
    "currency": lambda: "USD",
    "data": dict,
    "defaults": dict,
    "details": dict,
    "dialect": lambda: "anthropic",
    "error": lambda: ValueError("e"),
    "event": lambda: "e",
    "field_type": lambda: "text",
    "function": lambda: lambda *_, **__: None,
    "handler": lambda: lambda *_: None,
    "headers": dict,
    "hooks": registry,
    "input": dict,
    "input_per_million": lambda: 1,
    "input_tokens": lambda: 1,
    "json_schema": dict,
    "limit": lambda: 1,
    "max_output_tokens": lambda: 1,
    "messages": list,
    "mount_point": lambda: "tools",
    "output_per_million": lambda: 1,
    "output_tokens": lambda: 1,
    "parameters": dict,
    "passed": lambda: True,
    "path": lambda: "text",
    "pattern": lambda: "a",
    "priority": lambda: 1,
    "prompt": lambda: "go",
    "providers": dict,
    "request": request,
    "response": response,
    "result": hook_result,
    "role": lambda: "user",
    "root": folder,
    "severity": lambda: "info",
    "source": dict,
    "state": lambda: "graceful",
    "status": lambda: 200,
    "timeout": lambda: 0.01,
    "tools": dict,
    "total_tokens": lambda: 1,
    "type": lambda: "tool",
}
"""What parameters plainly take, by their names; others take a text."""

TYPES = {"ToolCallBlock": "tool_call", "UnknownBlock": "later", "ImageBlock": "image"}
"""The `type` of classes that have another than modules have."""


def plain(parameter: str) -> Any:
    """What a parameter of this name plainly takes."""
    return PLAIN.get(parameter, lambda: "x")()


def required(target: Any) -> dict[str, Any]:
    """Plain arguments for what a callable cannot be called without."""
    return {
        parameter.name: plain(parameter.name)
        for parameter in parameters(target)
        if parameter.default is parameter.empty
    }


_COMPILED_KINDS = (BuiltinFunctionType, MethodDescriptorType)
_COMPILED: dict[tuple[Any, ...], list[inspect.Parameter]] = {}


def parameters(target: Any) -> list[inspect.Parameter]:
    """The parameters that have a name; none where a callable does not tell."""
    if not isinstance(target, _COMPILED_KINDS):
        return _parameters(target)
    # Their signatures are parsed from text, which takes longer than most calls.
    key = (type(target), target.__qualname__, target.__text_signature__)
    if key not in _COMPILED:
        _COMPILED[key] = _parameters(target)
    return _COMPILED[key]


def _parameters(target: Any) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each for each in found if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]


def call_plainly(target: Any, given: dict[str, Any]) -> Any:
    """Call with arguments by name, or by place where they have to be."""
    by_place = [
        given[parameter.name]
        for parameter in parameters(target)
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in given
    ]
    kinds = {parameter.name: parameter.kind for parameter in parameters(target)}
    by_name = {
        name: value
        for name, value in given.items()
        if kinds.get(name) is not inspect.Parameter.POSITIONAL_ONLY
    }
    return target(*by_place, **by_name)


MAKERS: dict[str, Callable[[], Any]] = {}
"""Makers of classes that need more than plain arguments, by their names, whole where two share one."""


def maker(*names: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        MAKERS.update(dict.fromkeys(names, make))
        return make

    return add


maker("RustHookRegistry")(registry)


@maker("RustUnregisterFn")
def _() -> Any:
    return registry().register("e", lambda *_: None)


@maker("LateNames")
def _() -> Any:
    from amplifier_core.late_names import LateNames

    sys.modules["late_package"] = ModuleType("late_package")
    return LateNames("late_package", {"no_submodule": "Name"})


@maker("Change")
def change() -> Any:
    from amplifier_core.extension import find_change_class

    made = find_change_class()
    assert made is not None
    place = folder()
    (place / "project").mkdir()
    return made.begin(str(place / "project"), str(place / "change"))


@maker("PathPolicy")
def path_policy() -> Any:
    from amplifier_guard import PathPolicy

    return PathPolicy(str(folder()))


@maker("LineWindow")
def _() -> Any:
    return path_policy().lines("text")


@maker("Walk")
def _() -> Any:
    return path_policy().walk()


@maker("SearchReport")
def _() -> Any:
    return path_policy().search("a")


@maker("ContextInjection")
def _() -> Any:
    from amplifier_core.models import ContextInjection

    return ContextInjection(content="x")


@maker("ReasoningBlock")
def _() -> Any:
    from amplifier_core import ReasoningBlock

    return ReasoningBlock(content=[], summary=[])


@maker("RedactedThinkingBlock")
def _() -> Any:
    from amplifier_core import RedactedThinkingBlock

    return RedactedThinkingBlock(data="x")


@maker("ProviderResponse")
def _() -> Any:
    from amplifier_core.models import ProviderResponse

    return ProviderResponse(content="x")


@maker("StreamEvent")
def _() -> Any:
    from amplifier_stream import StreamDecoder

    return StreamDecoder("anthropic").feed(START_OF_A_BLOCK)[0]


@maker("StreamResult")
def _() -> Any:
    from amplifier_stream import StreamDecoder

    return StreamDecoder("anthropic").finish()


@maker("ProcessRun")
def _() -> Any:
    from amplifier_stream.process_run import ProcessRun

    return ProcessRun(None, None, None, 128)


@maker("Retries")
def _() -> Any:
    from amplifier_providers.retries import Retries
    from amplifier_providers.wire.settings import HttpSettings

    # Of a session that is cancelled: its waits end at once, however long they are.
    return Retries("anthropic", HttpSettings(), cancellation=SimpleNamespace(is_cancelled=True))


@maker("PersistentContext")
def _() -> Any:
    from amplifier_modules.contexts.persistent import PersistentContext

    return PersistentContext(folder=folder(), path="conversation.jsonl")


@maker("SseEvent")
def _() -> Any:
    from amplifier_stream import SseDecoder

    return SseDecoder().feed(b"data: x\n\n")[0]


@maker("TagEvent")
def _() -> Any:
    from amplifier_stream import ToolCallParser

    return ToolCallParser().feed("<tool>{}</tool>")[-1]


@maker("ParsedCall")
def _() -> Any:
    from amplifier_stream import ToolCallParser

    return ToolCallParser().feed("<tool>{}</tool>")[-1].call


@maker("ParsedContent")
def _() -> Any:
    from amplifier_stream import ToolCallParser

    return ToolCallParser().parse("<tool>{}</tool>")[0]


def concrete(cls: type) -> type:
    """A class, or a subclass that has what it leaves open, with plain methods."""
    missing = getattr(cls, "__abstractmethods__", ())
    if not missing and not getattr(cls, "_is_protocol", False):
        return cls
    body = dict.fromkeys(missing, lambda *_, **__: None)
    return type(cls.__name__, (cls,), {**body, "__module__": cls.__module__})


def make(cls: type) -> Any:
    """An object of a class, made with as little as it takes.

    Raises:
        LookupError: There is no way to make one.
    """
    if issubclass(cls, Enum):
        return next(iter(cls))
    for name in (f"{cls.__module__}.{cls.__name__}", cls.__name__):
        if name in MAKERS:
            return MAKERS[name]()
    made = concrete(cls)
    ways: list[Callable[[], Any]] = [
        made,
        lambda: call_plainly(made, required(made)),
        lambda: made("x"),
    ]
    if hasattr(cls, "model_fields"):
        ways.append(lambda: made(**required(made) | {"type": TYPES.get(cls.__name__, "text")}))
    failures: list[str] = []
    for way in ways:
        try:
            return way()
        except Exception as error:  # noqa: BLE001 -- then there may be another way
            failures.append(repr(error)[:200])
    raise LookupError(f"no way to make `{cls.__name__}`: {failures}")
