"""A line of shell as its parts, each read as every shell reads it, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from amplifier_guard import ShellDenied, ShellPolicy, read_command
from amplifier_modules.tool.reading_commands import READING

_JOINERS = re.compile(r"&&|\|\||[;|&\n]")
_RESERVED = frozenset(
    [
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    ]
)
"""Words that begin something else than a command."""
SHELLS = frozenset(["ash", "bash", "busybox", "dash", "fish", "ksh", "sh", "zsh"])
"""Programs that run what they read."""
_RUNNERS = SHELLS | frozenset(
    [
        ".",
        "alias",
        "builtin",
        "chroot",
        "command",
        "doas",
        "env",
        "eval",
        "exec",
        "find",
        "flock",
        "ionice",
        "nice",
        "nohup",
        "parallel",
        "script",
        "setsid",
        "source",
        "ssh",
        "stdbuf",
        "strace",
        "su",
        "sudo",
        "time",
        "timeout",
        "trap",
        "unshare",
        "watch",
        "xargs",
    ]
)
"""Programs that run what their arguments say."""
_INTERPRETERS = re.compile(r"([gm]?awk|lua|node|perl|php|python|ruby)[\d.]*")
_WORD = re.compile(r"[\w.+-]+")


class CommandLine(NamedTuple):
    """What `bash` is to run."""

    text: str
    parts: tuple[tuple[str, ...], ...] | None
    """The words of each part; None for a line that is more than plain commands and joiners."""

    def names_program(self, program: str) -> bool:
        """Whether the name of a program stands anywhere in the line, quoted or not."""
        plain = re.sub(r"[\"'\\]", "", self.text)
        names = (PurePosixPath(each).name.lower() for each in _WORD.findall(plain))
        return program.lower() in names


def read_line(text: str) -> CommandLine:
    """Read a line of shell."""
    parts: list[tuple[str, ...]] = []
    try:
        written = list(_split(text))
        if len(written) > 1 and not written[-1].strip() and text.rstrip().endswith(";"):
            written.pop()
        for each in written:
            words = tuple(read_command(each))
            if words[0] in _RESERVED:
                return CommandLine(text, None)
            parts.append(words)
    except ShellDenied:
        return CommandLine(text, None)
    return CommandLine(text, tuple(parts))


def only_reads(text: str, directory: str) -> bool:
    """Whether a line is known to change nothing, run in a folder."""
    try:
        ShellPolicy(READING, root=directory).check_line(text)
    except (ShellDenied, OSError, ValueError):
        return False
    return True


def runs_others(words: Sequence[str]) -> bool:
    """Whether a command may run another one that its arguments name."""
    if program_of(words) == "git" and any("alias." in each.lower() for each in words):
        return True
    return runs_program(program_of(words))


def runs_program(name: str) -> bool:
    """Whether a program of this name may run another one that its arguments name."""
    return name in _RUNNERS or _INTERPRETERS.fullmatch(name) is not None


def program_of(words: Sequence[str]) -> str:
    """Return the name of the program that is run, without its folder."""
    return words[0].rpartition("/")[2]


def _split(text: str) -> Iterator[str]:
    """Yield what is between the joiners that no quote holds.

    A mistake here cannot grant anything: each piece must still be a whole plain command.
    """
    begin = place = 0
    quote = ""
    while place < len(text):
        letter = text[place]
        if letter == "\\" and quote != "'":
            place += 2
        elif quote:
            quote = "" if letter == quote else quote
            place += 1
        elif letter in "'\"":
            quote = letter
            place += 1
        elif found := _JOINERS.match(text, place):
            yield text[begin:place]
            begin = place = found.end()
        else:
            place += 1
    yield text[begin:]
