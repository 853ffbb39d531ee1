"""Puts text into the clipboard: by the terminal, or by a program of the system."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_TAKES = ("kitty", "wezterm", "ghostty", "alacritty", "foot", "iterm", "tmux", "screen", "vscode")
"""Parts of the names of terminals that take the sequence OSC 52."""
_MAX_SEQUENCE_BYTES = 74_000
"""Terminals ignore longer ones."""
_SECONDS = 5


def copy_text(text: str, environment: Mapping[str, str]) -> str | None:
    """Copy a text, and return what took it; None where nothing can.

    Args:
        text: The text.
        environment: The environment variables.
    """
    names = f"{environment.get('TERM', '')} {environment.get('TERM_PROGRAM', '')}".lower()
    is_known = "SSH_CONNECTION" in environment or any(each in names for each in _TAKES)
    if is_known and _write_sequence(text):
        return "the terminal"
    for command in list_programs(environment):
        if shutil.which(command[0]) and _run(command, text):
            return f"`{command[0]}`"
    return "the terminal, if it allows that" if _write_sequence(text) else None


def list_programs(environment: Mapping[str, str]) -> list[list[str]]:
    """Return the programs that may have the clipboard, with their arguments."""
    if sys.platform == "darwin":
        return [["pbcopy"]]
    programs = [["wl-copy"]] if environment.get("WAYLAND_DISPLAY") else []
    if environment.get("DISPLAY"):
        programs.append(["xclip", "-selection", "clipboard"])
    return [*programs, ["clip.exe"]]


def write_sequence(text: str) -> str | None:
    """Return what has a terminal copy a text; None where it is too long."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return f"\x1b]52;c;{encoded}\x07" if len(encoded) <= _MAX_SEQUENCE_BYTES else None


def _write_sequence(text: str) -> bool:
    from amplifier_app.sessions.picker import find_drawable

    terminal, sequence = find_drawable(), write_sequence(text)
    if terminal is None or sequence is None:
        return False
    terminal.write(sequence)
    terminal.flush()
    return True


def _run(command: list[str], text: str) -> bool:
    allowed = (
        "PATH",
        "HOME",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
        "XAUTHORITY",
        "LANG",
    )
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            env={name: os.environ[name] for name in allowed if name in os.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
