"""The mistakes of the guide with files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mistakes import mistake, model

from amplifier_agent import Agent, hook

READ = {"tool": "read_file", "arguments": {"path": "notes.txt"}}


def told_last(*calls: dict[str, Any], meanwhile: str | None = None) -> str:
    """What the model is told of the last of its calls in a folder with notes.

    Args:
        *calls: The calls.
        meanwhile: What somebody else writes to the notes after each call.
    """
    with TemporaryDirectory() as folder:
        notes = Path(folder, "notes.txt")
        notes.write_text("one\nTODO one\n")

        @hook("tool:post")
        def meddle(_event: str, _data: dict[str, Any]) -> None:
            if meanwhile is not None:
                notes.write_text(meanwhile)

        scripted = model(*calls, "Done.")
        tools = ["tool-filesystem"]
        Agent(scripted, tools=tools, directory=folder, hooks=[meddle]).run_sync("go")
        return str(scripted.requests[-1].messages[-1].content)


def edit(old: str, path: str = "notes.txt") -> dict[str, Any]:
    edits = [{"old": old, "new": "x"}]
    return {"tool": "edit_file", "arguments": {"path": path, "edits": edits}}


@mistake("files-and-commands", "a change of a file that was not read")
def _() -> str:
    return told_last({"tool": "write_file", "arguments": {"path": "notes.txt", "content": "x"}})


@mistake("files-and-commands", "a change of a file that has changed meanwhile")
def _() -> str:
    return told_last(READ, edit("one"), meanwhile="two\n")


@mistake("files-and-commands", "an edit of a text that is not there")
def _() -> str:
    return told_last(READ, edit("TODO: one"))


@mistake("files-and-commands", "an edit of a text that is there more than once")
def _() -> str:
    return told_last(READ, edit("one"))


@mistake("files-and-commands", "an edit of a file that does not exist")
def _() -> str:
    return told_last(edit("one", "none.txt"))


def patch(line: str) -> dict[str, Any]:
    text = f"--- a/notes.txt\n+++ b/notes.txt\n@@ -7 +7 @@\n-{line}\n+x\n"
    return {"tool": "apply_patch", "arguments": {"patch": text}}


@mistake("files-and-commands", "a hunk that fits nowhere")
def _() -> str:
    return told_last(READ, patch("TODO: one"))


@mistake("files-and-commands", "a hunk that fits at several places")
def _() -> str:
    call = {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "one\none\n"}}
    return told_last(READ, call, patch("one"))


@mistake("files-and-commands", "a protected file where nobody can be asked")
def _() -> str:
    return told_last({"tool": "write_file", "arguments": {"path": ".env", "content": "KEY=1"}})
