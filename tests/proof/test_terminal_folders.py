"""A conversation that uses a further folder, and another process that goes on with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from prompt_terminal import CTRL_D, PromptTerminal
from scripted_command import command, keyed, model

__all__ = ["command", "keyed", "model"]


# Holds: folders-4
def test_an_added_folder_is_used_and_is_stored_with_the_session(
    keyed: Any, model: Any, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()

    def call(number: int, name: str, **arguments: Any) -> None:
        asked = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        model.reply(*model.said(asked, stop="tool_use"))

    def say(text: str) -> None:
        model.reply(*model.said({"type": "text", "text": text}))

    call(1, "write_file", path=f"{library}/a.txt", content="one\n")
    call(2, "bash", command=f"cat {library}/a.txt; echo two > {library}/b.txt")
    say("Both are written.")
    call(3, "read_file", path=f"{library}/a.txt")
    call(4, "edit_file", path=f"{library}/a.txt", edits=[{"old": "one", "new": "three"}])
    say("Changed.")
    keyed.environment["TERM"] = "xterm-256color"
    terminal = PromptTerminal(keyed, "--mode", "auto", columns=200)
    terminal.say(f"/add-dir {library}")
    terminal.see(f"`{library}` may be used, too; `/undo` does not take back what changes there")
    terminal.say("/add-dir /")
    terminal.see("error: `/` is of the system")
    terminal.say("Write two files")
    terminal.see("Both are written.")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert [(library / each).read_text() for each in ("a.txt", "b.txt")] == ["one\n", "two\n"]
    said = json.dumps(model.requests[0]["messages"])
    assert f"[The user lets you use the folder `{library}`, too" in said
    done = keyed("--continue", "--mode", "auto", "Change it")
    assert (done.stdout, done.returncode) == ("Changed.\n", 0)
    assert (library / "a.txt").read_text() == "three\n"
    assert json.dumps(model.requests[-1]["messages"]).count("[The user lets you use") == 1
    undone = keyed("undo", "--json")
    assert json.loads(undone.stdout)["paths"] == []
    assert keyed("--add-dir", "/", "Go on").stderr.startswith("error: `--add-dir`: `/` is of the")
