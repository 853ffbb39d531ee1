"""A context that a program has made is as much a part of its session as one from a plan."""

from __future__ import annotations

import re

import pytest

from amplifier_agent import Agent, ScriptedProvider, hook, tool
from amplifier_core.message_models import ChatResponse, TextBlock, Usage
from amplifier_modules.contexts.persistent import PersistentContext
from amplifier_modules.contexts.simple import SimpleContext

LONG = "".join(f"line {number} of a long report\n" for number in range(1, 10_001))
EVENTS = ("context:message", "context:compaction", "context:system_prompt")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@tool
def report() -> str:
    """Return a long report."""
    return LONG


def reading(tool_name, **part):
    """A call of the tool, with the id of the text that the last message refers to."""

    def read(request):
        id = re.search(r"stored as `([0-9a-f]{16})`", request.messages[-1].content)[1]
        return {"tool": tool_name, "arguments": {"id": id, **part}}

    return read


def answer(text, tokens):
    usage = Usage(input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
    return ChatResponse(content=[TextBlock(text=text)], usage=usage)


def heard(into):
    @hook(*EVENTS)
    def hear(event, data):
        into.append((event, data))

    return hear


def made(kind, tmp_path, **settings):
    if kind == "simple":
        return SimpleContext(**settings)
    return PersistentContext(path=str(tmp_path / "chat.jsonl"), **settings)


@pytest.mark.parametrize("kind", ["simple", "persistent"])
async def test_what_it_has_put_aside_can_be_read(kind, tmp_path):
    read = reading("read_stored", line=5_000, lines=1)
    model = ScriptedProvider([{"tool": "report", "arguments": {}}, read, "done"])
    context = made(kind, tmp_path)
    await Agent(model, tools=[report], context=context).run("go")
    shown = model.requests[2].messages[-1].content
    assert shown.endswith("\nline 5000 of a long report\n")
    context.end()


async def test_its_estimates_are_corrected_by_what_the_provider_counts():
    context = SimpleContext(max_tokens=4_000)
    counts = (1_000, 2_000, 3_000, 4_000)  # of about 200, 400, 600, 800 that are estimated
    model = ScriptedProvider([answer("word " * 80, tokens) for tokens in counts] + ["last"])
    seen = []
    async with Agent(model, context=context, hooks=[heard(seen)]).session() as s:
        for number in range(5):
            await s.run("word " * 100 + str(number))
    compactions = [data for event, data in seen if event == "context:compaction"]
    assert len(compactions) == 1


async def test_a_message_can_be_kept_in_its_requests():
    context = SimpleContext(max_tokens=400)
    model = ScriptedProvider(["word " * 100], repeat=True)
    async with Agent(model, context=context).session() as s:
        for prompt in ("Hello", "The key is under the mat.", "long " * 50, "And now?"):
            await s.run(prompt)
        retention = s.session.coordinator.get_capability("context.request_retention")
        with retention.keep([(await context.get_messages())[2]]):
            await s.run("Where is it?")
        await s.run("And now?")
    assert ["mat" in str(each.messages) for each in model.requests[-2:]] == [True, False]


# Holds: agent-32
async def test_its_events_are_those_of_a_context_in_the_plan():
    async def events_of(context):
        seen = []
        model = ScriptedProvider(["word " * 100], repeat=True)
        agent = Agent(model, context=context, hooks=[heard(seen)], system="Be brief.")
        async with agent.session() as s:
            for number in range(6):
                await s.run(f"Question {number}")
        changing = {"session_id", "timestamp", "message", "parent_id"}
        return [(event, {key: data[key] for key in data.keys() - changing}) for event, data in seen]

    settings = {"max_tokens": 400}
    planned = await events_of({"module": "context-simple", "config": settings})
    assert await events_of(SimpleContext(settings)) == planned
    assert {event for event, _ in planned} == set(EVENTS)


# Holds: agent-32
@pytest.mark.parametrize("kind", ["simple", "persistent"])
async def test_the_next_session_goes_on_with_it_and_is_told_what_is_there(kind, tmp_path):
    context = made(kind, tmp_path)
    told = []
    for prompt in ("My name is Ada.", "What is my name?"):
        told.append([])
        model = ScriptedProvider(["Ada."])
        await Agent(model, context=context, hooks=[heard(told[-1])]).run(prompt)
    sources = [[data["source"] for _, data in each] for each in told]
    assert sources == [["user", "model"], ["given", "given", "user", "model"]]
    assert len(model.requests[0].messages) == 3
    await context.add_message({"role": "user", "content": "alone"})
    assert len(await context.get_messages()) == 5, "it belongs to the program"
    context.end()


async def test_a_text_of_the_first_session_is_read_in_the_next():
    context = SimpleContext()
    await Agent(ScriptedProvider(["I see."]), context=context).run(LONG)
    [id] = context._aside.texts.list_ids()
    read = {"tool": "read_stored", "arguments": {"id": id, "line": 7, "lines": 1}}
    model = ScriptedProvider([read, "done"])
    await Agent(model, context=context).run("And line 7?")
    assert "line 7 of a long report" in str(model.requests[1].messages[-1].content)


async def test_a_sub_agent_can_have_one():
    context, seen = SimpleContext(), []

    @tool
    async def ask() -> str:
        """Ask a sub-agent."""
        spawn = s.session.coordinator.get_capability("session.spawn")
        return (await spawn(LONG, tools=[], context=context)).text

    read = reading("read_stored", line=7, lines=1)
    model = ScriptedProvider([{"tool": "ask", "arguments": {}}, read, "It is line 7.", "Seven."])
    async with Agent(model, tools=[ask], hooks=[heard(seen)]).session() as s:
        result = await s.run("Which line?")
    assert (result.text, len(await context.get_messages())) == ("Seven.", 4)
    children = [data["message"] for _, data in seen if data["session_id"] != s.id]
    assert children == await context.get_messages()


def own_tool(name):
    @tool(name=name)
    def mine() -> str:
        """Do something else."""
        return f"mine: {name}"

    return mine


# Holds: agent-32
@pytest.mark.parametrize("taken", [1, 2])
async def test_a_tool_of_the_same_name_stays_and_texts_are_read_under_a_free_one(taken):
    names = ["read_stored", "read_stored_2"][:taken]
    free = f"read_stored_{taken + 1}"
    script = [{"tool": names[-1], "arguments": {}}, reading(free, line=7, lines=1), "done"]
    model = ScriptedProvider(
        [{"tool": "report", "arguments": {}}, *script[1:2], script[0], script[2]]
    )
    await Agent(model, tools=[report, *map(own_tool, names)]).run("go")
    results = [request.messages[-1].content for request in model.requests[1:]]
    assert f"with the tool `{free}`" in results[0]
    assert "line 7 of a long report" in results[1]
    assert results[2] == f"mine: {names[-1]}"
    offered = [each.name for each in model.requests[1].tools]
    assert offered == ["report", *names, free]


async def test_a_tool_of_that_name_meets_a_conversation_that_has_texts_already(tmp_path):
    config = {"module": "context-persistent", "config": {"path": str(tmp_path / "chat.jsonl")}}
    await Agent(ScriptedProvider(["I see."]), context=config).run(LONG)
    [id] = [path.stem for path in (tmp_path / "chat.jsonl.stored").iterdir()]
    read = {"tool": "read_stored_2", "arguments": {"id": id, "line": 7, "lines": 1}}
    model = ScriptedProvider([read, "done"])
    await Agent(model, context=config, tools=[own_tool("read_stored")]).run("And line 7?")
    assert "line 7 of a long report" in str(model.requests[1].messages[-1].content)


async def test_a_sub_agent_reads_texts_of_its_parent_and_its_own():
    """What the parent offers is shared; that of the sub-agent has another name."""

    @tool
    async def ask() -> str:
        """Ask a sub-agent about the report, and about another one."""
        spawn = s.session.coordinator.get_capability("session.spawn")
        [id] = s.session.coordinator.get("context")._aside.texts.list_ids()
        return (await spawn(f"{LONG}{id}")).text

    def of_parent(request):
        id = request.messages[1 - 1].content[-17:].strip()[-16:]
        return {"tool": "read_stored", "arguments": {"id": id, "line": 1, "lines": 1}}

    model = ScriptedProvider(
        [
            {"tool": "report", "arguments": {}},
            {"tool": "ask", "arguments": {}},
            reading("read_stored_2", line=10_001, lines=1),
            of_parent,
            "Both.",
            "done",
        ]
    )
    async with Agent(model, tools=[report, ask]).session() as s:
        assert (await s.run("go")).text == "done"
    own, of_the_parent = (model.requests[at].messages[-1].content for at in (3, 4))
    assert re.search(r"of 10,001]\n[0-9a-f]{16}$", own)
    assert of_the_parent.endswith("\nline 1 of a long report\n")


async def test_a_session_within_another_takes_the_context_and_gives_it_back():
    context, seen = SimpleContext(), []
    read = reading("read_stored", line=7, lines=1)
    model = ScriptedProvider([{"tool": "report", "arguments": {}}, read, "done"])
    agent = Agent(model, context=context, tools=[report], hooks=[heard(seen)])
    async with agent.session() as outer:
        async with Agent(ScriptedProvider(["one"]), context=context).session() as inner:
            await inner.run("Hello")
        await outer.run("go")
    assert "line 7 of a long report" in str(model.requests[2].messages[-1].content)
    sources = [data["source"] for _, data in seen]
    assert sources == ["given", "given", "user", "model", "tool", "model", "tool", "model"]
