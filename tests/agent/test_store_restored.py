"""A stored session goes on with all it had: views, counts, goals, budgets and errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import amplifier_agent.session
from amplifier_agent import Budget, tool
from amplifier_core import session as python_sessions
from amplifier_core.llm_errors import ContextLengthError

sys.path.insert(0, str(Path(__file__).parent))

from stories import COST, Story, go_on, tell, tell_in_many, verdict


@pytest.fixture(autouse=True)
def engine(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the stories on the extension under asyncio, and on plain Python under trio."""
    if anyio_backend == "trio":
        twin = python_sessions.AmplifierSession
        monkeypatch.setattr(amplifier_agent.session, "AmplifierSession", twin)


def call(name: str, id: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments, "id": id}


@tool(read_only=True)
def look(place: str) -> str:
    """Look."""
    return f"{place}: " + "seen " * 60


@tool
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


def long_talk() -> Story:
    """A conversation that is shortened again and again, with summaries."""
    context = {
        "module": "context-simple",
        "config": {"max_tokens": 700, "summarize": True, "protected_tool_results": 1},
    }
    prompts = [f"Question {number}: " + "why " * 100 for number in range(6)]

    def answer(request: Any) -> Any:
        if str(request.messages[0].content).startswith("You write the summary"):
            return f"Summary of {len(str(request.messages[1].content))}: " + "because " * 20
        if request.messages[-1].role == "user" and len(request.messages) % 3:
            return call("look", f"c{len(str(request.messages))}", place="a")
        return f"Answer to {len(request.messages)}: " + "because " * 50

    return Story(prompts, [answer] * 40, lambda: {"context": context, "tools": [look]})


def refused_request() -> Story:
    """A request that is too long for the model, which is learned for the later ones."""
    context = {"module": "context-simple", "config": {"max_tokens": 9_000, "summarize": True}}
    prompts = [f"Question {number}: " + "why " * 100 for number in range(6)]

    def answer(request: Any) -> Any:
        if str(request.messages[0].content).startswith("You write the summary"):
            return f"Summary of {len(str(request.messages[1].content))}: " + "because " * 20
        if len(str(request.messages)) > 3_500:
            return ContextLengthError("too long")
        return "Because."

    return Story(prompts, [answer] * 40, lambda: {"context": context})


def goal_in_rounds() -> Story:
    """A goal that is reached in the third round, of which a summary is written."""
    script = [
        call("look", "c1", place="a"),
        "Half of it is done.",
        verdict(False, "the first test is missing"),
        [call("look", "c2", place="b"), call("look", "c3", place="c")],
        "Most of it is done.",
        verdict(False, "the second test is missing"),
        "All is done.",
        verdict(True, "each function has a test"),
        "The tests were written in three rounds.",
        "You are welcome.",
    ]
    return Story(
        ["Write tests.", "Thank you."],
        script,
        lambda: {"tools": [look], "budget": Budget(model_calls=30, cost=1, tokens=10**6)},
        ["each function has a test"],
    )


def goal_without_progress() -> Story:
    """A goal that is given up as the judge says the same three times, then withdrawn."""
    missing = verdict(False, "the test of the parser is missing")
    script = ["Done.", missing, "It is done.", missing, "Done again.", missing, "Summary.", "Well."]
    return Story(["Write tests.", "Never mind."], script, goals=["all is tested", None])


def equal_errors() -> Story:
    """A call that fails in the same way until the turn ends, and one that succeeds between."""
    script = [
        call("fail", "c1", reason="no"),
        call("fail", "c2", reason="no"),
        [call("fail", "c3", reason="no"), call("look", "c4", place="a")],
        *(call("fail", f"d{number}", reason="no") for number in range(5)),
        "It does not work.",
    ]
    return Story(["Try it.", "Why?"], script, lambda: {"tools": [look, fail]})


def errors_of_tags() -> Story:
    """Calls in tags that the model writes wrong, and corrects until it does not."""
    bad = '<tool>{"tool_name": "lok", "arguments": {"place": "a"}}</tool>'
    good = '<tool>{"tool_name": "look", "arguments": {"place": "a"}}</tool>'
    script = [bad, bad, good, bad, bad, bad, bad, bad, "It does not work."]
    loop = {"module": "loop-tagged", "config": {"tool_tags": "tool"}}
    return Story(["Look.", "Why?"], script, lambda: {"tools": [look], "loop": loop})


def most_iterations() -> Story:
    """A turn that ends at the limit of model calls of its loop."""
    calls = [
        [{"type": "text", "text": f"So far {n}."}, call("look", f"c{n}", place="a")]
        for n in range(4)
    ]
    loop = {"module": "loop-streaming", "config": {"max_iterations": 4}}
    return Story(
        ["Look.", "More?"],
        [*calls, "That is all.", "No."],
        lambda: {"tools": [look], "loop": loop},
    )


def out_of_money() -> Story:
    """A turn that ends with what it has said so far, as its budget is used up."""
    calls = [
        [{"type": "text", "text": f"So far {n}."}, call("look", f"c{n}", place="a")]
        for n in range(2)
    ]
    script = [*calls, *(call("look", f"d{n}", place="b") for n in range(2)), "No."]
    budget = Budget(cost=COST * 4)
    return Story(["Look.", "More?"], script, lambda: {"tools": [look], "budget": budget})


def used_up() -> Story:
    """A turn that ends at the limit of model calls of its budget, with a closing answer."""
    script = [
        *(call("look", f"c{number}", place="a") for number in range(3)),
        "That is what I found.",
        "Nothing more.",
    ]
    budget = Budget(model_calls=3, tool_calls=10, cost=1)
    return Story(["Look.", "More?"], script, lambda: {"tools": [look], "budget": budget})


STORIES = {
    each.__name__: each()
    for each in (
        long_talk,
        refused_request,
        goal_in_rounds,
        goal_without_progress,
        equal_errors,
        errors_of_tags,
        used_up,
        most_iterations,
        out_of_money,
    )
}


# Holds: store-11, store-14
@pytest.mark.parametrize("name", STORIES)
async def test_a_story_is_the_same_with_a_restart_after_each_turn(
    name: str, tmp_path: Path
) -> None:
    story = STORIES[name]
    told = await tell(story, tmp_path / "one")
    assert await tell_in_many(story, tmp_path / "many") == told


# Holds: store-11, store-13, store-14, store-15
@pytest.mark.parametrize("name", STORIES)
async def test_a_story_is_the_same_with_a_crash_at_any_call_of_a_model(
    name: str, tmp_path: Path, anyio_backend: str
) -> None:
    story = STORIES[name]
    told = await tell(story, tmp_path / "one", tmp_path / "crashed")
    # Every other call is one of the other engine.
    for answered in range(anyio_backend == "trio", len(told.requests), 2):
        again = await go_on(story, tmp_path / "crashed" / str(answered), answered)
        # A request that was refused is no waiting point: it is sent again where the process ended
        # while a summary was written of what it had too much.
        expected = told.requests[answered:]
        if name == "refused_request" and again.requests[0] != expected[0]:
            expected = told.requests[answered - 1 :]
        assert again.requests == expected[: len(again.requests)]
        assert again.results[0] in told.results
        first = told.results.index(again.results[0])
        assert again.results == told.results[first : first + 2]
        if again.results[-1] == told.results[-1]:
            assert again.states == told.states
