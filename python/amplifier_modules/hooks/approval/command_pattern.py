"""Commands that a rule means: words, of which some are `*`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from amplifier_guard import read_command

from .command_line import program_of, runs_others

_STAR = "\ue000"
"""Stands for a `*` that no quote holds; no command has this letter."""
_MAX_STARS = 4
_ANY_LETTERS = r"[^\0]*"
_ANY_WORDS = r"(?:\0[^\0]*)*"
_SHORT = re.compile(r"-[A-Za-z0-9]+")


@dataclass(frozen=True)
class CommandPattern:
    """The words of a command, in which a `*` alone stands for words, and one in a word for letters.

    A `*` at the end stands for anything that follows, or nothing.
    """

    words: tuple[str, ...]

    @classmethod
    def read(cls, written: str) -> CommandPattern:
        """Read what stands in the brackets of a rule, such as `git push:*` and `git * main`.

        Raises:
            ShellDenied: It is no plain command.
            ValueError: It has too many stars, or `:*` in its middle.
        """
        text = re.sub(r":\*$", " *", written.strip())
        if ":*" in text or _STAR in text:
            raise ValueError("`:*` stands at the end alone")
        words = tuple(read_command(_mark_stars(text)))
        if sum(each.count(_STAR) for each in words) > _MAX_STARS:
            raise ValueError(f"it has more than {_MAX_STARS} stars")
        return cls(words)

    @property
    def program(self) -> str | None:
        """The name of the program; None if a `*` is in it."""
        name = program_of(self.words)
        return None if _STAR in name else name

    def is_allowed(self, words: Sequence[str]) -> bool:
        """Whether a command is certain to be one that this allows.

        A `*` as the program, or in it, stands for one that runs no other; one after the program, in
        the middle, does not begin with an option, which could change what the program does.
        """
        begin, *rest = self.words
        if _STAR in begin and ("/" in words[0] or runs_others(words)):
            return False
        has_star = len(rest) > 1 and rest[0] == _STAR
        if has_star and any(each.startswith("-") for each in words[1:2]):
            return False
        first = r"[^\0]+" if begin == _STAR else None
        return self._is_match(words, first)

    def is_meant(self, words: Sequence[str]) -> bool:
        """Whether a command is one that this denies, wherever its program lies."""
        return self._is_match(words, None) or self._is_match([program_of(words), *words[1:]], None)

    def may_mean(self, words: Sequence[str]) -> bool:
        """Whether a command may be one that this denies, written otherwise.

        Options may stand between the words, and short ones may be joined: `git -c a=b push` may be
        `git push`, and `rm -r -f` may be `rm -rf`.
        """
        name = program_of(words)
        if not re.fullmatch(_write_word(program_of(self.words)), name, re.IGNORECASE):
            return False
        options = [each for each in words[1:] if each.startswith("-")]
        is_open = self.words[-1].endswith(_STAR)
        may_skip = False
        place = 1
        for needed in self.words[1:]:
            if needed == _STAR:
                may_skip = True
            elif needed.startswith("-"):
                if not _has_option(options, needed):
                    return False
            else:
                found = _find_word(words, place, needed, may_skip=may_skip)
                if found is None:
                    return False
                place, may_skip = found + 1, False
        return is_open or all(each.startswith("-") for each in words[place:])

    def _is_match(self, words: Sequence[str], first: str | None) -> bool:
        pattern = ""
        last = len(self.words) - 1
        for number, word in enumerate(self.words):
            if word == _STAR and number == 0:
                pattern += first or rf"[^\0]+{_ANY_WORDS}"
            elif word == _STAR:
                pattern += _ANY_WORDS if number == last else rf"\0{_ANY_LETTERS}{_ANY_WORDS}"
                continue
            else:
                pattern += (r"\0" if number else "") + _write_word(word)
            if number == last and word.endswith(_STAR):
                pattern += _ANY_WORDS
        return re.fullmatch(pattern, "\0".join(words)) is not None


def _write_word(word: str) -> str:
    return _ANY_LETTERS.join(map(re.escape, word.split(_STAR)))


def _mark_stars(text: str) -> str:
    """Replace each `*` that no quote and no backslash holds."""
    marked: list[str] = []
    quote = ""
    is_escaped = False
    for letter in text:
        if is_escaped:
            is_escaped = False
        elif letter == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "*":
            letter = _STAR
        marked.append(letter)
    return "".join(marked)


def _has_option(options: Sequence[str], needed: str) -> bool:
    pattern = _write_word(needed)
    if any(re.fullmatch(rf"{pattern}(?:=.*)?", each, re.DOTALL) for each in options):
        return True
    short = "".join(each[1:] for each in options if _SHORT.fullmatch(each))
    return _SHORT.fullmatch(needed) is not None and set(needed[1:]) <= set(short)


def _find_word(words: Sequence[str], place: int, needed: str, *, may_skip: bool) -> int | None:
    """Return where a word is, behind options and their values; None if it is not there."""
    pattern = re.compile(_write_word(needed))
    for number in range(place, len(words)):
        if pattern.fullmatch(words[number]):
            return number
        is_value = number > 1 and words[number - 1].startswith("-")
        if not (may_skip or is_value or words[number].startswith("-")):
            return None
    return None
