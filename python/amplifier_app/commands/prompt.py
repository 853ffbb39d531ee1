"""The prompt of a turn, from the command line and from standard input."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

TYPED_CHARS = 50_000
"""A longer text on standard input is passed as a block, and is not held to `MESSAGE_MAX_CHARS`."""

_MAX_BYTES = 32 * 1024**2
"""More than any model can take."""


@dataclass(frozen=True)
class Prompt:
    """What the user says."""

    text: str
    block_chars: int = 0
    """How many characters of it are a block from standard input."""
    typed: str = ""
    """What of it was given on the command line: only that attaches files."""


def given_prompt(prompt: str | None) -> Prompt:
    """The prompt, with what is piped into the command.

    Raises:
        Failure: It is missing, empty or unreadable.
    """
    typed = "" if prompt in (None, "-") else os.fsencode(prompt).decode("utf-8", "replace")
    if prompt == "-":
        if not (text := _read_input()).strip():
            hint = "pipe the prompt into it"
            raise Failure("standard input is empty", hint=hint, exit_code=WRONG_USAGE)
        return _from_input(text)
    piped = _read_input() if is_piped() else ""
    if not typed.strip() and not piped.strip():
        hint = "put it in quotes, or pass `-` to read it from standard input"
        raise Failure("no prompt given", hint=hint, exit_code=WRONG_USAGE)
    if not typed.strip():
        return _from_input(piped)
    if not piped.strip():
        return Prompt(typed, typed=typed)
    block = _block(piped)
    return Prompt(f"{typed}\n\n{block}", len(block), typed)


def _from_input(text: str) -> Prompt:
    """A prompt that is piped: a text that nobody would type is a block."""
    if len(text) <= TYPED_CHARS:
        return Prompt(text)
    block = _block(text)
    return Prompt(block, len(block))


def is_piped() -> bool:
    """Whether standard input is a pipe, a file or a socket: something that ends."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def is_typed() -> bool:
    """Whether a person types here and sees what is written: both ends are a terminal."""
    if os.name != "posix":
        return False
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # closed at start
        return False


def _read_input() -> str:
    try:
        found = sys.stdin.buffer.read(_MAX_BYTES + 1)
    except (OSError, AttributeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is closed"
        message = f"standard input cannot be read: {reason}"
        raise Failure(message, hint="pass the prompt as an argument") from None
    if len(found) > _MAX_BYTES:
        message = f"standard input is longer than {_MAX_BYTES:,} bytes"
        raise Failure(message, hint="no model can read that much", exit_code=WRONG_USAGE)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"standard input is not UTF-8 text (byte {error.start})"
        raise Failure(message, hint="convert it first") from None


def _block(text: str) -> str:
    """Text from standard input with its size, so that a model knows where it ends."""
    tag = "standard-input"
    while f"</{tag}>" in text:
        tag += "-"  # the text must not end its own block
    size = f'characters="{len(text)}" lines="{len(text.splitlines())}"'
    end = "" if text.endswith("\n") else "\n"
    return f"<{tag} {size}>\n{text}{end}</{tag}>"
