"""What a module from a resolver mounted is checked after its one mount, and taken back if wrong."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader, ModuleValidationError

HEAD = """
class Tool:
    name = "t"
    description = "A tool."
    input_schema = {}
    async def execute(self, input): return None

cleaned = []
coordinators = []
async def on_session_ready(coordinator): pass
async def mount(coordinator, config=None):
    coordinators.append(coordinator)
    tool, broken = Tool(), Tool()
    broken.execute = None
"""

Load = Callable[..., Any]


@pytest.fixture
def coordinator(engine: Any) -> Any:
    return engine.ModuleCoordinator()


@pytest.fixture
def load(tmp_path: Path, coordinator: Any) -> Iterator[Load]:
    """Writes a module whose `mount` has these lines, and loads it through a resolver."""
    loader = ModuleLoader(coordinator)
    written: list[str] = []

    class Resolver:
        def resolve(self, module_id: str, **_: Any) -> Any:
            return SimpleNamespace(resolve=lambda: tmp_path / module_id)

    async def load(module_id: str, body: str, more: str = "") -> Any:
        name = f"amplifier_module_{module_id.replace('-', '_')}"
        package = tmp_path / module_id / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"{HEAD}{indent(body, '    ')}\n{more}\n", "utf-8")
        written.append(name)
        await coordinator.mount("module-source-resolver", Resolver())
        return await loader.load(module_id, coordinator=coordinator)

    yield load
    loader.cleanup()
    for name in written:
        sys.modules.pop(name, None)


def module(module_id: str) -> Any:
    return sys.modules[f"amplifier_module_{module_id.replace('-', '_')}"]


async def test_a_good_module_is_mounted_once_and_on_the_sessions_coordinator(
    load: Load, coordinator: Any
):
    mount = await load("tool-x", 'await coordinator.mount("tools", tool)\nreturn cleaned.clear')

    returned = await mount(coordinator)

    assert returned == module("tool-x").cleaned.clear
    assert module("tool-x").coordinators == [coordinator]
    assert list(coordinator.get("tools")) == ["t"]


FAILED = "FAILED: {} checks passed (1 errors, 0 warnings). Errors: {}"
UNMET = "protocol_compliance: {} does not implement {} interface (missing {})"
OF_PROVIDERS = "get_info, list_models, complete, parse_tool_calls"
OF_CONTEXTS = "add_message, get_messages_for_request, get_messages, set_messages, clear"
NOTHING = "protocol_compliance: No tool was mounted and mount() did not return an object with the "
SHORT = (
    "orchestrator_execute: Orchestrator.execute() should accept "
    "(prompt, context, providers, tools, hooks), found 1 parameters"
)


@pytest.mark.parametrize(
    ("module_id", "body", "passed", "found"),
    [
        (
            "tool-x",
            'await coordinator.mount("tools", broken)',
            "3/4",
            UNMET.format("Tool 't'", "Tool", "execute"),
        ),
        (
            "tool-x",
            'tool.execute = lambda input: None\nawait coordinator.mount("tools", tool)',
            "7/8",
            "tool_execute: Tool.execute() should be async",
        ),
        ("tool-x", "pass", "3/4", f"{NOTHING}interface of Tool, found None"),
        (
            "provider-x",
            'await coordinator.mount("providers", tool)',
            "3/4",
            UNMET.format("Provider 't'", "Provider", OF_PROVIDERS),
        ),
        (
            "loop-x",
            'await coordinator.mount("orchestrator", tool)',
            "4/5",
            SHORT,
        ),
        (
            "context-x",
            'await coordinator.mount("context", tool)',
            "3/4",
            UNMET.format("Context", "ContextManager", OF_CONTEXTS),
        ),
    ],
)
async def test_what_is_mounted_must_be_what_the_type_says(
    load: Load, coordinator: Any, module_id: str, body: str, passed: str, found: str
):
    mount = await load(module_id, body)

    with pytest.raises(ModuleValidationError) as failed:
        await mount(coordinator)

    assert (
        str(failed.value)
        == f"Module '{module_id}' failed validation: {FAILED.format(passed, found)}"
    )
    assert failed.value.reason_code == "validation_failed"
    assert module(module_id).coordinators == [coordinator]
    assert {
        point: mounted
        for point, mounted in coordinator.mount_points.items()
        if point in ("orchestrator", "context", "providers", "tools")
    } == {"orchestrator": None, "context": None, "providers": {}, "tools": {}}


# Holds: differ-86
async def test_what_is_wrongly_mounted_is_taken_back(load: Load, coordinator: Any):
    earlier = SimpleNamespace(name="t")
    await coordinator.mount("tools", earlier)
    await coordinator.mount("tools", SimpleNamespace(name="u"))
    coordinator.hooks.register("a:b", print, name="earlier")
    coordinator.register_contributor("channel", "earlier", list)
    coordinator.register_cleanup(print)
    mount = await load(
        "tool-x",
        'await coordinator.mount("tools", broken)\n'
        'await coordinator.mount("tools", tool, name="v")\n'
        'await coordinator.mount("context", tool)\n'
        'coordinator.hooks.register("a:b", print, name="later")\n'
        'coordinator.register_contributor("channel", "later", list)\n'
        'coordinator.register_contributor("another", "later", list)\n'
        'coordinator.register_cleanup(lambda: cleaned.append("registered"))\n'
        "async def returned():\n"
        '    cleaned.append("returned")\n'
        '    raise ValueError("no")\n'
        "return returned",
    )

    with pytest.raises(ModuleValidationError):
        await mount(coordinator)

    assert coordinator.get("tools")["t"] is earlier
    assert (list(coordinator.get("tools")), coordinator.get("context")) == (["t", "u"], None)
    assert coordinator.hooks.list_handlers("a:b") == {"a:b": ["earlier"]}
    assert [one["name"] for one in coordinator.channels["channel"]] == ["earlier"]
    assert coordinator.channels.get("another", []) == []
    assert coordinator._cleanup_fns == [print]
    assert module("tool-x").cleaned == ["returned", "registered"]


async def test_a_clean_up_that_is_cancelled_still_takes_everything_back(
    load: Load, coordinator: Any
):
    mount = await load(
        "tool-x",
        'await coordinator.mount("tools", broken)\n'
        "def leave():\n"
        "    raise KeyboardInterrupt\n"
        "return leave",
    )

    with pytest.raises(KeyboardInterrupt):
        await mount(coordinator)

    assert coordinator.get("tools") == {}


@pytest.mark.parametrize(
    ("module_id", "body"),
    [
        ("loop-x", "pass"),
        ("context-x", "pass"),
        ("hooks-x", "pass"),
        ("tool-x", "return cleaned.clear"),
        ("tool-x", "return tool"),
    ],
)
async def test_what_may_mount_nothing_is_no_error(
    load: Load, coordinator: Any, module_id: str, body: str
):
    mount = await load(module_id, body)

    await mount(coordinator)

    assert module(module_id).coordinators == [coordinator]


async def test_the_declared_type_says_what_is_checked(load: Load, coordinator: Any):
    mount = await load(
        "thing-x",
        'await coordinator.mount("providers", tool)',
        '__amplifier_module_type__ = "resolver"',
    )

    await mount(coordinator)

    assert list(coordinator.get("providers")) == ["t"]


async def test_what_mount_itself_raises_comes_through(load: Load, coordinator: Any):
    mount = await load("tool-x", 'raise KeyError("k")')

    with pytest.raises(KeyError, match="k"):
        await mount(coordinator)


async def test_a_session_leaves_out_what_is_wrongly_mounted(
    load: Load, coordinator: Any, engine: Any, caplog: pytest.LogCaptureFixture
):
    await load("tool-x", 'await coordinator.mount("tools", broken)')
    await load("provider-x", 'await coordinator.mount("providers", tool, name="x")')
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-x"}],
        "tools": [{"module": "tool-x"}],
    }
    session = engine.AmplifierSession(plan)
    told: list[tuple[str, str]] = []

    def hear(_: str, data: dict[str, Any]) -> None:
        told.append((data["module_id"], data["reason_code"]))

    class Resolver:
        def resolve(self, module_id: str, **hints: Any) -> Any:
            if module_id in ("tool-x", "provider-x"):
                return coordinator.get("module-source-resolver").resolve(module_id, **hints)
            from amplifier_core.module_sources import ModuleNotFoundError

            raise ModuleNotFoundError(module_id)

    session.coordinator.hooks.register("module:load_failed", hear)
    await session.coordinator.mount("module-source-resolver", Resolver())
    with caplog.at_level(logging.CRITICAL):
        await session.initialize()

    assert told == [("provider-x", "validation_failed"), ("tool-x", "validation_failed")]
    assert (session.coordinator.get("providers"), session.coordinator.get("tools")) == ({}, {})
    assert [len(module(name).coordinators) for name in ("tool-x", "provider-x")] == [1, 1]
    await session.cleanup()
