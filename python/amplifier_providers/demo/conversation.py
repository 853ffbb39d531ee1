"""The current turn of a conversation: what the user wants, and the results of the tools."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .readings import blocks, items, mapping, text
from .tool_schema import Tool
from .wire import Call

# Texts that a program put into a user message, such as `<system-reminder>`, are no request.
_NOT_FROM_THE_USER = "<"


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
            return mapping(json.loads(self.text))
        except (ValueError, RecursionError):
            return {}


@dataclass
class Turn:
    """What has happened since the user last said something."""

    prompt: str = ""
    began_anew: bool = False
    """Whether it replaced a turn that was cut off."""
    rounds: int = 0
    """How many times the model called tools."""
    results: list[Result] = field(default_factory=list[Result])
    tools: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The available tools and their declared parameters; none for a tool that takes any."""
    described: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """The available tools, with all that they say of themselves."""
    earlier: list[str] = field(default_factory=list[str])
    """What the user said before, in this conversation."""
    answers: list[str] = field(default_factory=list[str])
    """What the model answered before."""
    may_call: bool = True
    """Whether the request lets tools be called."""
    thinks: bool = False
    """Whether the request wants to see thinking."""


def read_turn(body: dict[str, Any]) -> Turn:
    """Read the present turn out of a request that has been checked."""
    turn = Turn()
    earlier: list[str] = []
    answers: list[str] = []
    calls: dict[str, Call] = {}
    for message in items(body.get("messages")):
        content = blocks(mapping(message).get("content"))
        if mapping(message).get("role") == "assistant":
            asked = [
                Call(text(b.get("id")), text(b.get("name")), mapping(b.get("input")))
                for b in content
                if b.get("type") == "tool_use"
            ]
            calls = {call.id: call for call in asked}
            turn.rounds += bool(asked)
            if not asked and (answer := _texts(content)):
                answers.append("\n".join(answer))
            continue
        results = [_result(block, calls) for block in content if block.get("type") == "tool_result"]
        turn.results += results
        said = _user_text(content)
        is_cut_off = bool(said) and _was_cut_off(turn, results)
        if said and (is_cut_off or not results):
            earlier += [turn.prompt] if turn.prompt else []
            turn = Turn(prompt=said, began_anew=bool(results) and is_cut_off)
        elif said:
            turn.prompt += "\n" + said
    for tool in items(body.get("tools")):
        properties = mapping(mapping(tool.get("input_schema")).get("properties"))
        name = text(tool.get("name"))
        turn.tools[name] = frozenset(properties)
        schema = mapping(tool.get("input_schema"))
        turn.described[name] = Tool(name, text(tool.get("description")), schema)
    turn.earlier, turn.answers = earlier, answers
    turn.may_call = mapping(body.get("tool_choice")).get("type") != "none"
    turn.thinks = mapping(body.get("thinking")).get("type") in {"enabled", "adaptive"}
    return turn


def _was_cut_off(turn: Turn, results: list[Result]) -> bool:
    """Return whether the words next to `results` are a new request, not steering.

    They are where the first round of tools was cut off, so that all its results are failures.
    That happens once in a row only: tools that always fail must not keep a conversation going.
    """
    is_first = turn.rounds == 1 and not turn.began_anew
    return is_first and all(result.failed for result in results)


def _user_text(content: list[dict[str, Any]]) -> str:
    return "\n".join(said for said in _texts(content) if not said.startswith(_NOT_FROM_THE_USER))


def _texts(content: list[dict[str, Any]]) -> list[str]:
    texts = (text(block.get("text")).strip() for block in content if block.get("type") == "text")
    return [each for each in texts if each]


def _result(block: dict[str, Any], calls: dict[str, Call]) -> Result:
    call_id = text(block.get("tool_use_id"))
    written = "\n".join(text(part.get("text")) for part in blocks(block.get("content")))
    call = calls.get(call_id, Call(call_id, "", {}))
    return Result(call, written, bool(block.get("is_error")))
