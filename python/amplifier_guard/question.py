"""Questions to a person: what is asked about is exact, and no part of it looks like the question."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, cast

__all__ = ["AsIs", "question_rows", "quote_value"]

_LETTERS = "\xc0-\xcf\xd1-\xd6\xd8-\xf6\xf8-\xff\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3"
"""Besides ASCII: letters that do not look like it, do not join, and are at most two columns wide."""

_SCRIPTS = (
    ("\u0401\u0404\u0406\u0407\u0410-\u044f\u0451\u0454\u0456\u0457\u0490\u0491", "жийцчшщъыэюяЖИЙЦЧШЩЪЫЭЮЯ"),
    ("\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce", "ζθλξπψΓΔΘΛΞΠΣΨΩ"),
)  # fmt: skip
"""Cyrillic and Greek: their letters, and those that look like nothing in other scripts."""

_WORD = "|".join(rf"(?<!\w)(?=[{letters}]*[{own}])[{letters}]+(?!\w)" for letters, own in _SCRIPTS)
"""A word wholly of one script that cannot be taken for one of another."""

_PLAIN = re.compile(r"[!-_a-~]+(?: [!-_a-~]+)*")
_TO_ESCAPE = rf"{_WORD}|([^ !#-\[\]-~{_LETTERS}])"
_RUN = re.compile(r"((?P<blank>\s)(?P=blank)+)")
_SHOWN = rf"[!-~{_LETTERS}]"
_MOST_INDENTATION = 40
_BEFORE_INDENTATION = frozenset("|+- ")
_NEAR = 3
"""A blank in this last part of a row is near its end: no word is cut there."""
_NAMES = {" ": "blank", "\t": "tab", "\n": "line break"}


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern at its first use: most programs never ask."""
    return re.compile(pattern)


class AsIs(str):
    """A part of a question that is safe already, such as the name of a secret."""

    __slots__ = ()


def quote_value(value: Any) -> str:
    """Return a JSON value as one line from which it can be read back.

    Plain text is put between backticks. Other text is a Python string, or a sum of them in which
    each run of blanks is a product: `"a" + 40 * " " + "b"`.

    Raises:
        TypeError: Something in it has no form in JSON.
        ValueError: A number is not finite or too long, or the value is nested too deeply.
    """
    try:
        return _quote_value(value)
    except RecursionError:
        raise ValueError("the value is nested too deeply to be shown") from None


def _quote_value(value: Any) -> str:
    if isinstance(value, str):
        text = str.__str__(value)
        return f"`{text}`" if _PLAIN.fullmatch(text) else _add_pieces(text)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"`{value}` cannot be shown (must be finite)")
        return repr(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return f"{{{', '.join(f'{_write_key(key)}: {_quote_value(item)}' for key, item in items)}}}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return f"[{', '.join(map(_quote_value, cast('Sequence[Any]', value)))}]"
    found = type(cast("object", value)).__name__
    raise TypeError(f"a value of type `{found}` cannot be shown (must be JSON)")


def _write_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of type `{type(key).__name__}` cannot be shown (must be text)")
    return _quote_value(key)


def _add_pieces(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for run in _RUN.finditer(text):
        pieces += _write_string(text[end : run.start()])
        pieces.append(f'{len(run[0])} * "{_escape(run["blank"])}"')
        end = run.end()
    pieces += _write_string(text[end:])
    return " + ".join(pieces) or '""'


def _write_string(text: str) -> list[str]:
    return [f'"{_escape(text)}"'] if text else []


def _escape(text: str) -> str:
    def write_escape(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return '\\"' if found[1] == '"' else found[1].encode("unicode_escape").decode()

    return _compile(_TO_ESCAPE).sub(write_escape, text)


def question_rows(question: Iterable[str], mark: str, columns: int) -> list[str]:
    """Return a question as rows for a terminal, each of which begins with a mark.

    Two questions that differ have different rows. Runs of blanks are shortened and counted
    (`⟨40 blanks⟩`), but for the indentation of a line, also behind `|`, `+` and `-`. What is not ASCII is shown by its code (`⟨U+202E⟩`), except letters of a few
    scripts and Cyrillic or Greek words that look like no other. A row that goes on in the next ends
    with a backslash, and the next begins with the mark and a colon instead of a bar; it is cut behind
    a blank where one is near.

    Args:
        question: The parts of the text; only those that are `AsIs` are shown unchanged.
        mark: What the person can tell the rows by: ASCII that nobody else knew before.
        columns: The width of the terminal.

    Raises:
        ValueError: The terminal is too narrow.
    """
    # The last column stays free: some terminals begin a row there.
    most = columns - len(mark) - len("| ") - len("\\") - 1
    if most < 2:
        raise ValueError(f"a question needs more than {columns} columns")
    rows: list[str] = []
    indentation = min(_MOST_INDENTATION, most // 2)
    for line in _write_question(question, indentation).split("\n"):
        first, *rest = _cut(line, most)
        starts = [f"{mark}| {first}", *(f"{mark}: {row}" for row in rest)]
        rows += [f"{row}\\" for row in starts[:-1]]
        rows.append(starts[-1])
    return rows


def _write_question(question: Iterable[str], most_indentation: int) -> str:
    units = [unit for part in question for unit in _split_units(part)]
    runs = [(unit, len(list(run))) for unit, run in groupby(units)]
    shown: list[str] = []
    begins_line = True
    for place, (unit, count) in enumerate(runs):
        is_indentation = begins_line and unit == " " and count <= most_indentation
        if (
            isinstance(unit, AsIs)
            or _compile(_SHOWN).fullmatch(unit)
            or (is_indentation and _is_followed(runs, place))
        ):
            shown.append(unit * count)
        elif (unit, count) == ("\n", 1) or ((unit, count) == (" ", 1) and _is_inside(runs, place)):
            shown.append(unit)
        elif name := _NAMES.get(unit):
            shown.append(f"⟨{count} {name}{'s' * (count > 1)}⟩")
        else:
            shown.append(f"⟨{f'{count} ' if count > 1 else ''}U+{ord(unit):X}⟩")
        begins_line = (unit, count) == ("\n", 1) or (begins_line and unit in _BEFORE_INDENTATION)
    return "".join(shown)


def _split_units(part: str) -> Iterator[str]:
    if isinstance(part, AsIs):
        yield part
        return
    end = 0
    for word in re.finditer(_WORD, part):
        yield from part[end : word.start()]
        yield AsIs(word[0])
        end = word.end()
    yield from part[end:]


def _is_inside(runs: Sequence[tuple[str, int]], place: int) -> bool:
    """Whether something can be seen before and behind, in the same line."""
    is_behind = place > 0 and runs[place - 1] != ("\n", 1)
    return is_behind and _is_followed(runs, place)


def _is_followed(runs: Sequence[tuple[str, int]], place: int) -> bool:
    """Whether something can be seen behind, in the same line."""
    return place < len(runs) - 1 and runs[place + 1] != ("\n", 1)


def _cut(line: str, most: int) -> Iterator[str]:
    """Yield pieces of a line, cut behind a blank where one is near: all of it, in its order."""
    start, used, blank, used_at_blank = 0, 0, 0, 0
    is_code = False
    for place, character in enumerate(line):
        # Some terminals show every letter beyond ASCII in two columns.
        cells = 1 if character.isascii() else 2
        if used + cells > most:
            is_near = blank > start and used_at_blank > most - most // _NEAR
            end = blank if is_near else place
            yield line[start:end]
            start, used = end, used - used_at_blank if is_near else 0
            blank, used_at_blank = start, 0
        used += cells
        # Those in a code, `⟨2 tabs⟩`, are none.
        is_code = character == "⟨" or (is_code and character != "⟩")
        if character == " " and not is_code:
            blank, used_at_blank = place + 1, used
    yield line[start:]
