"""What stays as 2.0.2 has it, though it could be otherwise: the reasons are in `CONTRACTS.md`."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_core.models import HookResult, ModelInfo

CONFIG = {"session": {"orchestrator": "o", "context": "c"}}


class Approval:
    """Answers every question with the same words, and counts the questions."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0

    async def request_approval(self, *question: Any) -> str:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Modules:
    """A loader that has a loop, and nothing for any other name."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop

    async def load(self, module_id: str, *_: Any, **__: Any) -> Any:
        async def mount(coordinator: Any) -> None:
            if module_id == "o":
                await coordinator.mount("orchestrator", self.loop)
            elif module_id == "c":
                await coordinator.mount("context", object())
            else:
                await coordinator.mount("providers", object(), name=module_id)

        return mount

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None:
        """There is no queue."""

    def cleanup(self) -> None:
        """Nothing was put on the path."""


# Holds: kept-1
async def test_each_question_is_asked_though_an_earlier_one_was_always_allowed(engine):
    approval = Approval("Allow always")
    coordinator = engine.ModuleCoordinator(approval_system=approval)
    question = HookResult(action="ask_user", approval_options=["Allow once", "Allow always"])

    for _ in range(3):
        left = await coordinator.process_hook_result(question, "tool:pre", "guard")
        assert left.action == "continue"

    assert approval.asked == 3


# Holds: kept-2
async def test_an_approval_system_that_fails_has_not_answered(engine):
    coordinator = engine.ModuleCoordinator(approval_system=Approval(OSError("no terminal")))
    question = HookResult(action="ask_user", approval_default="allow")

    with pytest.raises(OSError, match="no terminal"):
        await coordinator.process_hook_result(question, "tool:pre", "guard")


# Holds: kept-3
async def test_texts_of_several_hooks_are_joined_empty_ones_too(engine):
    registry = engine.HookRegistry()
    for text in ("first", "", "last"):
        answer = HookResult(action="inject_context", context_injection=text)
        registry.register("tool:pre", lambda *_, answer=answer: answer)

    assert (await registry.emit("tool:pre", {})).context_injection == "first\n\n\n\nlast"


# Holds: kept-4
async def test_a_request_to_cancel_tells_nobody_by_itself(engine):
    coordinator = engine.ModuleCoordinator()
    told: list[str] = []
    coordinator.cancellation.on_cancel(lambda: told.append("callback"))
    for event in ALL_EVENTS:
        coordinator.hooks.register(event, lambda event, _: told.append(event))

    await coordinator.request_cancel(immediate=True)

    assert told == []
    assert coordinator.cancellation.is_immediate


# Holds: kept-5
async def test_a_turn_does_not_lift_the_cancellation_of_the_one_before(engine):
    class Loop:
        async def execute(self, **given: Any) -> str:
            given["coordinator"].cancellation.request_graceful()
            return "answer"

    session = engine.AmplifierSession(
        {**CONFIG, "providers": [{"module": "p"}]}, loader=Modules(Loop())
    )
    await session.initialize()
    await session.execute("hello")
    assert session.coordinator.cancellation.is_graceful
    await session.execute("hello")
    assert session.coordinator.cancellation.is_graceful


# Holds: kept-6
def test_a_handler_without_a_name_gets_one_that_nobody_else_has(engine):
    registry = engine.HookRegistry()

    def handler(*_: Any) -> None:
        """Answer nothing."""

    registry.register("tool:pre", handler)
    registry.register("tool:pre", handler)

    first, second = registry.list_handlers("tool:pre")["tool:pre"]
    assert first.startswith("_auto_tool:pre_")
    assert second.startswith("_auto_tool:pre_")
    assert first != second


# Holds: kept-7
def test_a_session_is_forked_by_naming_its_parent(engine):
    parent = engine.AmplifierSession(CONFIG, session_id="parent")
    child = engine.AmplifierSession(CONFIG, parent_id=parent.session_id)

    assert child.parent_id == "parent"
    assert not hasattr(parent, "fork")


# Holds: kept-8
def test_injections_have_no_limit_unless_one_is_set(engine):
    coordinator = engine.ModuleCoordinator()

    assert coordinator.injection_size_limit is None
    assert coordinator.injection_budget_per_turn is None


# Holds: kept-9
def test_a_model_has_no_price_but_its_pricing():
    given = {"id": "m", "display_name": "M", "context_window": 1, "max_output_tokens": 1}

    model = ModelInfo.model_validate({**given, "cost_per_input_token": 1, "metadata": {}})

    assert model == ModelInfo.model_validate(given)
    assert "cost_per_input_token" not in model.model_dump()
