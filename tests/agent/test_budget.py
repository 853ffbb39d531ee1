"""Budgets of agents and their sub-agents: what is held back, told and left over."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, Status, hook, tool
from amplifier_core import ChatRequest, ChatResponse, TextBlock, Usage

CALL_TOKENS, CALL_COST = 1_000, Decimal("0.1")


class Priced(BaseProvider):
    """Answers when all who are to ask at the same time have asked; each call costs the same."""

    name = "priced"
    reports_cost = True

    def __init__(self, *, together: int = 1) -> None:
        self.calls = 0
        self._together = together
        self._asked = anyio.Event()

    def input_cost(self, tokens: int) -> Decimal:
        return CALL_COST

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.calls += 1
        if self.calls >= self._together:
            self._asked.set()
        await self._asked.wait()
        used = Usage(
            input_tokens=CALL_TOKENS, output_tokens=0, total_tokens=CALL_TOKENS, cost_usd=CALL_COST
        )
        return ChatResponse(content=[TextBlock(text="read")], usage=used)


def lead_of(reader: Priced, count: int, **options: Any) -> tuple[Agent[None], ScriptedProvider]:
    calls = [{"tool": "read", "arguments": {"prompt": f"part {part}"}} for part in range(count)]
    free = Usage(input_tokens=0, output_tokens=0, total_tokens=0, cost_usd=Decimal(0))

    class Free(ScriptedProvider):
        reports_cost = True

        async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
            response = await super().complete(request, **options)
            return response.model_copy(update={"usage": free})

    model = Free([calls, "Done."])
    tools = [Agent(reader).as_tool("read", "Reads.")]
    return Agent(model, tools=tools, **options), model


async def test_sub_agents_at_the_same_time_do_not_spend_more_than_the_turn_may() -> None:
    reader = Priced(together=3)
    lead, _ = lead_of(reader, 20, budget=Budget(cost=Decimal("0.3")))
    with anyio.fail_after(30):
        result = await lead.run("go")
    assert (reader.calls, result.cost) == (3, Decimal("0.3"))
    assert (result.status, result.reason) == ("limit", "the budget of $0.3 is used up")


async def test_a_sub_agent_that_does_not_fit_is_an_error_of_its_tool() -> None:
    reader = Priced(together=2)
    lead, model = lead_of(reader, 3, budget=Budget(cost=Decimal("0.25")))
    result = await lead.run("go")
    assert (reader.calls, result.text) == (2, "Done.")
    told = sorted(str(message.content) for message in model.requests[1].messages[-3:])
    assert told[:2] == ["read", "read"]
    assert "has no room for another call beside those that are under way" in told[2]


async def test_a_sub_agent_that_never_called_its_model_makes_no_closing_call() -> None:
    reader = Priced()
    lead, model = lead_of(reader, 5, budget=Budget(model_calls=2))
    result = await lead.run("go")
    assert reader.calls == 1
    assert (result.status, result.text, result.model_calls) == ("limit", "Done.", 3)
    assert model.requests[1].tool_choice == "none"


@pytest.mark.parametrize("count", [1, 4])
async def test_a_stream_warns_once_at_80_percent_even_if_a_sub_agent_used_it(count: int) -> None:
    lead, _ = lead_of(Priced(together=count), count, budget=Budget(tokens=count * 1_200))
    told = [event async for event in lead.stream("go") if isinstance(event, Status)]
    used = f"{count * 1_000:,} of the {count * 1_200:,} tokens of this turn are used up"
    assert [(event.kind, event.text) for event in told] == [("budget:warning", used)]


async def test_the_next_run_goes_on_after_each_limit() -> None:
    @tool
    async def wait() -> str:
        """Wait for ever."""
        await anyio.sleep_forever()
        return ""

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    for budget in (
        Budget(model_calls=1), Budget(tool_calls=1), Budget(tokens=1), Budget(cost=Decimal("0.01")),
        Budget(seconds=0.05),
    ):  # fmt: skip
        name = "wait" if budget.seconds else "look"

        class Costly(ScriptedProvider):
            reports_cost = True

            async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
                response = await super().complete(request, **options)
                assert response.usage is not None
                response.usage.cost_usd = Decimal(1)
                return response

        call = {"tool": name}
        closing = ["So far."] if budget.model_calls == 1 else []
        first = [call, call] if budget.tool_calls else [call]
        model = Costly([first, *closing, "Went on."])
        async with Agent(model, tools=[wait, look]).session() as session:
            stopped = await session.run("go", budget=budget)
            assert stopped.status == "limit", budget
            assert stopped.reason is not None
            assert (await session.run("on")).text == "Went on."
        calls = [m for m in model.requests[-1].messages if getattr(m, "tool_call_id", None)]
        assert len(calls) == len(first)


async def test_a_call_that_its_budget_kept_from_running_is_told_and_not_counted() -> None:
    told: list[Any] = []

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    @hook("tool:error")
    def note(_event: str, data: dict[str, Any]) -> None:
        told.append(data["error"])

    model = ScriptedProvider([[{"tool": "look"}] * 3])
    agent = Agent(model, tools=[look], hooks=[note], budget=Budget(tool_calls=1))

    result = await agent.run("go")

    reason = "the budget of 1 tool call is used up"
    assert (result.status, result.reason, result.tool_calls) == ("limit", reason, 1)
    assert told == [{"type": "OverBudgetError", "msg": reason}] * 2
