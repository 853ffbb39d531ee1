"""What is said of prompts that other processes have queued, where they wait and where they run."""

from __future__ import annotations

import json
from typing import Any

from prompt_terminal import CTRL_D, PromptTerminal


# Holds: command-151
def test_who_leaves_or_runs_a_queued_prompt_says_so(keyed: Any, model: Any, say: Any) -> None:
    say("One.", "Two.", "You are welcome.", "Done.")
    assert keyed("Say one").returncode == 0
    (info,) = json.loads(keyed("session", "list", "--json").stdout)
    short = info["id"][:8]
    for prompt in ("Thanks\nfor \x1b[2Jthat", "Go on"):
        assert keyed("queue", short, prompt).returncode == 0
    left = keyed("--continue", "Say two")
    command = f"amplifier-core --resume {short}"
    assert (left.stdout, left.stderr, left.returncode) == (
        "Two.\n",
        f"2 prompts wait in the queue: `{command} --bg` runs them, and so does `{command}` in a terminal\n",
        0,
    )
    keyed.environment["TERM"] = "xterm-256color"
    terminal = PromptTerminal(keyed, "--continue", columns=100)
    terminal.see(r"runs a queued prompt: Thanks for \x1b[2Jthat (2 lines)")
    terminal.see("runs a queued prompt: Go on")
    terminal.see("Done.")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
