"""What becomes of modules that fail while a session begins."""

from __future__ import annotations

import logging
from typing import Any
from unittest import mock

import anyio
import pytest
from planned import PLAN, Loader, failing, ready, record, start

from amplifier_core import ModuleLoader, RustCoordinator
from amplifier_core import _session_init as session_init
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.loader import ModuleValidationError


@pytest.mark.parametrize(
    ("module_id", "words"),
    [
        ("loop", "Cannot initialize without orchestrator"),
        ("context", "Cannot initialize without context manager"),
    ],
)
@pytest.mark.parametrize("error", [ValueError("gone"), RuntimeError("gone"), KeyError("gone")])
async def test_a_session_cannot_begin_without_loop_and_context(
    module_id: str, words: str, error: Exception
):
    loader = Loader(**{module_id: error})
    with pytest.raises(RuntimeError) as failed:
        await start(PLAN, loader)
    assert str(failed.value) == f"{words}: {error}"
    assert failed.value.__cause__ is error
    assert type(failed.value) is RuntimeError


async def test_the_hint_of_an_error_is_told_with_it():
    error = ConfigurationError("no key", hint="set `API_KEY`")
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    await start({**PLAN, "tools": ["tool-a"]}, Loader(tool_a=error), coordinator)
    assert [payload["error"] for _, payload in seen] == ["no key; set `API_KEY`"]

    with pytest.raises(RuntimeError, match=r"orchestrator: no key; set `API_KEY`$"):
        await start(PLAN, Loader(loop=error))
    told = ValueError("no key; set `API_KEY`")
    told.hint = "set `API_KEY`"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(RuntimeError, match=r"orchestrator: no key; set `API_KEY`$"):
        await start(PLAN, Loader(loop=told))


async def test_a_hint_that_cannot_be_read_is_none():
    class Hostile(Exception):
        @property
        def hint(self) -> str:
            raise RuntimeError("no hint")

    error = Hostile("no luck")
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    await start({**PLAN, "tools": ["tool-a"]}, Loader(tool_a=error), coordinator)
    assert [payload["error"] for _, payload in seen] == ["no luck"]

    with pytest.raises(RuntimeError, match=r"orchestrator: no luck$") as failed:
        await start(PLAN, Loader(loop=error))
    assert failed.value.__cause__ is error


async def test_an_error_without_a_text_is_told_by_its_repr():
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")

        def __repr__(self) -> str:
            return "Unreadable()"

    assert session_init._safe_exception_str(Unreadable()) == "Unreadable()"
    assert session_init._safe_exception_str(ValueError("plain")) == "plain"
    with pytest.raises(RuntimeError, match=r"orchestrator: Unreadable\(\)$"):
        await start(PLAN, Loader(loop=Unreadable()))


# Holds: differ-118
async def test_a_tool_that_fails_is_left_out_and_told(caplog: pytest.LogCaptureFixture):
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    loader = Loader(
        tool_a=ModuleValidationError("no package", reason_code="invalid_package_layout"),
        hooks_a=failing(KeyError("bad")),
    )
    plan = {**PLAN, "tools": ["tool-a", "tool-b"], "hooks": ["hooks-a"]}
    await start(plan, loader, coordinator)
    assert seen == [
        (
            "module:load_failed",
            {
                "module_type": "tool",
                "module_id": "tool-a",
                "error": "no package",
                "reason_code": "invalid_package_layout",
            },
        ),
        (
            "module:load_failed",
            {
                "module_type": "hook",
                "module_id": "hooks-a",
                "error": "'bad'",
                "reason_code": "unknown",
            },
        ),
    ]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.message for record in warnings] == [
        "Failed to load tool 'tool-a': no package",
        "Failed to load hook 'hooks-a': 'bad'",
    ]
    assert [record.exc_info for record in warnings] == [None, None]
    assert [module_id for module_id, *_ in loader.loaded][-2:] == ["tool-b", "hooks-a"]


async def test_a_judge_that_loads_later_keeps_its_policy(
    engine: Any, caplog: pytest.LogCaptureFixture
):
    async def mount_hooks(coordinator: Any) -> None:
        def fail(*_: Any) -> None:
            raise ValueError("cannot judge")

        async def wait(*_: Any) -> None:
            await anyio.sleep_forever()

        hooks = coordinator.hooks
        hooks.register("module:load_failed", wait, 0, "slow", timeout=0.01)
        hooks.register("module:load_failed", fail, 1, "judge", fail_closed=True)
        hooks.register("module:load_failed", lambda *one: heard.append(one), 2, "never asked")

    heard: list[Any] = []
    loader = Loader(tool_a=failing(ValueError("a")), hooks_a=mount_hooks)
    await start(
        {**PLAN, "tools": ["tool-a"], "hooks": ["hooks-a"]}, loader, engine.ModuleCoordinator()
    )

    hooks = [one for one in caplog.records if one.name == "amplifier_core.hooks"]
    assert [(one.levelname, one.getMessage().partition(" on `")[0]) for one in hooks] == [
        ("WARNING", "hook `slow` timed out"),
        ("ERROR", "SECURITY: hook `judge` failed"),
    ]
    assert heard == []


async def test_a_failed_import_in_a_mount_names_the_innermost_cause():
    try:
        try:
            raise ModuleNotFoundError("No module named 'libfoo'")
        except ImportError as inner:
            raise ImportError("please install the extra") from inner
    except ImportError as outer:
        error = outer
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    await start({**PLAN, "tools": ["tool-a"]}, Loader(tool_a=failing(error)), coordinator)
    assert seen[0][1]["error"] == (
        "please install the extra, caused by ModuleNotFoundError: No module named 'libfoo'"
    )


# Holds: differ-80
async def test_a_failure_is_told_once_to_hooks_that_load_later():
    seen: list[Any] = []

    async def mount_hooks(coordinator: Any) -> None:
        for position, priority in enumerate((5, 1)):
            coordinator.hooks.register(
                "module:load_failed",
                lambda event, data, position=position: seen.append((position, event, data)),
                priority=priority,
                name=f"late-{position}",
            )

    coordinator = RustCoordinator()
    early = record(coordinator, "module:load_failed")
    loader = Loader(tool_a=failing(ValueError("a")), hooks_a=mount_hooks)
    await start({**PLAN, "tools": ["tool-a"], "hooks": ["hooks-a"]}, loader, coordinator, "above")

    assert [data["module_id"] for _, data in early] == ["tool-a"]
    assert [position for position, _, _ in seen] == [1, 0]
    for _, event, data in seen:
        assert isinstance(data.pop("timestamp"), str)
        assert (event, data) == (
            "module:load_failed",
            {
                "session_id": "an id",
                "parent_id": "above",
                "module_type": "tool",
                "module_id": "tool-a",
                "error": "a",
                "reason_code": "unknown",
            },
        )


# Holds: differ-67, differ-68
@pytest.mark.parametrize(
    ("section", "value", "text"),
    [
        ("tools", {"module": "x"}, "`tools` in the mount plan must be a list, found `dict`"),
        ("hooks", "hooks-a", "`hooks` in the mount plan must be a list, found `str`"),
        ("providers", [5], r"`providers\[0\]` .* found `int`"),
        ("tools", ["tool-a", None], r"`tools\[1\]` .* found `NoneType`"),
    ],
)
async def test_a_plan_that_cannot_be_read_is_told(section: str, value: Any, text: str):
    with pytest.raises(RuntimeError, match=text):
        await start({**PLAN, section: value}, Loader())


@pytest.mark.parametrize("depth", [1, 10_000])
async def test_a_module_without_a_proper_name_is_left_out_and_told(engine: Any, depth: int):
    name: Any = "x"
    for _ in range(depth):
        name = [name]
    coordinator = engine.ModuleCoordinator()
    seen = record(coordinator, "module:load_failed")
    entries = [{"module": name}, {"module": 5, "instance_id": name}, {"module": name}]
    loader = ModuleLoader()
    mounts = dict.fromkeys(("loop", "context"), mock.AsyncMock(return_value=None))
    loader._load_entry_point = mounts.get  # pyright: ignore
    plan = {**PLAN, "providers": entries, "tools": entries[:1]}

    await start(plan, loader, coordinator)

    words = "['x']" if depth == 1 else "[[[[[...]]]]]"
    assert [
        (data["module_type"], data["module_id"], data.get("instance_id")) for _, data in seen
    ] == [
        ("provider", words, None),
        ("provider", 5, words),
        ("provider", words, None),
        ("tool", words, None),
    ]


async def test_a_ready_function_that_fails_is_told_also_to_handlers_it_registered():
    seen: list[Any] = []

    async def bad(coordinator: Any) -> None:
        coordinator.hooks.register(
            "module:on_session_ready_failed", lambda event, data: seen.append(data["module_id"])
        )
        raise KeyError("not ready")

    async def later(coordinator: Any) -> None:
        coordinator.hooks.register(
            "module:on_session_ready_failed", lambda event, data: seen.append(data["error"])
        )

    loader = Loader(loop=ready("loop", bad), context=ready("context", later))
    await start(PLAN, loader)
    assert seen == ["loop", "'not ready'"]


async def test_a_failed_beginning_leaves_no_ready_function_for_the_next():
    on_session_ready = mock.AsyncMock()
    loader = Loader(loop=ready("loop", on_session_ready), context=ValueError("not yet"))
    coordinator = RustCoordinator()
    with pytest.raises(RuntimeError):
        await start(PLAN, loader, coordinator)
    del loader.mounts["context"]
    await start(PLAN, loader, coordinator)
    assert on_session_ready.await_args_list == [mock.call(coordinator)]
