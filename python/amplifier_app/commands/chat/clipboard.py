"""Puts text into the clipboard: by the terminal, or by a program of the system."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_TAKES = ("kitty", "wezterm", "ghostty", "alacritty", "foot", "iterm", "vscode")
"""Parts of the names of terminals that take the sequence OSC 52."""
_MAX_SEQUENCE_BYTES = 74_000
"""Terminals ignore longer ones."""
_SECONDS = 5
_ENCODINGS = {"clip.exe": "utf-16-le"}
"""Of programs that read something else than UTF-8."""


def copy_text(text: str, environment: Mapping[str, str]) -> str | None:
    """Copy a text, and return what took it; None where nothing can.

    Args:
        text: The text.
        environment: The environment variables.
    """
    is_remote = "SSH_CONNECTION" in environment
    # What tells whether it worked comes first; tmux and the terminal reach the person's own computer.
    programs = [] if is_remote else list_programs(environment)
    if environment.get("TMUX"):
        programs.append(["tmux", "load-buffer", "-w", "-"])
    for command in programs:
        if shutil.which(command[0]) and _run(command, text):
            return f"`{command[0]}`"
    names = f"{environment.get('TERM', '')} {environment.get('TERM_PROGRAM', '')}".lower()
    if not _write_sequence(text):
        return None
    is_known = any(each in names for each in _TAKES)
    return f"the terminal{'' if is_known else ', if it allows that'}"


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
        "TMUX",
        "TMUX_TMPDIR",
    )
    try:
        done = subprocess.run(
            command,
            input=text.encode(_ENCODINGS.get(command[0], "utf-8"), "replace"),
            env={name: os.environ[name] for name in allowed if name in os.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
