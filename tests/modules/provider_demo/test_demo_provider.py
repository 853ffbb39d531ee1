"""The demo model as a provider: what it streams is what it answers, and its suggestions work."""

from __future__ import annotations

import re
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, ChatResponse, Message, ToolSpec
from amplifier_providers.demo import DemoProvider, mount
from amplifier_stream import StreamChunk

TOOLS = [
    ToolSpec(name=name, parameters={"type": "object"})
    for name in ("list_directory", "glob", "grep", "read_file")
]


def ask(prompt: str, tools: list[ToolSpec] = TOOLS, **more: Any) -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content=prompt)], tools=tools, **more)


def without_ids(response: ChatResponse) -> Any:
    dumped = response.model_dump(exclude={"tool_calls": {"__all__": {"id"}}})
    dumped["content"] = [{**block, "id": None} for block in dumped["content"]]
    return dumped


async def chunks_of(request: ChatRequest) -> tuple[list[StreamChunk], ChatResponse]:
    pieces: list[Any] = [piece async for piece in DemoProvider(pace=0).chunks(request)]
    *chunks, response = pieces
    return chunks, response


@pytest.mark.parametrize("prompt", ["Hello", "Give me a tour", "call glob with pattern *.py"])
async def test_the_stream_is_the_answer_in_pieces(prompt: str) -> None:
    chunks, response = await chunks_of(ask(prompt))

    texts = {"thinking": "", "message": "", "tool_call": ""}
    for chunk in chunks:
        texts[chunk.type] += chunk.content
    blocks = {block.type: block for block in response.content}
    assert texts["thinking"] == blocks["thinking"].thinking
    assert texts["message"] == (blocks["text"].text if "text" in blocks else "")
    ended = [chunk.call.block for chunk in chunks if chunk.call and chunk.call.block]
    assert [(call["id"], call["name"], call["arguments"]) for call in ended] == [
        (call.id, call.name, call.arguments) for call in response.tool_calls or ()
    ]
    assert "".join(call["raw_arguments"] for call in ended) == texts["tool_call"]
    assert all(len(chunk.content.split()) <= 2 for chunk in chunks if chunk.type != "tool_call")
    whole = await DemoProvider(pace=0).complete(ask(prompt))
    assert without_ids(whole) == without_ids(response)


async def test_the_usage_counts_the_thinking_and_costs_nothing() -> None:
    _, response = await chunks_of(ask("Give me a tour"))
    usage = response.usage
    assert usage is not None
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    assert 0 < (usage.reasoning_tokens or 0) < usage.output_tokens
    assert usage.cost_usd == 0
    assert response.finish_reason == "tool_use"


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"extended_thinking": False}, {}),
        ({}, {"reasoning_effort": "none"}),
        ({}, {"tool_choice": "any"}),
    ],
)
async def test_thinking_that_is_not_wanted_becomes_the_text_before_the_calls(
    options: dict[str, Any], fields: dict[str, Any]
) -> None:
    response = await DemoProvider(pace=0).complete(ask("Give me a tour", **fields), **options)
    assert [block.type for block in response.content] == ["text", *["tool_call"] * 3]


async def test_an_option_for_thinking_without_a_meaning_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="`extended_thinking` is"):
        await DemoProvider().complete(ask("Hello"), extended_thinking=3)


async def test_it_describes_itself_and_its_model() -> None:
    provider = DemoProvider()
    (model,) = await provider.list_models()
    assert model == provider.get_model_info()
    assert (model.id, model.context_window, model.max_output_tokens) == (
        "amplifier-demo",
        200_000,
        32_000,
    )
    assert provider.get_info().id == "demo"


async def test_the_cost_of_a_session_counts_its_calls() -> None:
    coordinator = ModuleCoordinator()
    await mount(coordinator, {"pace": 0})
    await coordinator.get("providers")["demo"].complete(ask("Hello"))
    assert await coordinator.collect_contributions("session.cost") == [
        {"provider": "demo", "cost_usd": "0", "model_calls": 1, "unpriced_calls": 0}
    ]


def order(item: str, count: int = 1, ratio: float = 0.5, is_gift: bool = False) -> str:
    """Order an item."""
    return f"ordered {count} of {item} ({ratio}, {is_gift})"


def stock(count: int, sizes: list[int], kind: bool) -> str:
    """Count the stock."""
    return f"stock {count} {sizes} {kind}"


FITTING = {
    "Give me a tour of this project": r"# A tour of this folder\n",
    "Where is `main`?": r"# What this folder says about `main`\n(.|\n)*1 line in 1 file contains `main`",
    "Add a function add to calc.py and test it": r"# `add` in `calc.py`\n\n- `calc.py` is new",
    "Undo that": r"# Taken back: “Add a function add to calc.py and test it”\n\n- `calc.py` is deleted",
    "What did I say first?": r"First, you said:\n\n> help",
}
"""How the answer to each suggestion begins."""


@pytest.mark.parametrize(
    ("tools", "count"),
    [(["tool-filesystem", "tool-search"], 4), (["tool-search"], 2), ([], 0)],
)
async def test_every_suggestion_works_as_it_is_written(
    tools: list[str], count: int, tmp_path: Any
) -> None:
    (tmp_path / "a.py").write_text("def main(): pass\n")
    entries = [{"module": each, "config": {"root": str(tmp_path)}} for each in tools]
    plan = {"providers": [{"module": "provider-demo", "config": {"pace": 0}}]}
    async with Agent(plan=plan, tools=[order, *entries]).session() as session:
        help_text = (await session.run("help")).text
        suggestions = re.findall(r"“(.+?)”", help_text)
        assert suggestions == [*list(FITTING)[:count], "What did I say first?"]
        for each in suggestions:
            assert re.match(FITTING[each], (await session.run(each)).text), each


async def test_what_a_file_tool_alone_cannot_do_is_not_suggested(tmp_path: Any) -> None:
    spec = [ToolSpec(name="read_file", parameters={"type": "object"})]
    response = await DemoProvider(pace=0).complete(ask("help", spec))
    assert re.findall(r"“(.+?)”", response.content[-1].text) == ["What did I say first?"]


@pytest.mark.parametrize(
    ("tool", "result"), [(order, "ordered 1 of …"), (stock, "stock 1 [1] True")]
)
async def test_the_example_of_a_call_is_a_call(tool: Any, result: str) -> None:
    plan = {"providers": [{"module": "provider-demo", "config": {"pace": 0}}]}
    async with Agent(plan=plan, tools=[tool]).session() as session:
        refused = (await session.run(f"call {tool.__name__}")).text
        (example,) = re.findall(r"Ask like this: `(.+)`", refused)
        assert result in (await session.run(example)).text
