"""`tool-conversation`: a turn ends with a result, a question or a message."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.tools import conversation


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("task_completion", {"result": "It is done."}, "It is done."),
        ("ask_question", {"question": "Which one?"}, "Which one?"),
        (
            "ask_question",
            {"question": "Which one?", "suggestions": ["the red", "the blue"]},
            "Which one?\n\n1. the red\n2. the blue",
        ),
        ("converse", {"message": "Good morning."}, "Good morning."),
    ],
)
async def test_what_the_tool_says_is_the_answer_of_the_turn(name, arguments, answer):
    model = ScriptedProvider([{"tool": name, "arguments": arguments}, "never"])
    result = await Agent(model, tools=["tool-conversation"]).run("Hi")
    assert (result.text, result.status, model.remaining) == (answer, "completed", 1)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("task_completion", {"result": ""}),
        ("ask_question", {"question": "?", "suggestions": "a"}),
        ("converse", {}),
    ],
)
async def test_an_empty_or_unfit_message_does_not_end_the_turn(name, arguments):
    model = ScriptedProvider([{"tool": name, "arguments": arguments}, "went on"])
    result = await Agent(model, tools=["tool-conversation"]).run("Hi")
    assert result.text == "went on"


async def test_the_config_chooses_the_tools():
    coordinator = ModuleCoordinator()
    await conversation.mount(coordinator, {"tools": ["converse"]})
    assert list(coordinator.get("tools")) == ["converse"]


@pytest.mark.parametrize("config", [{"tools": []}, {"tools": ["shout"]}, {"tool": ["converse"]}])
async def test_a_config_that_cannot_be_used_is_refused(config: dict[str, Any]):
    with pytest.raises(ConfigurationError, match="tool-conversation"):
        await conversation.mount(ModuleCoordinator(), config)


async def test_the_conversation_goes_on_after_a_question():
    model = ScriptedProvider(
        [{"tool": "ask_question", "arguments": {"question": "Which city?"}}, "Sunny in Oslo."]
    )
    async with Agent(model, tools=["tool-conversation"]).session() as session:
        assert (await session.run("Weather?")).text == "Which city?"
        assert (await session.run("Oslo")).text == "Sunny in Oslo."
    roles = [message.role for message in model.requests[-1].messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
