"""A loop limits the results of any tool in the conversation, if its settings say so."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.tool_answer import fit_content

LIMITS = st.integers(1024, 5000)
TEXTS = st.lists(st.sampled_from(["x" * 700, "é", "😀" * 200, "\n", "\udc80"]), max_size=30).map(
    "".join
)
BLOCKS = st.lists(
    st.one_of(
        TEXTS.map(lambda text: {"type": "text", "text": text}),
        st.integers(0, 4000).map(lambda size: {"type": "image", "source": {"data": "A" * size}}),
    ),
    max_size=8,
)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def cut(note):
    found = re.search(r"… \[([\d,]+) more bytes were cut: `max_result_bytes` of the loop is ", note)
    return int(found[1].replace(",", ""))


# Holds: sink-4
@given(TEXTS, LIMITS)
def test_a_text_is_cut_at_its_bytes_and_the_rest_is_counted(text, limit):
    shown = fit_content(limit, text)
    size = len(text.encode("utf-8", "replace"))
    if size <= limit:
        assert shown == text
        return
    assert len(shown.encode()) <= limit
    kept = shown[: shown.rindex("… [")]
    assert text.encode("utf-8", "replace").decode().startswith(kept)
    assert cut(shown) == size - len(kept.encode())


@given(BLOCKS, LIMITS)
def test_blocks_are_cut_where_the_bytes_end_and_the_rest_is_counted(blocks, limit):
    shown = fit_content(limit, blocks)
    if shown == blocks:
        return
    assert sum(len(json.dumps(block)) for block in shown) <= limit
    *kept, note = shown
    whole = sum(len(json.dumps(block)) for block in blocks)
    assert cut(note["text"]) == whole - sum(len(json.dumps(block)) for block in kept)


def test_a_block_that_no_request_could_hold_is_named_in_its_place():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    ring: dict[str, object] = {"type": "chart"}
    ring["data"] = ring
    text = {"type": "text", "text": "found"}

    shown = fit_content(10_000, [{"type": "table", "rows": deep}, text, ring])

    note = {"type": "text", "text": "… [a block was left out: it cannot be written as JSON]"}
    assert shown == [note, text, note]


@pytest.mark.parametrize("kind", ["basic", "streaming"])
async def test_a_result_of_any_tool_is_limited_where_the_settings_say_so(kind, bench, say):
    turn = bench(
        kind,
        say.calls(("1", "look", {}), ("2", "fail", {})),
        say.text("done"),
        config={"max_result_bytes": 2000},
    )

    def fail(given):
        raise RuntimeError("y" * 9000)

    turn.tool("look", lambda given: ToolResult(output="x" * 9000))
    turn.tool("fail", fail)
    await turn.run()
    results = [message["content"] for message in await turn.history() if message["role"] == "tool"]
    assert [len(content.encode()) <= 2000 for content in results] == [True, True]
    assert all(cut(content) > 7000 for content in results)


async def test_a_plain_loop_limits_no_result(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.context = SimpleContext({"put_aside_bytes": 0})
    turn.tool("look", lambda given: ToolResult(output="x" * 1_000_000))
    await turn.run()
    [result] = [message for message in await turn.history() if message["role"] == "tool"]
    assert result["content"] == "x" * 1_000_000
