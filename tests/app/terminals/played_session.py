"""A session of the command from the first key to the last, and what it leaves on the screen and the disk."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from scripted_model import script
from terminal_modes import Mode

Step: TypeAlias = "tuple[str, str | Callable[[Stage], None]]"
"""Words that must be on the screen, and what is typed or done then."""

CTRL_C, CTRL_D, CTRL_R, ESC, UP = "\x03", "\x04", "\x12", "\x1b", "\x1b[A"
FIRST = "commands. >"
"""What is on the screen when the first line can be typed."""
END = "1 model call >"
"""What is on the screen when a turn without tools is over."""
FIGURES = f"40 tokens in (75% cached) 20 out {END}"

_MODE = re.compile(r"^[a-z-]+ >", re.MULTILINE)
_WAITS = re.compile(r"^(starting|waiting for the model|(still )?running .*)\n", re.MULTILINE)
_OTHER_EACH_TIME = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-([0-9a-f]\n? *){12}"), "UUID "),
    (re.compile(r"`[0-9a-f]{8}`"), "`ID`"),
    (re.compile(r"(resume|undo|conversation-)(\s?)[0-9a-f]{8}\b"), r"\1\2ID"),
    (re.compile(r"seconds=\d+\.\d+"), "seconds=1.0"),
    (re.compile(r"since \d\d:\d\d"), "since 00:00"),
    (re.compile(r"event-\d+"), "event-N"),
    (re.compile(r"^[bcdfghjklmnpqrstvwxz]{4}(?=[|>:])", re.MULTILINE), "bcdf"),
    (re.compile(r"\\\nbcdf: "), ""),
)
_UNTOLD = ("session:origin", "llm:request", "llm:post", "tool:result", "task:start")


@dataclass(frozen=True)
class Session:
    """What is typed and said, and what must then be on the screen and on the disk."""

    name: str
    model: tuple[Any, ...] = ()
    """What the model says; see `scripted_model`."""
    steps: tuple[Step, ...] = ()
    plain_steps: tuple[Step, ...] | None = None
    """Those of a terminal that can only print, if they are others."""
    is_drawn: bool = False
    """Whether it needs a terminal that can do more than print."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of the folder before."""
    arguments: tuple[str, ...] = ()
    screen: str = ""
    """At 80 columns."""
    plain_screen: str | None = None
    """Where a terminal can only print, if more than the signs is other."""
    has_short_words: bool = True
    """Whether its words are short enough for each width."""
    left: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """What is other in the folder afterwards; None for what is gone."""
    stored: str = ""
    """What is in the store, line by line."""
    code: int = 0
    """The exit code."""


class Stage:
    """Plays a session in one kind of terminal.

    Args:
        command: What runs, in a folder that has a short name.
        model: The scripted model.
        mode: The kind of terminal.
        open_window: Starts a command in a terminal.
    """

    def __init__(self, command: Any, model: Any, mode: Mode, open_window: Any) -> None:
        self.mode = mode
        self.hold = threading.Event()
        self.window: Any = None
        self.written = ""
        """What was written to the terminals before this one."""
        self._command, self._model = command, model
        self._open_window = open_window
        command.environment |= mode.environment

    def start(self, *arguments: str) -> None:
        """Start the command in a terminal."""
        if self.window is not None:
            self.written += self.window.written
        self.window = self._open_window(
            self._command, *self.mode.arguments, *arguments, columns=self.mode.columns
        )

    def play(self, session: Session) -> None:
        """Play a session to its end."""
        for path, text in session.files.items():
            (self._command.folder / path).parent.mkdir(exist_ok=True, parents=True)
            (self._command.folder / path).write_text(text, encoding="latin-1")
        script(self._model, session.model, self.hold)
        steps = session.steps
        if self.mode.is_plain and session.plain_steps is not None:
            steps = session.plain_steps
        self.start(*session.arguments)
        for seen, done in steps:
            self.see(seen)
            if callable(done):
                done(self)
            else:
                self.window.type(done.encode())
        code = self.window.wait()
        assert code == session.code, "\n".join(self.window.rows)

    def close(self) -> None:
        """End what still runs."""
        self.hold.set()
        if self.window is not None:
            self.window.close()

    def see(self, words: str) -> None:
        """Wait until words are on the screen, whatever rows they are in."""
        while words not in self._words:
            assert self.window.see_next(), f"{words!r} never came:\n" + "\n".join(self.window.rows)

    @property
    def _words(self) -> str:
        """What is on the screen in one row, without the mode before the prompt."""
        text = _MODE.sub(">", self.read_screen())
        return " ".join(word for word in text.split() if word not in "·-")

    def read_screen(self) -> str:
        """The screen without what is another each time, and without what is waited for."""
        text = "\n".join(self.window.rows) + "\n"
        for name, path in self._list_places():
            text = text.replace(str(path), name)
        for pattern, replacement in _OTHER_EACH_TIME:
            text = pattern.sub(replacement, text)
        for name, path in self._list_places():  # what was over two rows
            text = text.replace(str(path), name)
        if self.mode.is_plain:
            text = re.sub(r"\n\n\n+", "\n\n", _WAITS.sub("", text)).lstrip("\n")
        return text

    def _list_places(self) -> list[tuple[str, Path]]:
        config = Path(self._command.environment["XDG_CONFIG_HOME"])
        return [("FOLDER", self._command.folder), ("CONFIG", config)]

    def list_files(self) -> dict[str, str]:
        """The files of the folder and what is in them."""
        folder = self._command.folder
        found = {
            re.sub(r"-[0-9a-f]{8}\b", "-ID", str(each.relative_to(folder))): each
            for each in sorted(folder.rglob("*"))
            if each.is_file()
        }
        return {name: each.read_text(encoding="latin-1") for name, each in found.items()}

    def list_stored(self) -> str:
        """What the sessions hold, line by line."""
        folder = Path(self._command.environment["XDG_STATE_HOME"]) / "amplifier-core" / "sessions"
        found = sorted(map(_list_events, folder.glob("*.sessions")), key=len, reverse=True)
        return "---\n".join("".join(f"{each}\n" for each in events) for events in found)


def _list_events(file: Path) -> list[str]:
    with sqlite3.connect(file) as store:
        rows = store.execute("select kind, body from event order by place").fetchall()
    store.close()
    return [line for kind, body in rows for line in _describe_event(kind, json.loads(body))]


def _describe_event(kind: str, data: dict[str, Any]) -> Iterator[str]:
    if kind == "execution:start":
        yield f"> {data['prompt']}"
    elif kind == "tool:start":
        yield f"call {data['tool_name']}"
    elif kind == "orchestrator:complete":
        yield f"end: {data['status']}"
    elif kind == "approval:required":
        yield f"asks about {data['tool_name']}"
    elif kind in ("approval:granted", "approval:denied"):
        yield " ".join(filter(None, (kind, data["grant"], data["reason"])))
    elif kind == "state:approval":
        yield f"mode {data['mode']}{', with grants' * bool(data['grants'])}"
    elif kind == "session:meta":
        yield f"named {data.get('name')}"
    elif kind == "context:message":
        content = data["message"]["content"]
        texts = (
            [content]
            if isinstance(content, str)
            else [each.get("text", each["type"]) for each in content]
        )
        if data["source"] not in ("user", "tool"):
            yield f"{data['source']}: {' | '.join(texts)[:60]!r}"
    elif kind not in _UNTOLD and not kind.startswith("state:"):
        yield kind


def let_go(stage: Stage) -> None:
    """Let the model go on."""
    stage.hold.set()


def widen(stage: Stage) -> None:
    """Give the terminal another width."""
    stage.window.resize(stage.mode.columns + 20)


def kill(stage: Stage) -> None:
    """Kill the command."""
    os.kill(stage.window.pid, signal.SIGKILL)


def restart(*arguments: str) -> Callable[[Stage], None]:
    """Start the command again once it has ended."""

    def start(stage: Stage) -> None:
        assert stage.window.wait() in (0, -signal.SIGKILL)
        stage.start(*arguments)

    return start
