"""Runs commands in a sandbox, and reads all that they write."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, Layer, Tier
from amplifier_modules.sandbox.sandbox import Sandbox

PATH = os.environ["PATH"]


@dataclass
class Ran:
    """What a command wrote, and how it ended."""

    output: str
    ending: Ending


@dataclass
class World:
    """A project and what is around it."""

    tier: Tier
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.project = self.folder / "project"
        self.outside = self.folder / "outside"
        self.temporary = self.folder / "temporary"
        for each in (self.project, self.outside, self.temporary):
            each.mkdir()

    def open(self, **settings: Any) -> Sandbox:
        return Sandbox(
            str(self.project), str(self.temporary), self.tier, **self.settings, **settings
        )

    def run(self, text: str, **settings: Any) -> Ran:
        with closing(self.open(**settings)) as sandbox:
            return run(sandbox, text, str(self.project))


def run(
    runner: CommandRunner,
    text: str,
    directory: str,
    timeout: float | None = 60,
    layer: Layer | None = None,
    **environment: str,
) -> Ran:
    """Run a command to its end."""
    read, write = os.pipe()
    try:
        command = Command(text, directory, {"PATH": PATH, **environment}, timeout, layer)
        running = runner.start(command, write)
    finally:
        os.close(write)
    pieces: list[bytes] = []
    reader = Thread(target=lambda: pieces.extend(iter(lambda: os.read(read, 65_536), b"")))
    reader.start()
    try:
        ending = running.wait()
    finally:
        reader.join()
        os.close(read)
    return Ran(b"".join(pieces).decode(), ending)
