"""Turns of `loop-basic` do the same here and in Rust: `tests/data/turn_programs.json` says what.

`crates/amplifier-core/tests/runtime/turns.rs` runs the same programs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from amplifier_core import ModuleCoordinator, llm_errors
from amplifier_core.message_models import ChatRequest
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.basic import BasicLoop
from amplifier_providers.scripted import ScriptedProvider

DATA = Path(__file__).parents[1] / "data" / "turn_programs.json"
DOCUMENT: dict[str, Any] = json.loads(DATA.read_text())
VARIABLE = ("timestamp", "parallel_group_id", "question_id")


class ToolError(Exception):
    """What the failing tool raises; Rust has a type of this name."""


class Add:
    name = "add"
    description = "Add two integers."
    input_schema = {"type": "object"}  # noqa: RUF012

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(output=arguments["a"] + arguments["b"])


class Fail(Add):
    name = "fail"

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        raise ToolError("broken")


class Wait(Add):
    name = "wait"

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        await anyio.sleep_forever()
        raise AssertionError


def _item(item: Any) -> Any:
    told = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    if "error" in told:
        return getattr(llm_errors, told["error"])(told["message"], provider="scripted")
    return cast("Any", item)


def _comparable(data: dict[str, Any]) -> dict[str, Any]:
    """Return a payload without what differs from run to run; of a response, how many blocks."""
    data = {key: value for key, value in data.items() if key not in VARIABLE}
    if isinstance(response := data.get("response"), dict):
        data["response"] = len(cast("dict[str, Any]", response)["content"])
    if isinstance(data.get("usage"), dict):
        data["usage"] = {key: value for key, value in data["usage"].items() if value is not None}
    return data


def _pair(message: Any) -> list[Any]:
    return [message.role, message.model_dump(exclude_none=True)["content"]]


async def run(program: dict[str, Any]) -> dict[str, Any]:
    """Run a program and return what can be compared."""
    coordinator = ModuleCoordinator()
    events: list[Any] = []

    def observe(event: str, data: dict[str, Any]) -> HookResult:
        events.append([event, _comparable(data)])
        if program.get("cancel") == event:
            coordinator.cancellation.request_graceful()
        elif program.get("stop") == event:
            coordinator.cancellation.request_immediate()
        return HookResult()

    def answering(answer: dict[str, Any]) -> Any:
        def answering(_event: str, data: dict[str, Any]) -> HookResult:
            if changed := answer.get("data"):
                return HookResult.model_validate({**answer, "data": {**data, **changed}})
            return HookResult.model_validate(answer)

        return answering

    for event in DOCUMENT["events"]:
        coordinator.hooks.register(event, observe, priority=-1)
    for event, answer in program.get("answers", {}).items():
        coordinator.hooks.register(event, answering(answer))
    context = SimpleContext()
    await coordinator.mount("context", context)
    provider = ScriptedProvider([_item(item) for item in program["script"]])
    settings = {name: program[name] for name in ("max_iterations",) if name in program}
    outcome: dict[str, Any] = {}
    try:
        outcome["answer"] = await BasicLoop(settings).execute(
            "2 + 3?",
            context,
            {"scripted": provider},
            {tool.name: tool for tool in (Add(), Fail(), Wait())},
            coordinator.hooks,
            coordinator=coordinator,
        )
    except llm_errors.LLMError as error:
        outcome["error"] = [type(error).__name__, str(error)]
    history = await context.get_messages()
    requests: list[ChatRequest] = provider.requests
    return {
        **outcome,
        "trace": events,
        "history": [
            {key: value for key, value in message.items() if key != "metadata"}
            for message in history
        ],
        "last_request": [_pair(message) for message in requests[-1].messages] if requests else [],
    }


@pytest.mark.parametrize("program", DOCUMENT["programs"], ids=lambda program: program["claim"])
async def test_a_turn_does_what_the_program_says(program: dict[str, Any]) -> None:
    expected = {key: program[key] for key in ("answer", "error") if key in program}
    expected |= {key: program[key] for key in ("trace", "history", "last_request")}

    assert await run(program) == expected
