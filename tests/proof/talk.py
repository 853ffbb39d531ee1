"""A conversation in a terminal with a model that says what it is given to say."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

from prompt_terminal import CTRL_D, PromptTerminal

from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier

Step: TypeAlias = "str | tuple[str, dict[str, Any]]"
"""What the model says at the end of a turn, or the call that it makes."""
Begin: TypeAlias = "Callable[..., Talk]"

SECONDS = re.compile(
    r"(?<=\n    )\d+\.\d s, |\n    \d+\.\d s$|, \d+\.\d s\b| \(\d+\.\d s\)", re.MULTILINE
)
"""How long something took, which is shown from one second on: a busy machine needs more."""
PROMPT = "^(?:[a-z-]+ )?>$"
"""The prompt, with the mode that was chosen."""
MARK = re.compile(r"^[a-z]{4}(?=[|>:])", re.MULTILINE)


def bash(command: str, **more: Any) -> Step:
    return "bash", {"command": command, **more}


def write(path: str, content: str) -> Step:
    return "write_file", {"path": path, "content": content}


def list_results(model: Any) -> list[str]:
    """What the model has read of its calls."""
    messages = model.requests[-1]["messages"]
    blocks = [block for each in messages for block in each["content"] if isinstance(block, dict)]
    found = [each["content"] for each in blocks if each["type"] == "tool_result"]
    return [each if isinstance(each, str) else json.dumps(each) for each in found]


class Talk(PromptTerminal):
    """A conversation with a model that says what it is given to say."""

    def reply(self, word: str) -> None:
        """Answer the question, once it is on the screen."""
        self.see_match(r"^[a-z]{4}> ?$")
        self.type(word.encode() + b"\r")

    def reply_to(self, row: str, word: str) -> None:
        """Answer once a row of the question is on the screen."""
        self.see(row)
        self.reply(word)

    def see_next(self) -> None:
        """Wait until the screen changes."""
        assert self._read(), self.screen

    def close(self, last: str) -> str:
        """End it after these words; returns the screen below its first line, the same each time."""
        self.see_match(f"^{last}")
        self.see_match(PROMPT)
        self.type(CTRL_D)
        assert self.wait() == 0
        text = MARK.sub("bcdf", self.screen.partition("\n")[2])
        text = SECONDS.sub("", text)
        text = re.sub(r"`\S*/amplifier-\w+(?=/)", "`FOLDER", text)
        return f"{text.strip()}\n"


@pytest.fixture
def begin(keyed: Any, model: Any, tmp_path: Path) -> Begin:
    """Starts a conversation in a folder, with a model that takes these steps."""
    if find_tier().tier is not Tier.NAMESPACES:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there are no namespaces here")
    keyed.environment |= {"TERM": "xterm-256color", "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def start(*steps: Step, arguments: Sequence[str] = ()) -> Talk:
        for number, step in enumerate(steps):
            if isinstance(step, str):
                model.reply(*model.said({"type": "text", "text": step}))
            else:
                call = {"type": "tool_use", "id": f"t{number}", "name": step[0], "input": step[1]}
                model.reply(*model.said(call, stop="tool_use"))
        return Talk(keyed, *arguments)

    return start


@pytest.fixture
def folder(keyed: Any) -> Path:
    return keyed.folder


def list_files(folder: Path) -> dict[str, str]:
    """The files of a folder and what they hold."""
    return {each.name: each.read_text() for each in folder.iterdir() if each.is_file()}


def wait_for_file(talk: Talk, path: Path) -> None:
    """Wait until a tool has written a file; the display moves meanwhile."""
    while not path.exists():
        talk.see_next()


BEGUN = "touch $PIP_CACHE_DIR"
"""What a command runs that says that it has begun: what it writes into the project is seen at its end."""


def wait_for_command(talk: Talk, keyed: Any) -> None:
    """Wait until a command has run `BEGUN`; the display moves meanwhile."""
    caches = Path(keyed.environment["XDG_CACHE_HOME"])
    while not any(caches.glob("amplifier-core/projects/*/pip")):
        talk.see_next()
