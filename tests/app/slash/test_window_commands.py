"""`/context` and `/compact`: what fills the window, and what is left out of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app.commands.chat.slash.window import COMPACT, CONTEXT
from amplifier_app.failure import Failure
from amplifier_core.models import ModelInfo
from amplifier_modules.contexts.simple import SimpleContext

from .fake_context import FakeConversation, make_context, run_command


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def make_conversation() -> FakeConversation:
    """Return one with a long result and a provider with a window of 20,000 tokens."""
    context = SimpleContext()
    await context.add_message({"role": "user", "content": "look"})
    call: dict[str, Any] = {"id": "1", "name": "look", "arguments": {}}
    await context.add_message({"role": "assistant", "content": "", "tool_calls": [call]})
    await context.add_message({"role": "tool", "tool_call_id": "1", "content": "x" * 16_000})
    for number in range(40):
        role = "user" if number % 2 else "assistant"
        await context.add_message({"role": role, "content": "y" * 800})
    info = ModelInfo(id="m", display_name="m", context_window=20_000, max_output_tokens=1_000)
    provider = SimpleNamespace(get_model_info=lambda: info)
    tool = SimpleNamespace(description="z" * 400, input_schema={})
    mounted = {"context": context, "providers": {"p": provider}, "tools": {"look": tool}}
    return FakeConversation(mounted)


# Holds: command-92
@pytest.mark.anyio
async def test_the_window_is_shown_by_what_fills_it(tmp_path: Path) -> None:
    conversation = await make_conversation()
    context = make_context(tmp_path, conversation)
    kept = conversation.mounted["context"]

    async def write_prompt() -> str:
        return "p" * 800

    await kept.set_system_prompt_factory(write_prompt)
    estimated = await run_command(CONTEXT, context)
    await kept.get_messages_for_request(provider=conversation.mounted["providers"]["p"])
    kept.note_usage({"input_tokens": 13_000})
    counted = await run_command(CONTEXT, context)

    assert [each.split()[-3:] for each in estimated if "tool results" in each] == [
        ["4,004", "20%", "####................"]
    ]
    assert [each.split()[1] for each in estimated if each.startswith("  tools")] == ["101"]
    assert estimated[1] == "  system prompt            ?  known from the next request on"
    assert estimated[-1] == "these are estimates"
    assert counted[1].split()[:4] == ["system", "prompt", "204", "1%"]
    assert counted[0] == "about 13,000 of 20,000 tokens"
    assert counted[-2].split()[:2] == ["free", "7,000"]
    assert counted[-1].startswith("the service counted 13,000 tokens in the last request; ")


# Holds: command-173
@pytest.mark.anyio
async def test_a_wish_for_a_summary_is_taken_where_one_is_written(tmp_path: Path) -> None:
    conversation = FakeConversation({"context": SimpleContext(summarize=True)})
    context = make_context(tmp_path, conversation)
    lines = await run_command(COMPACT, context, "names of files")
    assert lines == ["your next prompt begins with a summary of what is left out"]

    conversation.mounted["context"] = SimpleContext()
    with pytest.raises(Failure, match="no summary is written"):
        await run_command(COMPACT, context, "names of files")


# Holds: command-93
@pytest.mark.anyio
async def test_compacting_shortens_requests_and_keeps_the_conversation(tmp_path: Path) -> None:
    conversation = await make_conversation()
    context = make_context(tmp_path, conversation)
    kept, provider = conversation.mounted["context"], conversation.mounted["providers"]["p"]
    whole = await kept.get_messages()
    before = kept.describe_window()
    lines = await run_command(COMPACT, context)
    sent = await kept.get_messages_for_request(provider=provider)
    after = kept.describe_window()

    totals = [each["messages"] + each["results"] for each in (before, after)]
    expected = f"about {totals[0]:,} tokens of messages before, {totals[1]:,} after (estimates)"
    assert lines[0] == expected
    assert totals[1] < totals[0]
    assert sent[0]["content"] == "look"
    assert await kept.get_messages() == whole
