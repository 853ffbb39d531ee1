"""A streamed answer without personal data and secrets.

Held back is only what could become either with more text. What is held of one text is shown when the
next block of the answer begins, at the latest with the response. A text that goes on after that is held
back to the end: the whole of it is searched then, so that nothing slips through at the seam.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TypeAlias

from ...deltas import Delta, RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta
from .arguments import ArgumentStream
from .cleaning import SECRET, Cleaning
from .detector import Detection

_Told: TypeAlias = TextDelta | ThinkingDelta
_Key: TypeAlias = tuple[type[_Told], int]


class TextStream:
    """Takes secrets and then personal data out of one text in chunks.

    Args:
        cleaning: What is taken out of the answer.
        personal: Takes personal data out; None for that of the cleaning.
    """

    def __init__(
        self, cleaning: Cleaning, personal: Detection | ArgumentStream | None = None
    ) -> None:
        self._cleaning = cleaning
        self._secrets = None if cleaning.redactor is None else cleaning.redactor.stream()
        if personal is None and cleaning.detector is not None:
            personal = cleaning.detector.stream()
        self._personal = personal
        self._raw = ""
        """What has been fed but not released, to notice that the two differ."""

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what can be shown by now.

        Raises:
            ArcLLMSecurityError: It holds something that is to be blocked.
        """
        if self._secrets is not None:
            self._raw += chunk
            chunk = self._note_released(self._secrets.feed(chunk))
        if self._personal is None:
            return chunk
        return self._release_typed(self._personal.feed(chunk))

    def flush(self) -> str:
        """Return the rest; what is fed later begins another text."""
        rest = "" if self._secrets is None else self._note_released(self._secrets.flush())
        self._raw = ""
        if self._personal is None:
            return rest
        return self._release_typed(self._personal.feed(rest)) + self._release_typed(
            self._personal.flush()
        )

    def _note_released(self, released: str) -> str:
        if self._raw.startswith(released):
            self._raw = self._raw[len(released) :]
        else:
            self._cleaning.note((SECRET,))
            # From here on the two differ in length; all that counts has been noted.
            self._raw = ""
        return released

    def _release_typed(self, released: str) -> str:
        if self._personal is not None and (types := self._personal.types()):
            self._cleaning.note(types)
        return released


@dataclass(slots=True)
class _Text:
    """A text of the answer, as it came and as it was shown."""

    delta: _Told
    raw: list[str] = field(default_factory=list[str])
    shown: list[str] = field(default_factory=list[str])
    flushed_at: int = 0
    """So many chunks of it had come when the next block began; 0 before."""

    @property
    def is_shown(self) -> bool:
        return self.flushed_at > 0

    def continue_text(self, cleaning: Cleaning) -> str:
        """Return what came after the next block began, as far as it can be shown."""
        if not self.is_shown or self.flushed_at == len(self.raw):
            return ""
        whole = cleaning.clean_text("".join(self.raw))
        shown = "".join(self.shown)
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(whole, shown, strict=False))
        )
        return whole[same:]


class AnswerStream:
    """Takes them out of the deltas of one answer.

    Args:
        cleaning: What is taken out of the answer.
    """

    def __init__(self, cleaning: Cleaning) -> None:
        self._cleaning = cleaning
        self._texts: dict[_Key, tuple[_Told, TextStream]] = {}
        self._calls: dict[int, tuple[ToolCallDelta, TextStream]] = {}
        self._open_texts: dict[_Key, _Text] = {}
        """All texts of the answer, by their blocks."""

    def clean_deltas(self, delta: Delta) -> Iterator[Delta]:
        """Yield what can be shown with this delta.

        Raises:
            ArcLLMSecurityError: It holds something that is to be blocked.
        """
        if isinstance(delta, RetractedDelta):
            self._forget(delta.block)
            yield delta
        elif isinstance(delta, ToolCallDelta):
            yield from self._flushed_texts(None)
            text = self._cleaning.clean_text
            delta = replace(delta, id=text(delta.id), name=text(delta.name))
            _, stream = self._calls.get(delta.index, (delta, None))
            if stream is None:
                detector = self._cleaning.detector
                personal = None if detector is None else ArgumentStream(detector)
                stream = TextStream(self._cleaning, personal)
            self._calls[delta.index] = delta, stream
            shown = stream.feed(delta.arguments)
            if shown or not delta.arguments:
                yield replace(delta, arguments=shown)
        else:
            key = type(delta), delta.block
            yield from self._flushed_texts(key)
            text = self._open_texts.setdefault(key, _Text(delta))
            text.raw.append(delta.text)
            _, stream = self._texts.get(key, (delta, None))
            if stream is None:
                if text.is_shown:
                    return
                stream = TextStream(self._cleaning)
            self._texts[key] = delta, stream
            if shown := stream.feed(delta.text):
                text.shown.append(shown)
                yield replace(delta, text=shown)

    def flush_rest(self) -> Iterator[Delta]:
        """Yield what is still held back."""
        yield from self._flushed_texts(None)
        for delta, stream in self._calls.values():
            if rest := stream.flush():
                yield replace(delta, arguments=rest)
        self._calls.clear()
        for text in self._open_texts.values():
            if rest := text.continue_text(self._cleaning):
                yield replace(text.delta, text=rest)
        self._open_texts.clear()

    def _flushed_texts(self, current: _Key | None) -> Iterator[Delta]:
        """Yield the rest of all texts but the one that goes on."""
        for key in [key for key in self._texts if key != current]:
            delta, stream = self._texts.pop(key)
            text = self._open_texts[key]
            text.flushed_at = len(text.raw)
            if rest := stream.flush():
                text.shown.append(rest)
                yield replace(delta, text=rest)

    def _forget(self, block: int) -> None:
        for key in [key for key in self._texts if key[1] == block]:
            del self._texts[key]
        for key in [key for key in self._open_texts if key[1] == block]:
            del self._open_texts[key]
        for index in [
            index
            for index, (delta, _) in self._calls.items()
            if getattr(delta, "block", None) == block
        ]:
            del self._calls[index]
