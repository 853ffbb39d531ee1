"""Long texts that were pasted: one character of the line each, which is shown as a mark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments
from typing_extensions import override

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

_MAX_LINES, _MAX_CHARS = 10, 1_000
"""What is longer is folded."""
_MAX_KEPT = 50
"""How many lines are known again."""
_FIRST, _LAST = 0x10F000, 0x10FFFD
"""Characters of private use, which stand for a text."""
_STANDS_FOR = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")


class Pastes:
    """Knows the texts that were folded."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._marks: dict[str, str] = {}
        self._folded: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return what is put into the line for a text that is pasted: itself if it is short."""
        text = _STANDS_FOR.sub("\N{REPLACEMENT CHARACTER}", text)
        lines = text.count("\n") + 1
        number = _FIRST + len(self._texts)
        if (lines <= _MAX_LINES and len(text) <= _MAX_CHARS) or number > _LAST:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        mark, count = f"[pasted {size}]", 1
        while mark in self._marks.values():
            count += 1
            mark = f"[pasted {size}, {count}]"
        self._texts[chr(number)], self._marks[chr(number)] = text, mark
        return chr(number)

    def unfold(self, line: str) -> str:
        """Return a line with the texts, and keep in mind how it was folded."""
        whole = _STANDS_FOR.sub(lambda found: self._texts.get(found[0], found[0]), line)
        if whole != line:
            self._folded[whole] = line
            while len(self._folded) > _MAX_KEPT:
                del self._folded[next(iter(self._folded))]
        return whole

    def fold_again(self, whole: str) -> str:
        """Return a line as it was before it was unfolded."""
        return self._folded.get(whole, whole)

    def write_marks(self, line: str) -> str:
        """Return a line with the marks that are shown."""
        return _STANDS_FOR.sub(lambda found: self._marks.get(found[0], found[0]), line)


class PasteMarks(Processor):
    """Shows the marks in the line that is typed."""

    def __init__(self, pastes: Pastes) -> None:
        self._pastes = pastes

    @override
    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return a row of the line as it is shown."""
        fragments = transformation_input.fragments
        if not any(_STANDS_FOR.search(fragment[1]) for fragment in fragments):
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        places: list[int] = []  # where each character begins
        sources: list[int] = []  # which character is shown at each place
        for index, fragment in enumerate(explode_text_fragments(fragments)):
            text = self._pastes.write_marks(fragment[1])
            places.append(len(sources))
            sources += [index] * len(text)
            shown.append((fragment[0], text))
        end = len(sources)
        return Transformation(
            shown,
            source_to_display=lambda i: places[i] if i < len(places) else end + i - len(places),
            display_to_source=lambda i: sources[i] if i < end else len(places) + i - end,
        )
