"""Lines of shell whose programs cannot be told by reading them."""

from __future__ import annotations

import re

from .command_line import SHELLS, CommandLine, program_of, runs_program

_BORDERS = re.compile(r"[;&|\n()`]|(?<!\S)[{}](?!\S)")
_SKIPPED = re.compile(r"[A-Za-z_]\w*\+?=\S*|!|if|then|elif|else|do|while|until|time|coproc")
_REDIRECTED = re.compile(r"\d*(?:[<>]|<>|>>|<<<?-?|>&|<&)+(\S*)")
_EXPANDED = re.compile(r"[$*?\[\\~{]")


def hides_program(line: CommandLine) -> bool:
    """Whether a line may run a program that it does not name, such as `$X push` or `… | sh`."""
    if line.parts is not None:
        return any(
            program_of(words) in SHELLS and all(each.startswith("-") for each in words[1:])
            for words in line.parts
        )
    return any(map(_is_unknown, _BORDERS.split(line.text)))


def _is_unknown(piece: str) -> bool:
    """Whether the first word of a piece is known by what the shell makes of it alone."""
    words = piece.split()
    while words:
        redirected = _REDIRECTED.fullmatch(words[0])
        if redirected is not None:
            del words[: 1 if redirected[1] else 2]
        elif _SKIPPED.fullmatch(words[0]):
            del words[0]
        else:
            break
    if not words:
        return piece.rstrip().endswith("$")
    if _EXPANDED.search(words[0]):
        return True
    name = re.sub(r"[\"'\\]", "", words[0]).rpartition("/")[2]
    return runs_program(name) and (len(words) == 1 or "$" in piece)
