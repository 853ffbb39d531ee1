"""Hooks decide and do the same in all engines: `tests/data/hook_programs.json` says what.

The driver for tokio runs the same programs in `crates/amplifier-core/tests/runtime/programs.rs`.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.models import HookResult

PROGRAMS = json.loads((Path(__file__).parents[1] / "data" / "hook_programs.json").read_text())
EVENT = "tool:pre"


def programs(kind: str) -> Any:
    return pytest.mark.parametrize(
        "program", PROGRAMS[kind], ids=[program["claim"] for program in PROGRAMS[kind]]
    )


@programs("emits")
async def test_an_emit_decides_what_the_program_says(engine: Any, program: dict[str, Any]) -> None:
    hooks, called = engine.HookRegistry(), []
    hooks.set_default_fields(**program.get("defaults", {}))
    for spec in program["handlers"]:

        async def handler(event: str, data: dict[str, Any], spec: dict[str, Any] = spec) -> Any:
            called.append(spec["name"])
            if spec.get("fails"):
                raise ValueError("broken")
            return HookResult(**spec["answer"])

        hooks.register(
            EVENT,
            handler,
            spec.get("priority", 0),
            spec["name"],
            fail_closed=spec.get("fail_closed", False),
        )

    result = await hooks.emit(EVENT, program["data"])

    if result.action == "continue":
        result.data.pop("timestamp", None)
    assert (called, result) == (program["called"], HookResult(**program["result"]))


@programs("effects")
async def test_a_result_does_what_the_program_says(engine: Any, program: dict[str, Any]) -> None:
    messages: list[dict[str, Any]] = []
    shown: list[list[str]] = []

    async def add_message(message: dict[str, Any]) -> None:
        told = {key: message["metadata"][key] for key in ("hook_name", "event")}
        messages.append({"role": message["role"], "content": message["content"], **told})

    owner = SimpleNamespace(
        session_id="s", parent_id=None, config={"session": program.get("limits", {})}
    )
    display = SimpleNamespace(show_message=lambda *message: shown.append(list(message)))
    coordinator = engine.ModuleCoordinator(owner, None, display)
    await coordinator.mount("context", SimpleNamespace(add_message=add_message))

    async def process() -> HookResult:
        result = HookResult(**program["result"])
        return await coordinator.process_hook_result(result, EVENT, "caller")

    if "error" in program:
        with pytest.raises(ValueError, match=f"^{program['error']}$"):
            await process()
    else:
        assert await process() == HookResult(**program["left"])
    assert messages == program.get("messages", [])
    assert shown == program.get("shown", [])
    assert coordinator._current_turn_injections == program.get("tokens", 0)
