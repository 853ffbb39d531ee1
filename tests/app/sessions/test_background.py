"""Sessions that another process runs: started in the background, asked, answered, stopped, followed."""

from __future__ import annotations

import json
import time
from typing import Any

from amplifier_app.commands.session.answer import read_answer

_PATIENCE = 30.0


def run(command: Any, *arguments: str) -> str:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def wait_for(command: Any, id: str, state: str | None) -> None:
    """Wait until a session is in a state."""
    end, found = time.monotonic() + _PATIENCE, ""
    while time.monotonic() < end:
        (info,) = json.loads(run(command, "session", "list", "--json"))
        found = info["id"], info["state"]
        if found == (id, state):
            return
    raise AssertionError(f"the session is {found}")


def begin(command: Any, *arguments: str) -> str:
    done = command("--bg", *arguments)
    id = done.stdout.strip()
    notice = f"`amplifier-core session follow {id[:8]}` shows what it does\n"
    assert (done.returncode, done.stderr) == (0, notice)
    return id


# Holds: command-16
def test_a_question_of_a_session_in_the_background_is_answered_from_elsewhere(
    keyed: Any, model: Any, say: Any
) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "write_file"}
    model.reply(*model.said({**call, "input": {"path": "a.txt", "content": "a"}}, stop="tool_use"))
    say("Not written.", "You are welcome.")
    id = begin(keyed, "--mode", "ask", "Write a.txt")
    wait_for(keyed, id, "asks")
    queued = run(keyed, "queue", id, "Thanks")
    assert queued.startswith(f"queued for `{id[:8]}` (Write a.txt), open in process ")
    answered = run(keyed, "session", "answer", id, "rather b.txt")
    assert answered == f"denied: `{id[:8]}` (Write a.txt)\n"
    lines = run(keyed, "session", "follow", id, "--json").splitlines()
    assert json.loads(lines[0])["event"] == "execution:start"
    wait_for(keyed, id, None)
    shown = run(keyed, "session", "show", id)
    assert "rather b.txt" in shown
    assert shown.rstrip().endswith("You are welcome.")
    assert not (keyed.folder / "a.txt").exists()
    refused = keyed("session", "stop", id)
    assert (refused.returncode, refused.stderr) == (
        1,
        f"error: no process has `{id[:8]}` (Write a.txt) open; there is nothing to stop\n",
    )


# Holds: command-17
def test_stop_ends_the_turn_of_another_process(keyed: Any, model: Any, hold: Any) -> None:
    answer = model.reply(hold)
    id = begin(keyed, "Think")
    assert answer.arrived.wait(_PATIENCE)
    wait_for(keyed, id, "running")
    refused = keyed("--resume", id, "And now?")
    assert refused.returncode == 1
    assert "open; `amplifier-core queue" in refused.stderr
    assert run(keyed, "session", "stop", id).startswith("the ")
    wait_for(keyed, id, None)


def test_words_deny_and_are_the_reason() -> None:
    given = ("yes", "Y", "no", "nonsense", "rather b.txt")
    assert [read_answer(each) for each in given] == [True, True, False, False, "rather b.txt"]
