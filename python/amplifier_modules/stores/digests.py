"""What a model was asked, as digests: whether two requests had the same parts, not what these were."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, cast

from pydantic_core import to_json

from amplifier_core import message_models as models
from amplifier_core.message_models import ChatRequest, Message

from ..contexts.messages import SYSTEM

_RUN = 32
"""Messages that are compared at once, and read again at once."""
_DIGEST_BYTES = 32
_TEXT = frozenset((str,))
_FIXED = frozenset((str, int, float, bool, type(None)))
"""The types of values that nobody can change."""
_MODELS = frozenset(
    (
        models.Message,
        models.TextBlock,
        models.ThinkingBlock,
        models.RedactedThinkingBlock,
        models.ToolCallBlock,
        models.ToolResultBlock,
        models.ImageBlock,
        models.ReasoningBlock,
        models.UnknownBlock,
    )
)
_fields_of = attrgetter("__dict__")
_extra_of = attrgetter("__pydantic_extra__")
_values_of: Callable[[dict[str, Any]], Iterable[Any]] = cast("Any", dict).values


class RequestDigests:
    """Makes the digests of the requests of one session.

    A message of the last request is not encoded and hashed again while nothing in it has changed.
    That it is the same object is no proof of it: a provider, too, can change it in place.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        """Begin without a request."""
        self._runs: list[_Run] = []

    def digest(self, request: ChatRequest) -> dict[str, Any]:
        """Return the SHA-256 of the system prompt, the tools, the messages and the options.

        Each is that of the JSON of the part, or of its `repr` if it has none; of the system prompt
        and the messages, that of the SHA-256 of each message. `message_count` says how many
        messages there are. The requests before make no difference.
        """
        messages, runs = request.messages, self._runs
        starts = range(0, len(messages), _RUN)
        del runs[len(starts) :]
        runs += [_Run() for _ in starts[len(runs) :]]
        for run, start in zip(runs, starts, strict=True):
            run.read(messages[start : start + _RUN])
        others = b"".join([run.others for run in runs])
        options = request.model_dump(exclude={"messages", "tools"}, exclude_none=True)
        return {
            "system": hashlib.sha256(b"".join([run.system for run in runs])).hexdigest(),
            "tools": _digest(request.tools).hex(),
            "messages": hashlib.sha256(others).hexdigest(),
            "options": _digest(options).hex(),
            "message_count": len(others) // _DIGEST_BYTES,
        }


def digest_request(request: ChatRequest) -> dict[str, Any]:
    """Return the digests of one request, those of `RequestDigests.digest`."""
    return RequestDigests().digest(request)


class _Run:
    """Messages that follow one another, their digests, and the objects that they consist of."""

    __slots__ = ("_content", "_dicts", "_lists", "_messages", "_models", "others", "system")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.system = self.others = b""
        self._messages: list[Message] = []
        self._models: list[Any] = []
        self._dicts: list[dict[str, Any]] = []
        self._lists: list[list[Any]] = []
        self._content: _Content | None = ([], [], [])
        """What these hold; None if there is something of another kind, which may change unseen."""

    def read(self, messages: Sequence[Message]) -> None:
        """Make the digests of these messages, of those that are new if the last ones come first."""
        if not self._is_continued_by(messages):
            self._clear()
        new = messages[len(self._messages) :]
        if not new:
            return
        for message in new:
            self._add(message)
        if self._content is not None:
            self._content = self._list_content()

    def _is_continued_by(self, messages: Sequence[Message]) -> bool:
        """Whether these messages begin with the last ones, and nothing in those has changed."""
        if self._content is None or len(messages) < len(self._messages):
            return False
        if not all(map(is_, self._messages, messages)):
            return False
        lengths, keys, values = self._list_content()
        known_lengths, known_keys, known_values = self._content
        if lengths != known_lengths or keys != known_keys or len(values) != len(known_values):
            return False
        # Not by value: 1, 1.0 and True are equal, and dicts whose keys have another order.
        return all(map(is_, values, known_values))

    def _list_content(self) -> _Content:
        dicts, lists = self._dicts, self._lists
        lengths = [*map(len, dicts), *map(len, lists)]
        keys = [*chain.from_iterable(dicts)]
        values = [
            *map(_fields_of, self._models),
            *filter(None, map(_extra_of, self._models)),
            *chain.from_iterable(map(_values_of, dicts)),
            *chain.from_iterable(lists),
        ]
        return lengths, keys, values

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        text = _encode(message)
        digest = hashlib.sha256(text or _describe(message)).digest()
        if message.role in SYSTEM:
            self.system += digest
        else:
            self.others += digest
        # What has no JSON may contain itself.
        if text is None or not self._look_into(message):
            self._content = None

    def _look_into(self, message: Message) -> bool:
        """Collect the objects that a message consists of; return whether all are of a known kind."""
        waiting: list[Any] = [message]
        while waiting:
            part = waiting.pop()
            kind = cast("type[object]", type(part))
            if kind in _MODELS:
                self._models.append(part)
                self._dicts.append(fields := part.__dict__)
                inner = fields.values()
                if extra := part.__pydantic_extra__:
                    waiting.append(extra)
            elif kind is dict and _TEXT.issuperset(map(type, part)):
                self._dicts.append(part)
                inner = part.values()
            elif kind is list:
                self._lists.append(part)
                inner = part
            else:
                return False
            waiting += [each for each in inner if type(each) not in _FIXED]
        return True


_Content = tuple[list[int], list[str], list[Any]]
"""The lengths of dicts and lists, the keys of dicts, and what models, dicts and lists hold."""


def _digest(part: Any) -> bytes:
    return hashlib.sha256(_encode(part) or _describe(part)).digest()


def _encode(part: Any) -> bytes | None:
    try:
        return to_json(part, inf_nan_mode="constants")
    except ValueError:
        return None


def _describe(part: Any) -> bytes:
    return repr(part).encode("utf-8", "surrogatepass")
