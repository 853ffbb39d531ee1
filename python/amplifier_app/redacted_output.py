"""An output without the secrets in the events of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from amplifier_app.known_secrets import SECRETS
from amplifier_core import events

if TYPE_CHECKING:
    from amplifier_app.output import Output
    from amplifier_guard import RedactorStream

_ENDS = (events.LLM_RESPONSE, events.LLM_POST, events.EXECUTION_END)
"""After these a response is complete, even if a block of it has no end."""


class RedactedOutput:
    """Removes the secrets from the events for an output.

    The deltas of a block are searched as one text, so that a secret is found even if it is split.
    If the end of a delta may be the beginning of a secret, it is held until the next delta or the
    end of the block.

    Args:
        output: What shows the events.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._streams: dict[tuple[str, str], tuple[RedactorStream, dict[str, Any]]] = {}

    @property
    def shows_blocks(self) -> bool:
        """Whether it shows the blocks of an answer, and not only the answer."""
        return self._output.shows_blocks

    @property
    def failure(self) -> OSError | None:
        """Why nothing more can be written, if so."""
        return self._output.failure

    def call_on_failure(self, act: Callable[[], object]) -> None:
        """Call this as soon as nothing more can be written."""
        self._output.call_on_failure(act)

    def handle(self, event: str, data: Any) -> None:
        """Take one event."""
        if event.startswith("content_block:") and not self._output.shows_blocks:
            return
        if event == events.CONTENT_BLOCK_DELTA and isinstance(data, Mapping):
            self._redact_delta(cast("Mapping[str, Any]", data))
            return
        if event.startswith("content_block:") and isinstance(data, Mapping):
            self._end(_block(cast("Mapping[str, Any]", data)))
        elif event in _ENDS and isinstance(data, Mapping):
            self._end_all(_read_session_id(cast("Mapping[str, Any]", data)))
        self._output.handle(event, SECRETS.redactor.redact_data(data))

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str = "hook"
    ) -> None:
        """Show a message of a hook."""
        self._output.show_message(SECRETS.redact(message), level, SECRETS.redact(source))

    def answer(self, text: str) -> None:
        """Take the answer of the turn."""
        self._end_all()
        self._output.answer(SECRETS.redact(text))

    def break_line(self) -> None:
        """End a line that is being drawn."""
        self._output.break_line()

    def hold(self) -> None:
        """End a line that is being drawn, and draw nothing until `release`."""
        self._output.hold()

    def release(self) -> None:
        """Draw what has come in the meantime."""
        self._output.release()

    def finish(self) -> None:
        """Close what is open."""
        self._end_all()
        self._output.finish()

    def _redact_delta(self, data: Mapping[str, Any]) -> None:
        text = data.get("delta")
        if not isinstance(text, str):
            self._output.handle(events.CONTENT_BLOCK_DELTA, SECRETS.redactor.redact_data(data))
            return
        rest = SECRETS.redactor.redact_data({**data, "delta": ""})
        stream, _ = self._streams.get(_block(data)) or (SECRETS.redactor.stream(), None)
        self._streams[_block(data)] = (stream, rest)
        self._output.handle(events.CONTENT_BLOCK_DELTA, {**rest, "delta": stream.feed(text)})

    def _end(self, block: tuple[str, str]) -> None:
        if open_block := self._streams.pop(block, None):
            stream, last = open_block
            if text := stream.flush():
                self._output.handle(events.CONTENT_BLOCK_DELTA, {**last, "delta": text})

    def _end_all(self, session: str | None = None) -> None:
        for block in list(self._streams):
            if session is None or block[0] == session:
                self._end(block)


def _block(data: Mapping[str, Any]) -> tuple[str, str]:
    """The identity of a block among all open blocks."""
    return _read_session_id(data), str(data.get("block_index"))


def _read_session_id(data: Mapping[str, Any]) -> str:
    return str(data.get("session_id"))
