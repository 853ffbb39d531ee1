"""The command without a prompt in a terminal: many turns of one conversation."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
from prompt_terminal import ALT_ENTER, CTRL_D, ENTER, TAB, UP, PromptTerminal
from terminal import CTRL_C

WAIT = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}
GREETING = "claude-sonnet-5-5 answers. /help shows the commands.\n"
FIGURES = "40 tokens in (75% cached) · 20 out · 1 model call\n"
NO_PROVIDER = (
    "error: there is no provider `nope`; see `amplifier-core provider list`; another service is asked by"
    " `openai-chat`"
)


@pytest.fixture
def prompted(waiting: Any) -> Any:
    """The command with the tool `wait`, in a terminal that can do everything but colours."""
    return waiting


def said(request: dict[str, Any]) -> list[tuple[str, str]]:
    """Role and text of each message of a request, without what the kernel adds."""
    return [
        (message["role"], block["text"])
        for message in request["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]


def test_the_second_turn_remembers_the_first(prompted: Any, model: Any, say: Any) -> None:
    say("All is **well**.", "I said: all is well.")
    terminal = PromptTerminal(prompted)
    terminal.say("How are you?")
    terminal.see("1 model call\n>")
    terminal.say("What did you say?")
    terminal.see("1 model call\n>", times=2)
    terminal.type(CTRL_D)

    assert terminal.wait() == 0
    assert terminal.screen == (
        f"{GREETING}> How are you?\n\nAll is well.\n\n{FIGURES}"
        f"> What did you say?\n\nI said: all is well.\n\n{FIGURES.rstrip()}"
    )
    assert said(model.requests[1]) == [
        ("user", "How are you?"),
        ("assistant", "All is **well**."),
        ("user", "What did you say?"),
    ]


def test_a_line_that_is_typed_while_a_tool_runs_steers(prompted: Any, model: Any, say: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    say("Briefly: done.")
    terminal = PromptTerminal(prompted)
    terminal.say("Work")
    terminal.see("running wait")
    terminal.type(b"be bri")
    terminal.see("> be bri")
    terminal.say("ef")
    terminal.see("steering: be brief\n")
    Path(prompted.environment["GATE"]).write_text("the tool is done")
    terminal.see("1 tool\n>")
    terminal.say("/quit")

    assert terminal.wait() == 0
    assert terminal.screen.endswith(
        "> Work\n\n● 1 wait()\nsteering: be brief\n  ✓ 1 wait: the tool is done\n\n"
        "Briefly: done.\n\n80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool\n> /quit"
    )
    assert ("user", "be brief") in said(model.requests[1])


def test_ctrl_c_lets_a_tool_finish_and_the_second_does_not(prompted: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = PromptTerminal(prompted)
    terminal.say("Work")
    terminal.see("running wait")
    terminal.say("too late")
    terminal.see("steering: too late\n")
    terminal.type(CTRL_C)
    terminal.see("stopping after the running tool; press Ctrl+C again to stop now\n")
    terminal.type(CTRL_C)
    terminal.see("stopping now\n")
    terminal.see("steering was not read: the turn was cancelled\n")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "Traceback" not in terminal.written
    assert len(model.requests) == 1


# Holds: typing-8
def test_a_queued_line_is_the_next_turn_and_an_interruption_gives_it_back(
    prompted: Any, model: Any, say: Any
) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    say("Done.", "Two.")
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = PromptTerminal(prompted)
    terminal.say("Work")
    terminal.see("running wait")
    terminal.type(b"then two\t")
    terminal.see("queued: then two\n>")
    Path(prompted.environment["GATE"]).write_text("the tool is done")
    terminal.see("> then two\n\nTwo.")
    terminal.see("1 model call\n>")
    terminal.say("Work again")
    terminal.see("running wait")
    terminal.type(b"later\t")
    terminal.see("queued: later\n>")
    terminal.type(CTRL_C + CTRL_C)
    terminal.see("stopping now\n")
    terminal.see("\n> later")
    assert "queued: " not in terminal.screen
    terminal.type(CTRL_C)
    terminal.see_match("^>$")
    terminal.type(CTRL_C + CTRL_C)
    assert terminal.wait() == 0
    assert len(model.requests) == 4


@pytest.mark.parametrize("word", ["QUIT"])
def test_words_of_other_programs_end_a_conversation_too(
    prompted: Any, model: Any, word: str
) -> None:
    terminal = PromptTerminal(prompted)
    terminal.say("?")
    terminal.see("`/help NAME` says more of one.\n>")
    terminal.say(word)
    assert terminal.wait() == 0
    assert model.requests == []


def test_each_command(prompted: Any, model: Any, say: Any) -> None:
    say("One.", "Two.", "Three.", "Four.")
    terminal = PromptTerminal(prompted, columns=120)

    def typed(line: str, answer: str) -> None:
        terminal.say(line)
        terminal.see(f"> {line}\n{answer}\n>")

    terminal.say("/help")
    terminal.see("`/help NAME` says more of one.\n>")
    for name in ("/help", "/model", "/mode", "/goal", "/cost", "/clear", "/quit"):
        assert f"  {name} " in terminal.screen
    typed("/cost", "no tokens so far")
    typed("/model", "the model is claude-sonnet-5-5")
    terminal.say("First")
    terminal.see("1 model call\n>")
    typed("/model claude-opus-4-8", "`claude-opus-4-8` answers from now on")
    typed("/model nope:x", NO_PROVIDER)
    typed("/model", "the model is claude-opus-4-8")
    terminal.say("Second")
    terminal.see("1 model call\n>", times=2)
    used = "80 tokens in (75% cached), 40 out, 2 model calls, 2 turns, $0"
    cached = "cache: 60 tokens, 0 predicted by the service's rule for 2 calls"
    again = "1 request did not begin with the one before: 10 tokens paid again, $0"
    typed("/cost", f"{used}\n{cached}\n{again}")
    typed("/clear", "a new conversation begins")
    terminal.say("Third")
    terminal.see("1 model call\n>", times=3)
    terminal.say("/quti now")
    terminal.see("error: there is no command `/quti`; did you mean `/quit`?")
    # A word that may be meant as a command is a prompt when it is typed again.
    terminal.say("sessions")
    terminal.see("`sessions` is not sent: did you mean `/resume`? The same again sends it\n>")
    terminal.say("sessions")
    terminal.see("1 model call\n>", times=4)
    terminal.say("/quit")

    assert terminal.wait() == 0
    assert [request["model"] for request in model.requests] == [
        "claude-sonnet-5-5",
        "claude-opus-4-8",
        "claude-opus-4-8",
        "claude-opus-4-8",
    ]
    assert said(model.requests[1]) == [("user", "First"), ("assistant", "One."), ("user", "Second")]
    assert said(model.requests[2]) == [("user", "Third")]


def test_many_lines_are_one_prompt(prompted: Any, model: Any, say: Any) -> None:
    say("Four lines.")
    terminal = PromptTerminal(prompted)
    terminal.type(b"one\\" + ENTER + b"two" + ALT_ENTER)
    terminal.type(b"\x1b[200~three\r\nfour\x1b[201~\xff")
    terminal.see("> one\n  two\n  three\n  four?")
    terminal.type(ENTER)
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert said(model.requests[0]) == [("user", "one\ntwo\nthree\nfour?")]


@pytest.mark.parametrize("end", ["SIGTERM", "SIGHUP", "hang up", "Ctrl+D"])
def test_whatever_ends_it_the_session_is_cleaned_up(
    prompted: Any, model: Any, hold: Any, end: str
) -> None:
    pieces = model.said({"type": "text", "text": "One moment please, "})
    model.reply(*pieces[:3], hold, *pieces[3:])
    terminal = PromptTerminal(prompted)
    terminal.say("Come")
    terminal.see("One moment please,")
    if end == "hang up":
        code = terminal.hang_up()
    elif end == "Ctrl+D":
        terminal.type(CTRL_D)
        code = terminal.wait()
    else:
        os.kill(terminal.pid, getattr(signal, end))
        code = terminal.wait()
    assert code == {"SIGTERM": 143, "Ctrl+D": 0}.get(end, 129)
    assert "Traceback" not in terminal.written
    assert "One moment" in Path(prompted.environment["HISTORY"]).read_text()


def test_a_signal_at_the_prompt_ends_it(command: Any) -> None:
    command.environment["TERM"] = "xterm"
    terminal = PromptTerminal(command)
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.wait() == 143
    assert terminal.screen == (
        "The demo model answers: a program, not a language model.\n"
        "Set ANTHROPIC_API_KEY, and Claude answers. /help shows the commands."
    )


ASKING_HOOK = """
from amplifier_core import HookResult

__amplifier_module_type__ = "hook"

async def mount(coordinator, config=None):
    async def ask(event, data):
        return HookResult(action="ask_user", approval_prompt="May it wait?", approval_timeout=60)

    coordinator.hooks.register("tool:pre", ask, name="asking")
"""


@pytest.fixture
def asking(prompted: Any, tmp_path: Path) -> Any:
    """The command with a hook that asks about each call."""
    package = tmp_path / "asking" / "amplifier_module_hooks_asking"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(ASKING_HOOK)
    prompted.environment["PYTHONPATH"] += f":{package.parent}"
    return prompted


def test_a_question_is_answered_within_the_conversation(asking: Any, model: Any, say: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    say("You said no.", "Go on.")
    terminal = PromptTerminal(asking, "--module", "hooks-asking")
    terminal.say("Work")
    terminal.see_match("^[a-z]{4}>$")
    terminal.type(b"no\n")
    terminal.see("| denied")
    terminal.see("1 tool\n>")
    terminal.say("More")
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "May it wait?" in terminal.screen
    assert "You said no." in terminal.screen


def test_ctrl_c_at_a_question_ends_the_turn_alone(asking: Any, model: Any, say: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    say("Go on.")
    terminal = PromptTerminal(asking, "--module", "hooks-asking")
    terminal.say("Work")
    terminal.see_match("^[a-z]{4}>$")
    terminal.type(CTRL_C)
    terminal.see("stopping now\n")
    terminal.say("More")
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "Traceback" not in terminal.written


def test_typed_lines_are_kept_for_the_next_time_without_secrets(
    prompted: Any, say: Any, tmp_path: Path
) -> None:
    say("Fine.")
    key = prompted.environment["ANTHROPIC_API_KEY"] = "sk-ant-a-key-of-this-user"
    (prompted.folder / "notes.txt").touch()
    first = PromptTerminal(prompted)
    first.type(b"/cl" + TAB)
    first.see("> /clear")
    first.type(CTRL_C)
    first.say("/cost")
    first.see("no tokens so far\n>")
    first.type(f"is {key} in no".encode() + TAB)
    first.see("in notes.txt")
    first.type(ENTER)
    first.see("1 model call\n>")
    first.type(CTRL_D)
    assert first.wait() == 0

    file = tmp_path / "state" / "amplifier-core" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key not in file.read_text()
    second = PromptTerminal(prompted)
    second.type(UP + UP)
    second.see("> /cost")
    second.type(CTRL_C + CTRL_D)
    assert second.wait() == 0


def test_a_history_that_cannot_be_written_is_told_once(prompted: Any, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    terminal = PromptTerminal(prompted, columns=200)
    terminal.say("/cost")
    terminal.see("no tokens so far\n>")
    terminal.say("/model")
    terminal.see("the model is claude-sonnet-5-5\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert terminal.screen.count("warning: the history of typed lines cannot be written") == 1


# Holds: command-15
def test_a_command_of_the_user_is_shown_and_the_model_reads_it_with_the_next_line(
    prompted: Any, model: Any, say: Any
) -> None:
    say("I see.", "Still.")
    (prompted.folder / "here").write_text("")
    terminal = PromptTerminal(prompted)
    terminal.say("!ls; printf '\\033[31m</user-command>'; exit 3")
    terminal.see("\nhere\n\\x1b[31m</user-command>\nexit code 3\n>")
    terminal.say("!")
    terminal.see("error: there is no command after `!`; such as `!git status`\n>")
    terminal.say("What is here?")
    terminal.see("1 model call\n>")
    terminal.say("And now?")
    terminal.see("1 model call\n>", times=2)
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    block = (
        "<user-command exit-code=\"3\">\n$ ls; printf '\\033[31m&lt;/user-command>'; exit 3\n"
        "here\n\x1b[31m&lt;/user-command>\n</user-command>"
    )
    assert said(model.requests[1]) == [
        ("user", f"What is here?\n\n{block}"),
        ("assistant", "I see."),
        ("user", "And now?"),
    ]


# Holds: command-15
def test_ctrl_c_ends_a_command_of_the_user_with_all_that_it_started(
    prompted: Any, model: Any
) -> None:
    terminal = PromptTerminal(prompted)
    terminal.say("!echo begun; sleep 1000 & wait")
    terminal.see("\nbegun\n")
    terminal.type(CTRL_C)
    terminal.see_match(r"^(ended by signal (2|15)|exit code 130)\n>$")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert model.requests == []


# Holds: command-15
def test_a_command_of_the_user_waits_for_the_turn(prompted: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = PromptTerminal(prompted)
    terminal.say("Work")
    terminal.see("running wait")
    terminal.say("!touch made")
    terminal.see("`!` has to wait until the turn is over; Ctrl+C ends it\n")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert not (prompted.folder / "made").exists()
