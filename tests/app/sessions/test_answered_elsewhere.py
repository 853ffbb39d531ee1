"""A question that is open in a terminal, and the answer that another process gives to it."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from prompt_terminal import CTRL_D, PromptTerminal


# Holds: command-150
def test_a_question_in_a_terminal_takes_the_answer_of_another_process(
    keyed: Any, model: Any, say: Any, hold: threading.Event
) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "write_file"}
    asked = {**call, "input": {"path": "a.txt", "content": "a"}}
    model.reply(hold, *model.said(asked, stop="tool_use"))
    say("All is written.")
    keyed.environment["TERM"] = "xterm-256color"
    terminal = PromptTerminal(keyed, "--mode", "ask")
    terminal.say("Write a.txt")
    terminal.see("waiting for the model")
    terminal.type(b"and then")
    terminal.see("> and then")
    hold.set()
    terminal.see("approval needed")
    terminal.see_match(r"^[a-z]{4}> ?$")
    terminal.type(b"rather")
    terminal.see_match(r"^[a-z]{4}> rather$")

    (info,) = json.loads(keyed("session", "list", "--json").stdout)
    assert info["state"] == "asks"
    done = keyed("session", "answer", info["id"], "yes")
    assert (done.stdout, done.stderr, done.returncode) == (
        f"agreed: `{info['id'][:8]}` (Write a.txt)\n", "", 0,
    )  # fmt: skip
    terminal.see_match(r"^allowed by process \d+: run `write_file`\?")
    terminal.see("All is written.")
    terminal.see_match(r"> and then\n +rather$")
    shown = terminal.screen
    assert "approval needed" not in shown
    assert not re.search(r"^[a-z]{4}[|>]", shown, re.MULTILINE)
    assert (keyed.folder / "a.txt").read_text() == "a"

    again = keyed("session", "answer", info["id"], "no")
    assert again.returncode == 1
    assert re.fullmatch(
        r"error: no question of `[0-9a-f]{8}` \(Write a\.txt\) waits for an answer: the last one was"
        r" allowed by process \d+: run `write_file`\?.*\n",
        again.stderr,
    )
    terminal.type(b"\x03" + CTRL_D)
    assert terminal.wait() == 0
