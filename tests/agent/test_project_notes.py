"""`Agent(project_notes=True)`: what requests have of the notes, and that they only grow."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core import ChatRequest
from amplifier_modules.stores.sqlite import SqliteStore

sys.path.insert(0, str(Path(__file__).parents[1] / "modules"))

from written_place import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place.make(tmp_path)
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return place


def system_of(request: ChatRequest) -> str:
    """The system prompt of a request; empty without one."""
    return "".join(str(each.content) for each in request.messages if each.role == "system")


def texts_of(request: ChatRequest) -> list[str]:
    """The other messages of a request."""
    return [str(each.content) for each in request.messages if each.role != "system"]


def grow_only(model: ScriptedProvider) -> bool:
    """Whether each request begins with the whole of the one before it, tools among them."""
    requests = model.requests
    return all(
        after.messages[: len(before.messages)] == before.messages and after.tools == before.tools
        for before, after in pairwise(requests)
    )


def note_agent(place: Place, *script: Any, **options: Any) -> tuple[Agent[Any], ScriptedProvider]:
    model = ScriptedProvider(script)
    options = {"tools": ["tool-filesystem"], "directory": place.project, **options}
    return Agent(model, project_notes=True, **options), model


def read_file(path: str) -> dict[str, Any]:
    return {"tool": "read_file", "arguments": {"path": path}}


LOOPS = ["loop-basic", "loop-streaming"]


# Holds: notes-1, notes-7
@pytest.mark.parametrize("loop", LOOPS)
async def test_the_notes_stand_below_the_system_prompt(place: Place, loop: str) -> None:
    place.write("AGENTS.md", "Use tabs.")
    place.write("~/.claude/CLAUDE.md", "Be short.")
    agent, model = note_agent(place, "Yes.", system="Help.", loop=loop)

    await agent.run("Hello")

    system = system_of(model.requests[0])
    assert system.startswith("Help.\n\n<project-notes>\n")
    assert system.index("Be short.") < system.index("Use tabs.")
    assert texts_of(model.requests[0]) == ["Hello"]


# Holds: notes-7
async def test_without_a_system_prompt_the_notes_are_it(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    agent, model = note_agent(place, "Yes.")

    await agent.run("Hello")

    assert system_of(model.requests[0]).startswith("<project-notes>")


# Holds: notes-7
async def test_without_the_option_no_file_is_read(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    model = ScriptedProvider(["Yes."])

    await Agent(model, directory=place.project).run("Hello")

    assert system_of(model.requests[0]) == ""


# Holds: notes-6, notes-8
@pytest.mark.parametrize("loop", LOOPS)
async def test_notes_of_a_sub_folder_come_after_a_file_there_is_read(
    place: Place, loop: str
) -> None:
    place.write("AGENTS.md", "Use tabs.")
    place.write("web/AGENTS.md", "Use spaces.")
    place.write("web/app/main.js", "1")
    script = (read_file("web/app/main.js"), read_file("web/app/main.js"), "Done.")
    agent, model = note_agent(place, *script, loop=loop)

    await agent.run("Look")

    first, second, third = model.requests
    assert "Use spaces." not in str(first.messages)
    assert '<notes from="project" file="web/AGENTS.md">\nUse spaces.' in texts_of(second)[-1]
    assert sum("Use spaces." in each for each in texts_of(third)) == 1
    assert grow_only(model)


# Holds: notes-8
async def test_changed_new_and_removed_notes_are_appended_in_the_next_turn(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    place.write("CLAUDE.local.md", "My branch.")
    agent, model = note_agent(place, "1", "2", "3")
    async with agent.session() as session:
        await session.run("One")
        place.write("AGENTS.md", "Use spaces.")
        (place.project / "CLAUDE.local.md").unlink()
        await session.run("Two")
        await session.run("Three")

    news = texts_of(model.requests[1])[-1]
    assert "Use spaces." in news
    assert "`CLAUDE.local.md` count no more" in news
    assert texts_of(model.requests[2])[:-2] == texts_of(model.requests[1])
    assert grow_only(model)


# Holds: notes-4
async def test_changes_beyond_the_limit_are_named_only(place: Place) -> None:
    place.write("AGENTS.md", "a" * 40_000)
    agent, model = note_agent(place, "1", "2", "3")
    async with agent.session() as session:
        await session.run("One")
        place.write("AGENTS.md", "b" * 40_000)
        await session.run("Two")
        await session.run("Three")

    news = texts_of(model.requests[1])[-1]
    assert "`AGENTS.md` has changed or is new; read it if you need it" in news
    assert "bbb" not in news
    assert len(texts_of(model.requests[2])) == 6


# Holds: notes-9
async def test_all_notes_stay_through_a_compaction(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    place.write("web/AGENTS.md", "Use spaces.")
    place.write("web/main.js", "1")
    context = {"module": "context-simple", "config": {"max_tokens": 1_000}}
    answers = [f"Answer {number}: " + "because " * 100 for number in range(8)]
    agent, model = note_agent(place, read_file("web/main.js"), *answers, context=context)
    async with agent.session() as session:
        for number in range(8):
            await session.run(f"Question {number}")

    last = model.requests[-1]
    assert "Answer 0" not in str(last.messages)
    assert "Use tabs." in system_of(last)
    assert sum("Use spaces." in each for each in texts_of(last)) == 1


# Holds: notes-8
async def test_a_stored_session_goes_on_with_the_notes_that_it_began_with(
    place: Place, tmp_path: Path
) -> None:
    place.write("AGENTS.md", "Use tabs.")
    place.write("web/AGENTS.md", "In web.")
    place.write("web/main.js", "1")
    store = SqliteStore(folder=str(tmp_path / "store"))
    script = (read_file("web/main.js"), "1")
    agent, model = note_agent(place, *script, system="Help.", store=store)
    async with agent.session(session_id="chat") as session:
        await session.run("One")
    place.write("AGENTS.md", "Use spaces.")
    later, other = note_agent(place, "2", system="Help.", store=store)
    async with later.session(session_id="chat") as session:
        await session.run("Two")
    await store.close()

    before, after = model.requests[-1], other.requests[0]
    assert system_of(after) == system_of(before)
    assert [each for each in texts_of(after) if "Use spaces." in each] == [texts_of(after)[-1]]
    assert sum("In web." in each for each in texts_of(after)) == 1


# Holds: notes-8
async def test_notes_that_were_lost_with_the_conversation_are_given_again(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    agent, model = note_agent(place, "1", "2", "3")
    async with agent.session() as session:
        await session.run("One")
        place.write("AGENTS.md", "Use spaces.")
        await session.run("Two")
        context: Any = session.session.coordinator.get("context")
        await context.set_messages((await context.get_messages())[:2])
        await session.run("Three")

    assert [str(each.messages).count("Use spaces.") for each in model.requests] == [0, 1, 1]


# Holds: notes-10
async def test_a_sub_agent_has_the_notes_too(place: Place) -> None:
    place.write("AGENTS.md", "Use tabs.")
    call = {"tool": "task", "arguments": {"prompt": "Look"}}
    agent, model = note_agent(place, call, "Seen.", "Done.", tools=["tool-task"])

    await agent.run("Have it looked at")

    assert [system_of(each).count("Use tabs.") for each in model.requests] == [1, 1, 1]


# Holds: notes-7
async def test_a_context_of_others_has_the_notes_as_a_message(place: Place) -> None:
    class Plain:
        """A context without a system prompt."""

        def __init__(self) -> None:
            self.messages: list[Any] = []

        async def add_message(self, message: Any) -> None:
            self.messages.append(message)

        async def get_messages(self) -> list[Any]:
            return list(self.messages)

        async def get_messages_for_request(self, *_: Any, **__: Any) -> list[Any]:
            return list(self.messages)

        async def set_messages(self, messages: Any) -> None:
            self.messages = list(messages)

        async def clear(self) -> None:
            self.messages = []

    place.write("AGENTS.md", "Use tabs.")
    agent, model = note_agent(place, "1", "2", context=Plain())
    async with agent.session() as session:
        await session.run("One")
        await session.run("Two")

    assert ["\n".join(texts_of(each)).count("Use tabs.") for each in model.requests] == [1, 1]


# Holds: notes-7
def test_the_option_is_true_or_false() -> None:
    with pytest.raises(TypeError, match="`project_notes` is a `str`"):
        Agent("demo", project_notes="yes")  # pyright: ignore[reportArgumentType]


# Holds: notes-7
async def test_a_module_that_the_plan_configures_is_not_mounted_twice(place: Place) -> None:
    place.write("~/.claude/CLAUDE.md", "Be short.")
    place.write("AGENTS.md", "Use tabs.")
    config = {"module": "hooks-project-notes", "config": {"user_notes": False}}

    @tool
    def nothing() -> str:
        """Do nothing."""
        return ""

    agent, model = note_agent(place, "1", hooks=[config], tools=[nothing])
    await agent.run("One")

    assert system_of(model.requests[0]).count("<notes ") == 1
