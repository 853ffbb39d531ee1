"""Bad input of what both engines use, the loader, the retries and the models: errors that tell."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core import ModuleLoader, message_models, models
from amplifier_core.loader import ModuleDiscoveryError
from amplifier_core.utils.retry import RetryConfig, classify_error_message, retry_with_backoff

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}
LONG = "x" * 5_000


class Loader:
    """Loads modules that mount nothing."""

    async def load(self, module_id: str, *_: Any, **__: Any) -> Any:
        return lambda coordinator: ready()

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None: ...


async def ready(*_: Any) -> None: ...


@pytest.mark.parametrize(
    ("module_id", "why"),
    [
        ("nowhere", ""),
        ("../nowhere", ""),
        ("no\0where", ""),
        (LONG, ""),
        ("", ": a module id is a `str` that is not empty, found `''`"),
        (None, ": a module id is a `str` that is not empty, found `None`"),
        (7, ": a module id is a `str` that is not empty, found `7`"),
        (nan, ": a module id is a `str` that is not empty, found `nan`"),
        ([], ": a module id is a `str` that is not empty, found `[]`"),
    ],
)
async def test_a_loader_says_which_module_it_did_not_find(module_id, why):
    with pytest.raises(ModuleDiscoveryError) as caught:
        await ModuleLoader().load(module_id)
    expected = f"Module '{module_id}' not found via entry points or filesystem{why}"
    assert str(caught.value) == expected


@pytest.mark.parametrize("module", [None, 7, {}])
async def test_a_loader_initialises_only_what_it_gave(module):
    with pytest.raises(TypeError) as caught:
        await ModuleLoader().initialize(module, None)
    assert str(caught.value) == f"`module` must be what `load` returns, found `{module!r}`"


ENTRY = "in the mount plan must be a module id or a dict with `module`"
SECTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {section: found},
        f"`{section}` in the mount plan must be a list, found `{type(found).__name__}`",
    )
    for section in ("providers", "tools", "hooks")
    for found in ("x", 7, nan, {"module": "x"})
] + [
    (
        {section: ["x", found]},
        f"`{section}[1]` {ENTRY}, found `{type(found).__name__}`",
    )
    for section in ("providers", "tools", "hooks")
    for found in (7, None, ["x"])
]


@pytest.mark.parametrize(("section", "text"), SECTIONS)
async def test_a_session_says_which_part_of_its_plan_is_wrong(engine, section, text):
    session = engine.AmplifierSession({**PLAN, **section}, loader=Loader())
    session.coordinator.mount_points["context"] = object()
    with pytest.raises(RuntimeError) as caught:
        await session.initialize()
    assert str(caught.value) == text
    assert not session.initialized


CUT = f"{'1' + '0' * 97}...{'0' * 99}"
COUNT = "must be from 0 to 4294967295, found"
SETTINGS: list[tuple[str, Any, type, str]] = [
    ("max_retries", -1, OverflowError, f"`max_retries` {COUNT} `-1`"),
    ("max_retries", 2**40, OverflowError, f"`max_retries` {COUNT} `{2**40}`"),
    ("max_retries", nan, TypeError, "`max_retries` must be an `int`, found `nan`"),
    ("max_retries", "3", TypeError, "`max_retries` must be an `int`, found `'3'`"),
    ("max_retries", None, TypeError, "`max_retries` must be an `int`, found `None`"),
    ("honor_retry_after", 1, TypeError, "`honor_retry_after` must be a `bool`, found `1`"),
] + [
    row
    for name in ("initial_delay", "max_delay", "backoff_factor", "min_delay", "backoff_multiplier")
    for row in (
        (name, nan, ValueError, f"`{name}` must be a number, found NaN"),
        (name, "1", TypeError, f"`{name}` must be a number, found `'1'`"),
        (name, [], TypeError, f"`{name}` must be a number, found `[]`"),
        (
            name,
            10**400,
            OverflowError,
            f"`{name}` must be a number that a `float` can hold, found `{CUT}`",
        ),
    )
]


@pytest.mark.parametrize(("name", "value", "error", "text"), SETTINGS)
def test_settings_of_retries_are_refused_by_name(name, value, error, text):
    with pytest.raises(error) as caught:
        RetryConfig(**{name: value})
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: retry_with_backoff(7), "`operation` must be callable, found `7`"),
        (lambda: retry_with_backoff(None), "`operation` must be callable, found `None`"),
        (
            lambda: retry_with_backoff(ready, on_retry=7),
            "`on_retry` must be callable or None, found `7`",
        ),
        (lambda: classify_error_message(None), "`message` must be a `str`, found `None`"),
        (lambda: classify_error_message(b"429"), "`message` must be a `str`, found `b'429'`"),
    ],
)
async def test_retries_say_what_they_cannot_call_or_read(call, text):
    with pytest.raises(TypeError) as caught:
        await call()
    assert str(caught.value) == text


class Unserialisable(dict[str, Any]):
    """A dict that contains itself."""

    def __init__(self) -> None:
        super().__init__(self=self)


NO_FLOAT = (
    "cost_usd must be Decimal, not float (found 0.1): floats lose money, write Decimal('0.1')"
)
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 1}
MODELS: list[tuple[Any, dict[str, Any], tuple[str, str, Any]]] = [
    (
        models.HookResult,
        {"action": "stop"},
        (
            "action",
            "Input should be 'continue', 'deny', 'modify', 'inject_context' or 'ask_user'",
            "stop",
        ),
    ),
    (
        models.HookResult,
        {"approval_timeout": nan},
        ("approval_timeout", "Input should be a finite number", nan),
    ),
    (models.HookResult, {"data": 7}, ("data", "Input should be a valid dictionary", 7)),
    (
        models.HookResult,
        {"context_injection_role": "tool"},
        ("context_injection_role", "Input should be 'system', 'user' or 'assistant'", "tool"),
    ),
    (
        models.SessionStatus,
        {"session_id": 7},
        ("session_id", "Input should be a valid string", 7),
    ),
    (
        message_models.ToolCall,
        {"id": "1", "name": "look", "arguments": []},
        ("arguments", "Input should be a valid dictionary", []),
    ),
    (
        message_models.ToolCall,
        {"id": "1", "name": "look"},
        ("arguments", "Field required", {"id": "1", "name": "look"}),
    ),
    (message_models.Message, {"role": "user"}, ("content", "Field required", {"role": "user"})),
    (
        message_models.Message,
        {"role": "bot", "content": "x"},
        (
            "role",
            "Input should be 'system', 'developer', 'user', 'assistant', 'function' or 'tool'",
            "bot",
        ),
    ),
    (
        message_models.ChatRequest,
        {"messages": "x"},
        ("messages", "Input should be a valid list", "x"),
    ),
    (
        message_models.ChatRequest,
        {"messages": [], "temperature": nan},
        ("temperature", "Input should be a finite number", nan),
    ),
    (
        message_models.Usage,
        {**USAGE, "input_tokens": 2**70},
        ("input_tokens", f"Input should be less than or equal to {2**63 - 1}", 2**70),
    ),
    (
        message_models.Usage,
        {**USAGE, "cost_usd": 0.1},
        (
            "cost_usd",
            f"Value error, {NO_FLOAT}",
            0.1,
        ),
    ),
]


@pytest.mark.parametrize(("model", "fields", "expected"), MODELS)
def test_a_model_names_the_field_and_what_was_found(model, fields, expected):
    with pytest.raises(ValidationError) as caught:
        model(**fields)
    (error,) = caught.value.errors()
    assert caught.value.title == model.__name__
    told = (".".join(map(str, error["loc"])), error["msg"], error["input"])
    assert repr(told) == repr(expected)  # a NaN is not equal to itself


def test_a_circular_output_is_refused_where_it_becomes_text():
    result = models.ToolResult(output=Unserialisable())
    with pytest.raises(ValueError, match=r"^Circular reference detected$"):
        result.get_serialized_output()
