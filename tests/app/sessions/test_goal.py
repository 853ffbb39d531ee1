"""A goal on the command line and in a conversation: what is shown, and the exit code."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from prompt_terminal import CTRL_D, PromptTerminal

from amplifier_app.display import Display
from amplifier_app.display.screen import Screen

GOAL = "each function has a test"
NO, YES = "No: parse has no test.", '{"reached": true, "reason": "all have tests"}'
UNREACHED = (
    "error: the goal was not reached: no verdict on the goal: the answer of the judge has no"
)


@pytest.fixture
def says(keyed: Any, model: Any) -> Any:
    """The command with a model that answers in turn, as worker and as judge."""

    def script(*answers: str) -> Any:
        for answer in answers:
            model.reply(*model.said({"type": "text", "text": answer}))
        return keyed

    return script


def test_a_pipe_gets_the_last_answer_and_standard_error_the_progress(says: Any) -> None:
    done = says("One.", NO, "Two.", YES, "Both are done.")("--goal", GOAL, "Write tests")

    assert (done.returncode, done.stdout) == (0, "Two.\n")
    assert done.stderr == (
        "goal, round 1 of 10: not reached yet: parse has no test\n"
        "goal reached in 2 rounds: all have tests\n"
        "summary: Both are done.\n"
    )


def test_a_goal_that_is_given_up_is_a_failure_with_an_answer(says: Any) -> None:
    done = says("One.", "Hm.", "Two.", "Hm.")("--goal", GOAL, "Write tests")

    assert (done.returncode, done.stdout) == (1, "Two.\n")
    assert UNREACHED in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_prompt_the_goal_is_the_prompt(says: Any, model: Any) -> None:
    assert says("One.", YES)("--goal", GOAL).returncode == 0
    [message] = model.requests[0]["messages"]
    assert GOAL in json.dumps(message)


def test_json_says_what_became_of_the_goal(says: Any, outcome_of: Any) -> None:
    done = says("One.", YES)("--json", "--goal", GOAL, "Write tests")

    assert outcome_of(done.stdout)["goal"] == {
        "goal": GOAL, "verdict": "reached", "reason": "all have tests", "rounds": 1,
        "summary": None,
    }  # fmt: skip


def test_json_says_nothing_of_a_goal_without_one(says: Any, outcome_of: Any) -> None:
    assert "goal" not in outcome_of(says("One.")("--json", "Write tests").stdout)


def test_a_goal_that_was_reached_is_pursued_again_where_it_is_given_again(says: Any) -> None:
    command = says("One.", YES, "Two.", "Three.", YES)
    assert command("--goal", GOAL, "Write tests").stderr.startswith("goal reached in 1 round")
    assert command("--continue", "Thanks").stderr == ""
    again = command("--continue", "--goal", GOAL, "Once more")
    assert (again.stdout, again.stderr) == ("Three.\n", "goal reached in 1 round: all have tests\n")


def test_an_empty_goal_is_wrong_usage(says: Any) -> None:
    done = says()("--goal", " ", "Write tests")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `--goal` is empty; see `amplifier-core run --help`\n"


def test_a_conversation_pursues_a_goal_and_draws_its_progress(says: Any) -> None:
    terminal = PromptTerminal(
        says("One.", NO, "Two.", YES, "Both are done.", "Hello."), columns=120
    )
    terminal.say("/goal")
    terminal.see("there is no goal; `/goal TEXT` sets one\n>")
    terminal.say(f"/goal {GOAL}")
    terminal.see("goal, round 1 of 10: not reached yet: parse has no test\n")
    terminal.see("goal reached in 2 rounds: all have tests\nsummary: Both are done.\n")
    terminal.see("5 model calls\n>")
    terminal.say("/goal")
    terminal.see("there is no goal; `/goal TEXT` sets one\n>", times=2)
    terminal.say("Hi")
    terminal.see("Hello.\n")
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert YES not in terminal.screen  # the judge is not shown


def test_a_goal_stays_until_it_is_withdrawn(says: Any, model: Any) -> None:
    terminal = PromptTerminal(says("One.", "Hm.", "Two.", "Hm.", "Three."), columns=120)
    terminal.say(f"/goal {GOAL}")
    terminal.see(UNREACHED)
    terminal.say("/goal")
    terminal.see(f"the goal is: {GOAL}\n>")
    terminal.say("/model claude-opus-4-8")
    terminal.see("answers from now on\n>")
    terminal.say("/goal")
    terminal.see(f"the goal is: {GOAL}\n>", times=2)
    terminal.say("/goal off")
    terminal.see("the goal is withdrawn\n>")
    terminal.say("Hi")
    terminal.see("Three.\n")
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert len(model.requests) == 5


def drawn(*events: tuple[str, dict[str, Any]]) -> str:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    file = Terminal()
    screen = Screen(file, width=100)
    display = Display(screen, clock=lambda: 0.0)
    for each in events:
        display.handle(*each)
    screen.tick()
    return file.getvalue()


@pytest.mark.parametrize(
    ("purpose", "text"),
    [("goal_judge", "judging the goal"), ("goal_summary", "summing up"), ("x", "waiting for")],
)
def test_the_waiting_line_says_what_a_call_beside_the_conversation_is_for(
    purpose: str, text: str
) -> None:
    assert text in drawn(("provider:request", {"purpose": purpose}))


@pytest.mark.parametrize(
    "data",
    [{}, {"state": 3}, {"state": "continuing"}, {"state": "reached"}, {"goal_final": 3},
     {"goal_final": {"summary": ["x"]}}],
)  # fmt: skip
def test_a_payload_of_another_form_is_drawn_without_an_error(data: dict[str, Any]) -> None:
    for event in ("orchestrator:goal_progress", "orchestrator:complete"):
        assert "Traceback" not in drawn((event, data))
