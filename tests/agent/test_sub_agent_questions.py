"""Questions of sub-agents in stored sessions: they wait for an answer from any process, as their parents do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import anyio
import anyio.lowlevel
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from copied_store import CopiedStore

from amplifier_agent import Agent, Budget, PartialApproval, Question, Result, ScriptedProvider, tool
from amplifier_core.models import ToolResult
from amplifier_modules.loops.boundary.kept_questions import KeptAnswer, KeptQuestion
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_modules.stores.stored_history import read_history
from amplifier_modules.tool.context import Continuation, ToolContext

Rounds = Sequence[Sequence[Mapping[str, Any]]]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def task(prompt: str, **more: Any) -> dict[str, Any]:
    return call("task", prompt=prompt, **more)


def wipe(path: str) -> dict[str, Any]:
    return call("wipe", path=path)


def answer_in(plan: Mapping[str, Rounds]) -> Any:
    """Return a model that makes the calls which a plan has for its prompt, then tells their results."""

    def answer(request: Any) -> Any:
        users = [i for i, each in enumerate(request.messages) if each.role == "user"]
        prompt, turn = str(request.messages[users[-1]].content), request.messages[users[-1] :]
        done = sum(each.role == "assistant" for each in turn)
        if done < len(plan.get(prompt, ())):
            return list(plan[prompt][done])
        return f"{prompt}: " + "; ".join(str(m.content) for m in turn if m.role == "tool")

    return answer


class Publish:
    """A tool that asks while it runs, about pages that a person can agree to alone."""

    name = "publish"
    description = "Publish pages."
    input_schema: ClassVar = {"type": "object", "properties": {}}
    continues_calls = True

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        del input
        context, pages = ToolContext.current(), ["a", "b"]
        if (before := context.asked_before) is not None:
            answer = await context.ask_again(before)
        else:
            continuation = Continuation({"pages": pages})
            answer = await context.ask("publish?", parts=pages, continuation=continuation)
        return ToolResult(output=f"{answer.is_yes} {answer.parts}")


def make_delegate(*, continues_calls: bool) -> Any:
    """Return a tool of an application that has sub-agents do something, one after another."""

    @tool(continues_calls=continues_calls)
    async def delegate(context: ToolContext) -> list[tuple[str, str]]:
        """Have two sub-agents wipe."""
        spawn: Any = context.coordinator.get_capability("session.spawn")
        results = [await spawn(prompt) for prompt in ("wipe a", "wipe b")]
        return [(each.id, each.text) for each in results]

    return delegate


class Place:
    """A store with a session, and what was wiped."""

    def __init__(self, folder: Path, plan: Mapping[str, Rounds]) -> None:
        self.folder = folder
        self.plan = plan
        self.wiped: list[str] = []
        self.keys: set[str] = set()

        @tool(needs_approval=True)
        def wipe(context: ToolContext, path: str) -> str:
            """Wipe."""
            assert context.key not in self.keys
            self.keys.add(context.key)
            self.wiped.append(path)
            return f"{path} is gone"

        self.wipe = wipe
        self.tools: list[Any] = [wipe, "tool-task"]

    def agent(self, **options: Any) -> Agent[Any]:
        store = {"module": "store-sqlite", "config": {"folder": str(self.folder)}}
        given = {"tools": self.tools, "approvals": "wait", "store": store}
        model = ScriptedProvider([answer_in(self.plan)], repeat=True)
        return Agent(model, **{**given, **options})

    async def answer(self, id: str, answer: Any, asked: Any = None) -> None:
        (question,) = [asked] if asked else await self.agent().questions(id)
        await self.agent().answer(id, question.id, answer)

    async def go_on(self, id: str, **options: Any) -> Result[Any]:
        """Go on with the turn in a process of its own, and end that where a question waits."""
        results: list[Result[Any]] = []
        session = self.agent(**options).session(session_id=id)

        async def go_on() -> None:
            results.append(await session.resume_turn())

        async with anyio.create_task_group() as tasks, session:
            tasks.start_soon(go_on)
            while not (results or session.questions):
                await anyio.lowlevel.checkpoint()
        return results[0]

    async def list_children(self, id: str) -> list[tuple[str, list[Any]]]:
        """Return the stored sub-agents of a session, the oldest first, and their events."""
        store = SqliteStore(folder=str(self.folder))
        ids = [each.id for each in await store.sessions() if each.parent == id]
        found = [(each, list(await store.read(each))) for each in reversed(ids)]
        await store.close()
        return found


def tell_results(result: Result[Any]) -> list[str]:
    return [each["content"] for each in result.messages if each["role"] == "tool"]


def show(path: str, task: str) -> str:
    return f"the sub-agent `{task}` asks:\nrun `wipe`?\n| `path`: `{path}`"


ONE: Mapping[str, Rounds] = {"go": [[task("wipe a")]], "wipe a": [[wipe("a")]]}


# Holds: approval-38, approval-39
@pytest.mark.parametrize("answer", [True, False, "keep it"])
async def test_a_run_ends_with_the_question_of_a_sub_agent_and_goes_on_with_the_answer(
    tmp_path: Path, answer: Any
) -> None:
    place = Place(tmp_path, ONE)
    asked = await place.agent().run("go")
    assert (asked.status, asked.reason) == (
        "awaiting_approval",
        "a call of `task` must be approved",
    )
    (question,) = asked.questions
    assert (question.tool_name, question.arguments, question.action) == (
        "wipe",
        {"path": "a"},
        show("a", "wipe a"),
    )
    assert await place.agent().questions(asked.session_id) == [question]
    await place.answer(asked.session_id, answer)
    assert await place.agent().questions(asked.session_id) == []
    result = await place.go_on(asked.session_id)
    told = {
        True: "a is gone",
        False: f"Denied by hook: User denied: {show('a', 'wipe a')}",
        "keep it": "Denied by hook: User denied, and says: keep it",
    }[answer]
    (returned,) = tell_results(result)
    written = told.replace("\n", "\\n")
    assert returned == f'{{"id": "task-1", "answer": "wipe a: {written}"}}'
    assert (result.status, result.questions) == ("completed", ())
    assert place.wiped == (["a"] if answer is True else [])


# Holds: approval-38
async def test_a_sub_agent_waits_in_its_session_for_an_answer_of_any_process(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path, ONE)
    results: list[Result[Any]] = []
    async with place.agent().session() as session, anyio.create_task_group() as tasks:

        async def run() -> None:
            results.append(await session.run("go"))

        tasks.start_soon(run)
        while not session.questions:
            await anyio.lowlevel.checkpoint()
        (question,) = session.questions
        assert await place.agent().questions(session.id) == [question]
        await place.agent().answer(session.id, question.id, True)
    assert (results[0].status, place.wiped) == ("completed", ["a"])


# Holds: approval-38
async def test_the_question_of_a_sub_agent_is_the_same_each_time_it_waits(tmp_path: Path) -> None:
    place = Place(tmp_path, ONE)
    asked = await place.agent().run("go")
    for _ in range(2):
        again = await place.go_on(asked.session_id)
        assert (again.status, again.questions) == ("awaiting_approval", asked.questions)
    await place.answer(asked.session_id, True)
    result = await place.go_on(asked.session_id)
    assert (result.status, place.wiped) == ("completed", ["a"])
    ((_, events),) = await place.list_children(asked.session_id)
    kinds = [each.kind for each in events]
    assert kinds.count("approval:required") == kinds.count("approval:granted") == 1


# Holds: approval-40
async def test_a_sub_agent_may_ask_again_and_again(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {"go": [[task("wipe")]], "wipe": [[wipe("a")], [wipe("b")]]}
    place = Place(tmp_path, plan)
    result: Result[Any] = await place.agent().run("go")
    for path in ("a", "b"):
        (question,) = result.questions
        assert question.action == show(path, "wipe")
        await place.answer(result.session_id, True)
        result = await place.go_on(result.session_id)
    assert tell_results(result) == ['{"id": "task-1", "answer": "wipe: a is gone; b is gone"}']
    assert place.wiped == ["a", "b"]


# Holds: approval-40
async def test_two_sub_agents_ask_at_once(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {
        "go": [[task("wipe a"), task("wipe b"), task("rest")]],
        "wipe a": [[wipe("a")]],
        "wipe b": [[wipe("b")]],
    }
    place = Place(tmp_path, plan)
    asked = await place.agent().run("go")
    assert asked.reason == "calls of `task`, `task` must be approved"
    of = {each.arguments["path"]: each for each in await place.agent().questions(asked.session_id)}
    assert {path: each.action for path, each in of.items()} == {
        "a": show("a", "wipe a"),
        "b": show("b", "wipe b"),
    }
    await place.answer(asked.session_id, True, of["b"])
    again = await place.go_on(asked.session_id)
    assert (again.questions, place.wiped) == ((of["a"],), ["b"])
    await place.answer(asked.session_id, "no more", of["a"])
    result = await place.go_on(asked.session_id)
    assert [json.loads(each)["answer"] for each in tell_results(result)] == [
        "rest: ",
        "wipe b: b is gone",
        "wipe a: Denied by hook: User denied, and says: no more",
    ]
    assert place.wiped == ["b"]


# Holds: approval-39, approval-40
async def test_a_sub_agent_of_a_sub_agent_asks(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {
        "go": [[task("hand on", description="tidy up")]],
        "hand on": [[task("wipe a")]],
        "wipe a": [[wipe("a")]],
    }
    place = Place(tmp_path, plan)
    asked = await place.agent().run("go")
    (question,) = await place.agent().questions(asked.session_id)
    assert question.action == show("a", "tidy up > wipe a")
    assert asked.questions == (question,)
    await place.answer(asked.session_id, True)
    result = await place.go_on(asked.session_id)
    assert (result.status, place.wiped) == ("completed", ["a"])
    assert "a is gone" in tell_results(result)[0]


# Holds: approval-40
async def test_a_tool_of_a_sub_agent_asks_about_parts(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {"go": [[task("publish")]], "publish": [[call("publish")]]}
    place = Place(tmp_path, plan)
    place.tools.append(Publish())
    asked = await place.agent().run("go")
    (question,) = asked.questions
    assert question.action == "the sub-agent `publish` asks:\npublish?"
    again = await place.go_on(asked.session_id)
    assert again.questions == (question,)
    await place.answer(asked.session_id, PartialApproval(parts=["b"]))
    result = await place.go_on(asked.session_id)
    assert tell_results(result) == ["""{"id": "task-1", "answer": "publish: True ('b',)"}"""]


# Holds: approval-41
@pytest.mark.parametrize("answer", [True, "keep it"])
async def test_after_a_crash_at_any_row_a_sub_agent_has_asked_or_asks(
    tmp_path: Path, answer: Any
) -> None:
    place = Place(tmp_path / "now", ONE)
    store = CopiedStore(place.folder)
    session = place.agent(store=store).session(session_id="chat")
    async with session, anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, "go")
        while not session.questions:
            await anyio.lowlevel.checkpoint()
        (question,) = session.questions
        asked = store.copy()
        session.answer(question.id, answer)
        answered = store.copy()
    await store.close()
    ways: set[str] = set()
    # The copy behind a write is that before the next one.
    for number, copy in list(enumerate(store.copies))[::2]:
        if answer is not True and number < asked:
            continue  # as with the other answer
        later = Place(copy, ONE)
        if number >= answered:
            assert await later.agent().questions("chat") == []
        result = await go_on_to_the_end(later, answer)
        if result is None:
            continue
        (told,) = tell_results(result)
        if "outcome of this call is unknown" in told:
            # Of the child if it ran already, else of the call before there was a child.
            assert later.wiped == []
            ways.add("unknown")
        elif answer is True:
            assert "a is gone" in told
            assert later.wiped in ([], ["a"])
            ways.add("ran" if later.wiped else "had run")
        else:
            assert "keep it" in told
            assert later.wiped == []
            ways.add("denied")
    assert ways == ({"unknown", "ran", "had run"} if answer is True else {"denied"})


async def go_on_to_the_end(place: Place, answer: Any) -> Result[Any] | None:
    """Go on with the turn of `chat`, if it is open, and answer what is asked; nothing runs again."""

    def ask(question: Question) -> Any:
        return False if "Run it again?" in question.action else answer

    async with place.agent(approvals=ask).session(session_id="chat") as session:
        return await session.resume_turn() if session.has_open_turn else None


# Holds: approval-42
async def test_an_answer_to_anything_else_does_not_count_for_a_sub_agent(tmp_path: Path) -> None:
    place = Place(tmp_path, ONE)
    asked = await place.agent().run("go")
    (question,) = asked.questions
    ((child, events),) = await place.list_children(asked.session_id)
    (row,) = read_history(events).questions.values()
    kept = KeptQuestion(**row)
    assert (kept.question_id, kept.session_id) == (question.id, child)
    genuine = KeptAnswer(question_id=question.id, approved=True, shown=kept.digest, answer_id="x")
    moved = KeptQuestion(**{**row, "session_id": asked.session_id})
    later = KeptQuestion(**{**row, "epoch": row["epoch"] + 1})
    other = KeptQuestion(**{**row, "prompt": show("b", "wipe a")})
    forged = [replace(genuine, shown=each) for each in ("", moved.digest, later.digest)]
    forged.append(replace(genuine, shown=other.digest))
    store = SqliteStore(folder=str(place.folder))
    for each in forged:
        await store.put(child, "answer", asdict(each))
    # Nor does it where another session was sent it.
    await store.put(asked.session_id, "answer", asdict(genuine))
    await store.close()
    assert await place.agent().questions(asked.session_id) == [question]
    again = await place.go_on(asked.session_id)
    assert (again.status, again.questions, place.wiped) == ("awaiting_approval", (question,), [])


# Holds: approval-42
async def test_a_sub_agents_question_is_answered_once(tmp_path: Path) -> None:
    place = Place(tmp_path, ONE)
    asked = await place.agent().run("go")
    (question,) = asked.questions
    await place.answer(asked.session_id, False, question)
    gone = f"no question `{question.id}` of session `{asked.session_id}` waits for an answer"
    with pytest.raises(LookupError, match=gone):
        await place.answer(asked.session_id, True, question)
    assert (await place.go_on(asked.session_id)).status == "completed"
    assert place.wiped == []


# Holds: approval-43
async def test_an_agent_that_is_a_tool_waits_too(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {"go": [[call("expert", prompt="wipe a")]], "wipe a": [[wipe("a")]]}
    place = Place(tmp_path, plan)
    model = ScriptedProvider([answer_in(plan)], repeat=True)
    place.tools = [Agent(model, tools=[place.wipe]).as_tool("expert", "Knows more.")]
    asked = await place.agent().run("go")
    (question,) = asked.questions
    assert question.action == show("a", "expert")
    assert await place.agent().questions(asked.session_id) == [question]
    await place.answer(asked.session_id, True)
    result = await place.go_on(asked.session_id)
    assert (result.status, place.wiped) == ("completed", ["a"])
    assert tell_results(result) == ["wipe a: a is gone"]


# Holds: approval-43
async def test_an_agent_that_is_a_tool_and_has_a_store_is_denied(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {"go": [[call("expert", prompt="wipe a")]], "wipe a": [[wipe("a")]]}
    place = Place(tmp_path / "parent", plan)
    own = {"module": "store-sqlite", "config": {"folder": str(tmp_path / "own")}}
    model = ScriptedProvider([answer_in(plan)], repeat=True)
    expert = Agent(model, tools=[place.wipe], store=own)
    place.tools = [expert.as_tool("expert", "Knows more.")]
    result = await place.agent().run("go")
    assert (result.status, place.wiped) == ("completed", [])
    assert "Approval timeout" in tell_results(result)[0]


# Holds: approval-43
@pytest.mark.parametrize("continues_calls", [True, False])
async def test_a_tool_of_yours_goes_on_with_its_sub_agents_if_it_says_so(
    tmp_path: Path, continues_calls: bool
) -> None:
    plan: dict[str, Rounds] = {
        "go": [[call("delegate")]],
        "wipe a": [[wipe("a")]],
        "wipe b": [[wipe("b")]],
    }
    place = Place(tmp_path, plan)
    place.tools.append(make_delegate(continues_calls=continues_calls))
    result: Result[Any] = await place.agent().run("go")
    if not continues_calls:
        assert (result.status, place.wiped) == ("completed", [])
        assert tell_results(result)[0].count("Approval timeout") == 2
        return
    for path in ("a", "b"):
        (question,) = result.questions
        assert question.action == show(path, f"wipe {path}")
        await place.answer(result.session_id, True)
        result = await place.go_on(result.session_id)
    told = '[["task-1", "wipe a: a is gone"], ["task-2", "wipe b: b is gone"]]'
    assert (tell_results(result), place.wiped) == ([told], ["a", "b"])


# Holds: approval-43
@pytest.mark.parametrize(
    "calls",
    [
        [[task("wipe a", background=True)], [call("task", action="result", id="task-1")]],
        [[task("rest")], [call("task", action="continue", id="task-1", prompt="wipe a")]],
    ],
    ids=["background", "continued"],
)
async def test_another_sub_agent_is_denied_where_nobody_waits(
    tmp_path: Path, calls: Rounds
) -> None:
    place = Place(tmp_path, {"go": calls, "wipe a": [[wipe("a")]]})
    result = await place.agent().run("go")
    assert (result.status, result.questions, place.wiped) == ("completed", (), [])
    assert "Approval timeout" in tell_results(result)[1]


# Holds: approval-44
async def test_what_a_sub_agent_has_used_of_its_own_budget_is_used(tmp_path: Path) -> None:
    plan: dict[str, Rounds] = {"go": [[task("wipe")]], "wipe": [[wipe("a")], [wipe("b")]]}
    place = Place(tmp_path, plan)
    place.tools[1] = {"module": "tool-task", "config": {"budget": {"tool_calls": 1}}}
    result: Result[Any] = await place.agent(budget=Budget(tool_calls=9)).run("go")
    await place.answer(result.session_id, True)
    result = await place.go_on(result.session_id, budget=Budget(tool_calls=9))
    (question,) = result.questions
    assert question.action == show("b", "wipe")
    await place.answer(result.session_id, True)
    result = await place.go_on(result.session_id, budget=Budget(tool_calls=9))
    (told,) = tell_results(result)
    assert "the budget of 1 tool call is used up" in told
    assert place.wiped == ["a"]


async def test_a_new_prompt_ends_the_question_of_a_sub_agent(tmp_path: Path) -> None:
    place = Place(tmp_path, ONE)
    asked = await place.agent().run("go")
    await place.answer(asked.session_id, True)
    async with place.agent().session(session_id=asked.session_id) as session:
        result = await session.run("leave it")
    assert (result.text, place.wiped) == ("leave it: ", [])
    assert "outcome of this call is unknown" in tell_results(result)[0]
    assert await place.agent().questions(asked.session_id) == []
