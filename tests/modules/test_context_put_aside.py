"""Texts that are too long for a conversation: a reference in it, the whole beside it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core import AmplifierSession
from amplifier_core import session as plain
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_modules.contexts.put_aside import PutAside
from amplifier_modules.contexts.read_stored import MOST_BYTES, ReadStored
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.contexts.stored_texts import MemoryTexts, describe_text

KIB = 1024
LONG = "".join(f"line {number} of a long report\n" for number in range(1, 10_001))
MIDDLE = "line 5000 of a long report\n"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def result(text):
    return {"role": "tool", "tool_call_id": "1", "name": "report", "content": text}


def stored_id(text):
    return re.search(r"stored as `([0-9a-f]{16})`", text)[1]


def reader(**texts):
    store = MemoryTexts(10**9)
    ids = [store.put(text).id for text in texts.values()]
    return ReadStored(store, MOST_BYTES), ids[0]


@pytest.mark.parametrize("size", [128 * KIB, 128 * KIB + 1])
async def test_what_is_longer_than_128_kib_is_put_aside(size):
    context = SimpleContext()
    await context.add_message(result("x" * size))

    [message] = await context.get_messages()
    is_aside = size > 128 * KIB
    assert (message["content"] == "x" * size) is not is_aside
    assert len(message["content"]) < 4 * KIB or not is_aside


async def test_the_model_gets_the_beginning_the_end_and_how_to_read_the_rest():
    context = SimpleContext()
    await context.add_message(result(LONG))

    [message] = await context.get_messages_for_request()
    text = message["content"]
    id = stored_id(text)
    note = (
        f"[{len(LONG):,} bytes in 10,000 lines. The middle is left out here; the whole text is"
        f" stored as `{id}`. Read parts of it with the tool `read_stored`:"
        f' {{"id": "{id}", "line": 1}} or {{"id": "{id}", "search": "…"}}.]'
    )
    assert text == f"{LONG[:2048]}\n\n{note}\n\n{LONG[-1024:]}"


@pytest.mark.parametrize("make", [AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_the_model_reads_the_rest_in_the_same_turn(loop, make):
    class Report:
        name = "report"
        description = "A report."
        input_schema = {"type": "object", "properties": {}}  # noqa: RUF012 -- as tools have it

        async def execute(self, given):
            return LONG

    def read(request):
        id = stored_id(request.messages[-1].content)
        return {"tool": "read_stored", "arguments": {"id": id, "line": 5000, "lines": 1}}

    model = ScriptedProvider([{"tool": "report", "arguments": {}}, read, "done", "again"])
    modules = {"orchestrator": loop, "context": "context-simple"}
    session = make({"session": modules, "providers": ["provider-scripted"]})
    async with session:
        await session.initialize()
        await session.coordinator.mount("providers", model, name="scripted")
        await session.coordinator.mount("tools", Report(), name="report")
        assert await session.execute("go") == "done"
        assert await session.execute("go") == "again"
        texts = session.coordinator.get("context")._aside.texts
        assert len(texts.list_ids()) == 1
    tools = [[each.name for each in request.tools] for request in model.requests]
    assert tools == [["report"], *[["report", "read_stored"]] * 3]
    shown = model.requests[2].messages[-1].content
    assert shown == f'[lines 5,000 to 5,000 of 10,000; go on with "line": 5001]\n{MIDDLE}'
    assert texts.list_ids() == [], "what was put aside ends with the session"


async def test_a_long_prompt_is_put_aside_and_found_in():
    def find(request):
        id = stored_id(request.messages[-1].content)
        return {"tool": "read_stored", "arguments": {"id": id, "search": "LINE 5000 "}}

    model = ScriptedProvider([find, "found"])
    result = await Agent(model).run("Sum this up:\n" + LONG)
    assert result.text == "found"
    found = model.requests[1].messages[-1].content
    assert found == f"[1 lines from line 1 on contain it; 1 shown]\n5001: {MIDDLE}"


async def test_images_and_short_blocks_stay():
    short = {"type": "text", "text": "Look at these:"}
    document = {"type": "document", "source": {"type": "text", "data": LONG}}
    blocks = [short, IMAGE, {"type": "text", "text": LONG}, document]
    context = SimpleContext()
    await context.add_message({"role": "user", "content": blocks})

    [message] = await context.get_messages()
    kept, image, text, aside = message["content"]
    assert (kept, image) == (short, IMAGE)
    assert stored_id(text["text"]) == stored_id(aside["source"]["data"]) == describe_text(LONG).id
    assert blocks[2]["text"] == LONG, "the caller's own is not changed"


@pytest.mark.parametrize("role", ["system", "assistant"])
async def test_nothing_else_is_put_aside(role):
    context = SimpleContext()
    await context.add_message({"role": role, "content": LONG})
    assert [each["content"] for each in await context.get_messages()] == [LONG]


async def test_0_puts_nothing_aside():
    context = SimpleContext({"put_aside_bytes": 0})
    await context.add_message(result(LONG))
    assert (await context.get_messages())[0]["content"] == LONG


async def test_the_oldest_are_dropped_for_new_ones_and_all_by_clear():
    context = SimpleContext({"put_aside_bytes": 4096, "put_aside_total_bytes": 12_000})
    for letter in "abc":
        await context.add_message(result(letter * 5_000))
    await context.add_message(result("d" * 13_000))

    texts = context._aside.texts
    assert texts.list_ids() == [describe_text(letter * 5_000).id for letter in "bc"]
    assert "[The middle was too long to be kept.]" in (await context.get_messages())[-1]["content"]
    await context.clear()
    assert texts.list_ids() == []


# Holds: agent-31
@given(
    content=st.text(max_size=400)
    | st.lists(st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=300))),
    most=st.integers(32, 600),
)
def test_what_is_put_aside_is_kept_whole(content, most):
    texts = MemoryTexts(10**9)
    given = {"role": "tool", "content": content}
    now = PutAside(texts, most).shorten_content(given["role"], given["content"])

    before = [content] if isinstance(content, str) else [block["text"] for block in content]
    after = [now] if isinstance(now, str) else [block["text"] for block in now]
    for old, new in zip(before, after, strict=True):
        assert new == old or texts.get(stored_id(new)) == old
    if sum(len(text.encode()) for text in before) <= most:
        assert after == before


# Holds: agent-31
@given(text=st.text(min_size=1, max_size=500), size=st.integers(1, 40), lines=st.integers(1, 5))
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_text_can_be_read_to_its_end_in_parts(text, size, lines, anyio_backend):
    tool, id = reader(text=text)
    encoded, shown, offset = text.encode(), b"", 0
    while offset is not None:
        given = {"id": id, "offset": offset, "bytes": size}
        output = (await tool.execute(given)).output
        head, _, part = output.partition("]\n")
        shown += encoded[offset : offset + size]
        assert part == encoded[offset : offset + size].decode(errors="replace")
        onward = re.search(r'go on with "offset": (\d+)', head)
        offset = None if onward is None else int(onward[1])
    assert shown == encoded

    whole, line = "", 1
    while line is not None:
        output = (await tool.execute({"id": id, "line": line, "lines": lines})).output
        head, _, part = output.partition("]\n")
        whole += part
        onward = re.search(r'go on with "line": (\d+)', head)
        line = None if onward is None else int(onward[1])
    assert whole == text


@pytest.mark.parametrize(
    "asked",
    [
        {"line": 1, "lines": 100_000},
        {"offset": 0, "bytes": MOST_BYTES},
        {"search": "a", "lines": 100_000},
    ],
)
@pytest.mark.parametrize("text", ["ä" * 500_000, LONG * 3, ("a" * 40_000 + "\n") * 9], ids=len)
async def test_every_answer_is_bounded(asked, text):
    tool, id = reader(text=text)
    output = (await tool.execute({"id": id, **asked})).output
    assert len(output.encode()) < MOST_BYTES + 200


async def test_a_line_that_is_too_long_says_where_its_bytes_are():
    tool, id = reader(text="short\n" + "a" * 40_000)
    output = (await tool.execute({"id": id, "line": 2})).output
    assert output == (
        f'[line 2 alone is longer than 32,768 bytes: read it with {{"id": "{id}", "offset": 6}}]'
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"line": 99}, "[there are no lines from 99 on: the text has 1]\n"),
        ({"offset": 99}, "[there are no bytes from 99 on: the text has 3]"),
        ({"search": "z"}, "[0 lines from line 1 on contain it; 0 shown]\n"),
    ],
)
async def test_a_part_that_is_not_there_is_told(asked, told):
    tool, id = reader(text="abc")
    assert (await tool.execute({"id": id, **asked})).output == told


async def test_an_unknown_id_lists_what_there_is():
    tool, id = reader(text="abc")
    answer = await tool.execute({"id": "../../etc/passwd"})
    assert answer.success is False
    assert answer.output == f"no text is stored as `../../etc/passwd` (stored: `{id}`)"


@pytest.mark.parametrize(
    "asked",
    [{}, {"id": 5}, {"id": "a", "line": 0}, {"id": "a", "bytes": 10**9}, {"id": "a", "more": 1}],
)
async def test_wrong_arguments_are_named(asked):
    tool, _ = reader(text="abc")
    with pytest.raises(InvalidToolCallError, match="of `read_stored`: "):
        await tool.execute(asked)


async def test_a_tool_of_that_name_stays():
    @tool(name="read_stored")
    def mine() -> str:
        """Do something else."""
        return "mine"

    model = ScriptedProvider([{"tool": "read_stored", "arguments": {}}, "done"])
    await Agent(model, tools=[mine]).run(LONG)
    assert model.requests[1].messages[-1].content == "mine"
