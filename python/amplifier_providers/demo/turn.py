"""The current turn of a conversation: what the user asks for, and the results of the tools."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import world
from amplifier_core.message_models import ChatRequest

from ..wire.fields import blocks_of
from ..wire.history import History
from ..wire.rules import HistoryRules, IdForm, NameForm
from ..wire.turn import Result as WireResult
from .far_tools import NOTE, FarTools, find_far_tools
from .foreign import read_mapping, read_text
from .tool_schema import Tool

_ANY = re.compile(r"(?!)")
_MEDIA = frozenset({"image", "document"})
_RULES = HistoryRules(
    provider="demo",
    model="amplifier-demo",
    user_blocks=_MEDIA,
    result_blocks=_MEDIA,
    call_ids=IdForm(_ANY, sys.maxsize),
    tool_names=NameForm(_ANY, sys.maxsize),
)
"""Every id and name as it is; media stay blocks, which are not looked at."""
_IMAGE_ALONE = "What is on the image?"
_NOT_FROM_THE_USER = (
    "<",
    NOTE,
    "[The user took back changes ",
    "[The user made again changes ",
    "[The user lets you use the folder ",
)
"""Texts that a program puts into a user message, such as `<system-reminder>`, begin so."""


@dataclass(frozen=True)
class Call:
    """A tool call."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The answer of the model: thinking, then text, then calls; each may be empty."""

    thinking: str
    text: str
    calls: list[Call]


@dataclass(frozen=True)
class Result:
    """What came back for one tool call."""

    call: Call
    text: str
    failed: bool

    @property
    def data(self) -> dict[str, Any]:
        """The output as an object; empty for anything else."""
        if self.failed:
            return {}
        try:
            return read_mapping(json.loads(self.text))
        except (ValueError, RecursionError):
            return {}


@dataclass
class Turn:
    """What has happened since the last message of the user."""

    prompt: str = ""
    began_anew: bool = False
    """Whether it replaced a turn that was cut off."""
    rounds: int = 0
    """How many times the model called tools."""
    results: list[Result] = field(default_factory=list[Result])
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """The available tools by name."""
    far: FarTools | None = None
    """Those that are only named; None where there are none."""
    past: list[Turn] = field(default_factory=list["Turn"])
    """The earlier turns of this conversation, their own past left out."""
    answers: list[str] = field(default_factory=list[str])
    """The earlier answers of the model."""
    may_call: bool = True
    """Whether the request lets tools be called."""
    has_images: bool = False
    """Whether the user has attached images, which it cannot see."""
    thinks: bool = False
    """Whether the answer begins with thinking."""


def new_call(name: str, arguments: dict[str, Any]) -> Call:
    """Make a call with a new id."""
    return Call(f"call_{world.random_bytes(12).hex()}", name, arguments)


def read_turn(request: ChatRequest, *, thinks: bool = False) -> Turn:
    """Read the present turn out of a request.

    Args:
        request: The conversation and the tools. A history that was cut or edited is repaired first,
            as for any service.
        thinks: Whether the answer begins with thinking.
    """
    turn = Turn()
    past: list[Turn] = []
    answers: list[str] = []
    tools = [
        Tool(each.name, each.description or "", each.parameters) for each in request.tools or ()
    ]
    far = find_far_tools(tools)
    for message in History().check(request.messages, _RULES).turns:
        if message.role == "assistant":
            has_calls = any(part["type"] == "tool_call" for part in message.parts)
            turn.rounds += has_calls
            if not has_calls and (answer := _list_texts(message.parts)):
                answers.append("\n".join(answer))
            continue
        results = [_read_result(each, far) for each in message.results]
        turn.results += results
        has_images = any(part["type"] == "image" for part in message.parts)
        if far is not None:
            _learn(far, message.parts, results)
        prompt = _user_text(message.parts) or (_IMAGE_ALONE if has_images else "")
        is_cut_off = bool(prompt) and _was_cut_off(turn, results)
        if prompt and (is_cut_off or not results):
            past += [turn] if turn.prompt else []
            turn = Turn(prompt=prompt, began_anew=bool(results) and is_cut_off)
            turn.has_images = has_images
        elif prompt:
            turn.prompt += "\n" + prompt
    turn.tools, turn.far = {each.name: each for each in tools}, far
    if far is not None:
        far.has_searched = any(each.call.name == far.finder for each in turn.results)
    turn.past, turn.answers, turn.thinks = past, answers, thinks
    choice = request.tool_choice
    turn.may_call = (
        choice if isinstance(choice, str) else read_mapping(choice).get("type")
    ) != "none"
    return turn


def _was_cut_off(turn: Turn, results: list[Result]) -> bool:
    """Return whether the text next to `results` is a new request, not steering.

    It is where the first round of tools was cut off, so that all its results are failures.
    That happens once in a row only: tools that always fail must not keep a conversation going.
    """
    is_first = turn.rounds == 1 and not turn.began_anew
    return is_first and all(result.failed for result in results)


def _user_text(parts: list[dict[str, Any]]) -> str:
    return "\n".join(each for each in _list_texts(parts) if not each.startswith(_NOT_FROM_THE_USER))


def _list_texts(parts: list[dict[str, Any]]) -> list[str]:
    texts = (read_text(part.get("text")).strip() for part in parts if part.get("type") == "text")
    return [each for each in texts if each]


def _learn(far: FarTools, parts: list[dict[str, Any]], results: list[Result]) -> None:
    """Take what a message says of tools that are only named."""
    for text in _list_texts(parts):
        if text.startswith(NOTE):
            far.read_lines(text)
    for result in results:
        if result.call.name == far.finder and not result.failed:
            far.read_lines(result.text)


def _read_result(result: WireResult, far: FarTools | None) -> Result:
    output = "\n".join(read_text(block.get("text")) for block in blocks_of(result.output))
    name, given = result.tool, read_mapping(result.call.get("input"))
    if far is not None and name == far.wrapper and (meant := read_text(given.get("name"))):
        name, given = meant, read_mapping(given.get("arguments"))
    return Result(Call(result.call_id, name, given), output, result.is_error)
