"""Objects as answers: native, by a final tool, or read from text, with one round of repair."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from amplifier_agent import (
    Agent,
    Budget,
    ScriptedProvider,
    StatusError,
)
from amplifier_core.message_models import ResponseFormatJsonSchema
from amplifier_core.models import ProviderInfo


class City(BaseModel):
    name: str
    country: str = "France"


async def test_an_output_is_read_from_text_or_given_by_the_final_tool() -> None:
    final = {"tool": "final_answer", "arguments": {"name": "Paris"}}
    for script in (['{"name": "Paris"}'], ['```json\n{"name": "Paris"}\n```'], [final]):
        result = await Agent(ScriptedProvider(script), output=City).run("Where?")
        assert result.output == City(name="Paris")


async def test_a_provider_that_can_is_held_to_the_schema() -> None:
    class Native(ScriptedProvider):
        def get_info(self) -> ProviderInfo:
            info = super().get_info()
            return info.model_copy(update={"capabilities": ["structured_output"]})

    model = Native(['{"name": "Paris"}'])
    result = await Agent(model, output=City).run("Where?")
    assert result.output == City(name="Paris")
    form = model.requests[0].response_format
    assert isinstance(form, ResponseFormatJsonSchema)
    assert form.json_schema == City.model_json_schema()
    assert model.requests[0].tools is None


async def test_an_output_that_is_no_object_is_wrapped_for_the_final_tool() -> None:
    final = {"tool": "final_answer", "arguments": {"value": [1, 2]}}
    assert (await Agent(ScriptedProvider([final]), output=list[int]).run("?")).output == [1, 2]
    assert (await Agent(ScriptedProvider(["[1, 2]"]), output=list[int]).run("?")).output == [1, 2]


async def test_an_answer_that_does_not_fit_is_repaired_once() -> None:
    model = ScriptedProvider(["Paris", '{"name": "Paris"}'])
    result = await Agent(model, output=City).run("Where?")
    assert (result.output, result.model_calls) == (City(name="Paris"), 2)
    assert "does not fit the schema of `final_answer`" in str(
        model.requests[1].messages[-1].content
    )

    result = await Agent(ScriptedProvider(["Paris", "Lyon"]), output=City).run("Where?")
    assert (result.status, result.text) == ("error", "Lyon")
    assert "the answer does not fit `output`: the answer: Invalid JSON" in (result.reason or "")
    with pytest.raises(StatusError):
        _ = result.output


class Answer(Enum):
    YES = "yes"


@pytest.mark.parametrize(
    ("output", "text", "value"),
    [
        (str, "Paris", "Paris"),
        (str, '"Paris"', "Paris"),
        (Literal["yes", "no"], " yes\n", "yes"),
        (Answer, "yes", Answer.YES),
        (date, "2026-11-22", date(2026, 11, 22)),
        (int, "3", 3),
    ],
)
async def test_a_plain_text_that_validates_counts(output: Any, text: str, value: object) -> None:
    result = await Agent(ScriptedProvider([text]), output=output).run("Where?")
    assert (result.output, result.model_calls) == (value, 1)


async def test_the_round_of_repair_draws_on_the_budget_of_the_turn() -> None:
    model = ScriptedProvider(["Paris", "Lyon", "Nice"])
    agent = Agent(model, output=City, budget=Budget(model_calls=1))
    result = await agent.run("Where?")
    assert (result.status, result.model_calls) == ("limit", 2)
    assert model.requests[1].tool_choice == "none"

    model = ScriptedProvider(["Paris", '{"name": "Paris"}'])
    result = await agent.replace(model=model).run("Where?", budget=Budget(tokens=1))
    assert (result.status, result.model_calls) == ("limit", 1)
    assert result.reason == "the budget of 1 token is used up"
