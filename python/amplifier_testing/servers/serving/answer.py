"""What a server answers, in a form that every dialect can send, and the scripts of answers, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .fault import Fault

_PART = "a text, or a `Text`, `Thinking`, `RedactedThinking`, `Call`, `Declined` or `Block`"
_ANSWER = "a text, an `Answer` or a `Recorded`"


@dataclass(frozen=True)
class Text:
    """Text for the user."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """Thoughts: a thinking block, a reasoning item or reasoning text, signed by the server."""

    text: str = ""


@dataclass(frozen=True)
class RedactedThinking:
    """Thoughts that only the server can read; a reasoning item without summary on OpenAI."""

    text: str = "hidden"


@dataclass(frozen=True)
class Call:
    """A tool call."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    """The arguments; a string is sent as it is, also if it is not JSON."""
    id: str | None = None
    """The id of the call; the server makes one up if there is none."""


@dataclass(frozen=True)
class Declined:
    """A refusal of the model to answer."""

    text: str = "I can't help with that."


@dataclass(frozen=True)
class Block:
    """A content block or output item of the dialect, sent as it is and not in fragments."""

    value: Mapping[str, Any]


Part = Text | Thinking | RedactedThinking | Call | Declined | Block


@dataclass(frozen=True)
class Usage:
    """Tokens, counted once each; every dialect adds them up as its vendor does."""

    input: int = 10
    """Tokens of the prompt that came from no cache."""
    output: int = 20
    """Tokens of the answer without `reasoning`."""
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Answer:
    """One answer of the model: its parts in order, why it stops, and what it costs.

        Answer("Hello")
        Answer(Thinking("Look first."), Call("read_file", {"path": "a.py"}))
        Answer("Once upon a", stop="max_tokens")

    Attributes:
        parts: The parts; strings are texts.
        stop: The stop reason as the dialect writes it. Without one, what the parts mean. On
            Responses: the reason of an incomplete response, or `failed`.
        usage: The tokens.
        fragment: Characters of each delta.
    """

    def __init__(
        self,
        *parts: Part | str,
        stop: str | None = None,
        usage: Usage | None = None,
        fragment: int = 12,
    ) -> None:
        """Set the answer up.

        Raises:
            TypeError: A part or an option is of the wrong type.
        """
        for place, part in enumerate(parts):
            _check(part, str | Part, f"part {place} of an answer", _PART)
        _check(stop, str | None, "`stop` of an answer", "a text")
        _check(usage, Usage | None, "`usage` of an answer", "a `Usage`")
        if type(fragment) is not int or fragment < 1:
            raise TypeError(
                f"`fragment` of an answer is `{fragment!r}` (must be a whole number above 0)"
            )
        self.parts = [Text(part) if isinstance(part, str) else part for part in parts]
        self.stop = stop
        self.usage = usage or Usage()
        self.fragment = fragment

    @property
    def text(self) -> str:
        """The texts among the parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    def with_usage(self, usage: Usage) -> Answer:
        """Return the answer with another usage."""
        return Answer(*self.parts, stop=self.stop, usage=usage, fragment=self.fragment)

    @property
    def calls(self) -> list[Call]:
        """The tool calls among the parts."""
        return [part for part in self.parts if isinstance(part, Call)]

    def fragments(self, written: str) -> list[str]:
        """Split a text into the deltas in which it is sent."""
        size = self.fragment
        return [written[start : start + size] for start in range(0, len(written), size)]


class Recorded:
    """A body as a provider sent it: bytes, or the file that holds them.

    It is sent as it is, whether the request asks for a stream or not. Signatures and reasoning
    items in it are the server's own from then on.
    """

    def __init__(
        self,
        body: bytes | Path,
        *,
        status: int = 200,
        content_type: str = "text/event-stream",
    ) -> None:
        """Set the body up, and read it if it is a file.

        Raises:
            TypeError: The body is neither bytes nor a path.
        """
        _check(
            body, bytes | Path, "the body of a recorded answer", "bytes, or the `Path` of a file"
        )
        self.body = body if isinstance(body, bytes) else body.read_bytes()
        self.status = status
        self.content_type = content_type


def _check(value: object, kinds: Any, what: str, right: str) -> None:
    if not isinstance(value, kinds):
        raise TypeError(f"{what} is a `{type(value).__name__}` (must be {right})")


Script = Answer | Recorded | str
"""What a script is made of; a string is an answer of text."""


def checked_answers(answers: Any) -> list[Script]:
    """Return a list of answers.

    Raises:
        TypeError: It is no list, or one of them is of another type.
    """
    listed = _read_list(answers, "answers", f"a list of answers, each {_ANSWER}")
    for place, answer in enumerate(listed):
        checked_answer(answer, f"answer {place} of the script")
    return listed


def checked_answer(answer: Any, where: str) -> Answer | Recorded:
    """Return an answer; a text becomes one.

    Raises:
        TypeError: It is of another type.
    """
    if isinstance(answer, str):
        return Answer(answer)
    if not isinstance(answer, Answer | Recorded):
        raise TypeError(f"{where} is a `{type(answer).__name__}` (must be {_ANSWER})")
    return answer


def checked_faults(faults: Any) -> list[Fault | None]:
    """Return a list of faults.

    Raises:
        TypeError: It is no list, or one of them is of another type.
    """
    listed = _read_list(faults, "faults", "a list of faults, each a `Fault`, or None for none")
    for place, fault in enumerate(listed):
        if fault is not None and not isinstance(fault, Fault):
            raise TypeError(
                f"fault {place} of the script is a `{type(fault).__name__}` (must be a `Fault`, or"
                " None for none)"
            )
    return listed


def _read_list(given: Any, name: str, right: str) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"`{name}` is a `{type(cast('object', given)).__name__}` (must be {right})")
    return list(cast("Iterable[Any]", given))
