"""CONTRACTS.md says what the code does, and says all of it."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import typing
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import amplifier_core
import amplifier_guard
import amplifier_stream
from amplifier_core import (
    _engine,
    approval,
    content_models,
    display,
    events,
    interfaces,
    llm_errors,
    message_models,
    models,
)
from amplifier_guard import claude

ROOT = Path(__file__).parents[2]
SHARED = _engine._shared_types()
DATA_TABLES = ("Core models", "Message models", "Content blocks", "The Claude dialect")
OLDER_FORMS = {"ToolCall", "ProviderResponse"}
"""Models that only Python has."""


def tables() -> dict[str, list[list[str]]]:
    """The rows of each heading's table, as cells; a row without a first cell continues another."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in (ROOT / "CONTRACTS.md").read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])]
            if cells[0]:
                found.setdefault(heading, []).append(cells)
            else:
                # A long list goes on in the next row.
                found[heading][-1][-1] += f", {cells[-1]}"
    return {heading: rows[1:] for heading, rows in found.items()}


TABLES = tables()


def words(cell: str) -> list[str]:
    """The words in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def rows(*headings: str) -> list[Any]:
    """The rows of some tables as test parameters: the names of each cell."""
    return [
        pytest.param(*[words(cell) for cell in row], id=words(row[0])[0])
        for heading in headings
        for row in TABLES[heading]
    ]


def resolve(path: str) -> Any:
    """The object at `module.name`, or the annotation of a field at `module.Model.field`."""
    package = "amplifier_guard" if path.startswith("amplifier_guard.") else "amplifier_core"
    module, _, rest = path.removeprefix(f"{package}.").partition(".")
    value: Any = importlib.import_module(f"{package}.{module}")
    for name in rest.split("."):
        if isinstance(value, type) and issubclass(value, BaseModel):
            return value.model_fields[name].annotation
        value = getattr(value, name)
    return value


def variants_of(union: Any) -> list[str]:
    """The `type` words of a union's models, those of nested unions included."""
    found: list[str] = []
    for part in typing.get_args(union):
        if isinstance(part, type) and issubclass(part, BaseModel):
            found.extend(typing.get_args(part.model_fields["type"].annotation))
        else:
            found.extend(variants_of(part))
    return found


def parts_of(value: Any) -> list[str]:
    """Keys, words or variants of a Python type."""
    if isinstance(value, type) and issubclass(value, BaseModel):
        return list(value.model_fields)
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return [member.value for member in value]
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return variants_of(value) or list(typing.get_args(value))


# Holds: differ-110
@pytest.mark.parametrize(("rust", "python", "parts"), rows(*DATA_TABLES))
def test_a_data_row_is_true_of_both_sides(
    rust: list[str], python: list[str], parts: list[str]
) -> None:
    assert SHARED[rust[0]][1] == parts
    assert parts_of(resolve(python[0])) == parts


@pytest.mark.parametrize(("rust", "python", "parts"), rows("Streaming blocks"))
def test_a_streaming_row_is_true(rust: list[str], python: list[str], parts: list[str]) -> None:
    assert rust[0].partition("::")[0] in SHARED
    assert parts_of(resolve(python[0])) == parts


def test_every_shared_type_has_one_row() -> None:
    streaming = [name for row in TABLES["Streaming blocks"] for name in words(row[0])[:1]]
    listed = [words(row[0])[0] for heading in DATA_TABLES for row in TABLES[heading]]
    listed += [name for name in streaming if "::" not in name]

    # `ContentBlock` is the union, and the base of the streaming blocks.
    assert sorted(listed) == sorted([*SHARED, "ContentBlock"])


def test_every_model_of_python_has_a_row() -> None:
    listed = {
        words(row[1])[0]
        for heading in (*DATA_TABLES, "Streaming blocks")
        for row in TABLES[heading]
    }
    there = {
        f"{value.__module__.removeprefix('amplifier_core.')}.{name}"
        for module in (models, message_models, interfaces, content_models, claude)
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and (issubclass(value, BaseModel | enum.Enum) or dataclasses.is_dataclass(value))
        and value.__module__.startswith(("amplifier_core.", "amplifier_guard."))
        and not (module is models and name in OLDER_FORMS)
    }
    there = {name.replace("_hook_result.", "models.") for name in there}

    assert there - listed == {"base_models.ClosedModel", "base_models.OpenModel"}


def members(protocol: type) -> list[str]:
    """What a protocol asks for."""
    return [name for name in vars(protocol) if not name.startswith("_") or name == "__call__"]


@pytest.mark.parametrize(("protocol", "names"), rows("Protocols"))
def test_a_protocol_row_is_true(protocol: list[str], names: list[str]) -> None:
    assert members(resolve(protocol[0])) == names


def test_every_protocol_has_a_row() -> None:
    there = {
        f"{module.__name__.removeprefix('amplifier_core.')}.{name}"
        for module in (interfaces, approval, display)
        for name, value in vars(module).items()
        if getattr(value, "_is_protocol", False) and value.__module__ == module.__name__
    }

    assert {words(row[0])[0] for row in TABLES["Protocols"]} == there


@pytest.mark.parametrize(("engine", "top_level", "names"), rows("Behavioural types"))
def test_a_behavioural_row_is_true(
    engine: list[str], top_level: list[str], names: list[str]
) -> None:
    engine_class = getattr(_engine, engine[0])

    assert getattr(amplifier_core, top_level[0]) is engine_class
    assert getattr(amplifier_core, engine[0]) is engine_class
    public = [name for name in vars(engine_class) if not name.startswith("_")]
    assert sorted(name for name in public if not name.isupper()) == names


def test_the_llm_errors_are_those_of_the_table() -> None:
    listed = {
        words(error)[0].removeprefix("llm_errors."): (words(base)[0], retryable)
        for error, base, retryable in TABLES["Of providers"]
    }
    there = {
        name: (value.__base__.__name__, "yes" if value("x").retryable else "no")
        for name, value in vars(llm_errors).items()
        if inspect.isclass(value) and issubclass(value, llm_errors.LLMError)
    }

    assert listed == there


@pytest.mark.parametrize(("error", "base"), rows("Python only"))
def test_an_error_of_python_is_what_its_row_says(error: list[str], base: list[str]) -> None:
    assert resolve(error[0]).__base__.__name__ == base[0]


async def refused(variant: str) -> object:
    """Do what a variant refuses."""
    config = {"session": {"orchestrator": "o", "context": "c"}, "hooks": []}
    session: Any = amplifier_core.AmplifierSession(config)
    limited: Any = amplifier_core.AmplifierSession(
        {"session": {**config["session"], "injection_size_limit": 3}}  # type: ignore[dict-item]  # a dict
    )
    sated: Any = amplifier_core.AmplifierSession(
        {"session": {**config["session"], "injection_limit_per_turn": 3}}  # type: ignore[dict-item]  # a dict
    )
    long = models.HookResult(action="inject_context", context_injection="long")
    deeds: dict[str, Callable[[], Awaitable[object]]] = {
        "SessionError::NotInitialized": lambda: session.execute("hello"),
        "MountError::UnknownPoint": lambda: session.coordinator.mount("nowhere", object()),
        "MountError::HooksAreRegistered": lambda: session.coordinator.mount("hooks", object()),
        "MountError::NameRequired": lambda: session.coordinator.mount("tools", object()),
        "MountError::NameRequiredToUnmount": lambda: session.coordinator.unmount("tools"),
        "MountError::InjectionTooLong": lambda: limited.coordinator.process_hook_result(
            long, "tool:pre", "talker"
        ),
        "MountError::InjectionsOverLimit": lambda: sated.coordinator.process_hook_result(
            models.HookResult(action="inject_context", context_injection="x" * 16), "tool:pre"
        ),
    }
    match variant:
        case "SessionError::ConfigMissing":
            return amplifier_core.AmplifierSession({})
        case "SessionError::ModuleMissing":
            return amplifier_core.AmplifierSession({"session": {"context": "c"}})
        case _:
            return await deeds[variant]()


@pytest.mark.parametrize(
    ("variant", "exception", "message"),
    [(words(v)[0], words(e)[0], m) for v, e, m in TABLES["Of the kernel"]],
)
async def test_a_kernel_error_is_what_its_row_says(
    variant: str, exception: str, message: str
) -> None:
    with pytest.raises(Exception, match=re.escape(message)) as caught:
        await refused(variant)

    assert (type(caught.value).__name__, str(caught.value)) == (exception, message)


def test_the_events_are_those_of_the_table_in_this_order() -> None:
    listed = [(words(name)[0], words(value)[0]) for name, value in TABLES["Events"]]

    assert [value for _, value in listed] == events.ALL_EVENTS
    assert {name: getattr(events, name) for name, _ in listed} == dict(listed)
    assert {name for name in dir(events) if name.isupper()} == {"ALL_EVENTS", *dict(listed)}
    assert {name: getattr(_engine, name) for name, _ in listed} == dict(listed)


def test_the_further_events_are_those_of_the_table() -> None:
    listed = {words(name)[0]: words(value)[0] for name, value in TABLES["Additional events"]}

    assert {name: getattr(events, name) for name in listed} == listed
    assert {name: getattr(_engine, name) for name in listed} == listed
    assert not set(listed.values()) & set(events.ALL_EVENTS)
    on_registry = {
        name: value
        for name, value in inspect.getmembers(amplifier_core.HookRegistry)
        if name.isupper() and value not in events.ALL_EVENTS
    }
    assert on_registry == listed


@pytest.mark.parametrize(
    ("rust", "python", "members"), [*rows("Streams"), *rows("Tags and events for agents")]
)
def test_a_stream_row_is_true(rust: list[str], python: list[str], members: list[str]) -> None:
    crate = (ROOT / "crates/amplifier-stream/src/lib.rs").read_text()
    exported = " ".join(re.findall(r"^pub use [^;]+;", crate, re.MULTILINE))
    value = getattr(amplifier_stream, python[0].partition(".")[2])

    assert re.search(rf"\b{rust[0]}\b", exported)
    found = {name for name in vars(value) if not name.startswith("_")}
    if dataclasses.is_dataclass(value):
        found |= {field.name for field in dataclasses.fields(value)}
    assert sorted(found) == members


@pytest.mark.parametrize(("rust", "python", "parts"), rows("Failures"))
def test_a_row_of_failures_is_true(rust: list[str], python: list[str], parts: list[str]) -> None:
    crate = (ROOT / "crates/amplifier-guard/src/lib.rs").read_text()
    exported = " ".join(re.findall(r"^pub use [^;]+;", crate, re.MULTILINE))
    value = getattr(amplifier_guard, python[0].partition(".")[2])

    assert re.search(rf"\b{rust[0]}\b", exported)
    members = sorted(name for name in getattr(value, "__dict__", ()) if not name.startswith("_"))
    assert (parts_of(value) or members) == parts


def test_the_special_fields_exist() -> None:
    for row in TABLES["Special fields"]:
        model_name = ""
        for name in words(row[1]):
            model_name, _, field = name.rpartition(".") if "." in name else (model_name, "", name)
            home = next(
                module
                for module in (models, message_models, interfaces)
                if hasattr(module, model_name)
            )
            assert field in getattr(home, model_name).model_fields
