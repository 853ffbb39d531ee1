"""A tool call that the user asks for by name: `call weather with city Paris and days 3`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.suggest import suggest_name

from .far_tools import FarTools
from .foreign import list_names, read_mapping, write_code
from .tool_schema import Tool, WrongValue

_MAX_TOOLS = 30
_CALL = re.compile(
    r"(?:please\s+|now\s+|then\s+|can you\s+|could you\s+)*(?P<verb>call|invoke|use|run)\s+"
    r"(?:the\s+)?(?:tool\s+)?[`\"'“]?(?P<name>[\w.-]*\w)[`\"'”]?(?:\(\))?(?:\s+tool)?"
    r"(?:\s*,?\s*(?:with|using|on|for)(?:\s+the)?(?:\s+arguments?)?\s*:?\s+(?P<rest>.+?))?"
    r"\s*(?:,?\s*please)?[.!?]*\s*",
    re.IGNORECASE | re.DOTALL,
)
_CERTAIN = frozenset({"call", "invoke"})
"""Verbs after which a name is meant to be that of a tool; `run the tests` need not be a call."""
_PAIR = re.compile(r"\s*[`\"']?([\w-]+)[`\"']?\s*(?:=|:|\s+is\s+|\s+)\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class NamedCall:
    """A call with its arguments, or why it cannot be made."""

    tool: str
    arguments: dict[str, Any]
    problem: str = ""
    sought: str = ""
    """The tool that the call looks up; empty for a call that was asked for."""


def read_call(
    prompt: str, tools: Mapping[str, Tool], far: FarTools | None = None
) -> NamedCall | None:
    """Read the call that a prompt asks for; None if it asks for none.

    Args:
        prompt: The prompt, or a line of it.
        tools: The tools of the request by name.
        far: Those that the request only names. One of which nothing is known is looked up first.
    """
    found = _CALL.fullmatch(prompt.strip())
    if found is None:
        return None
    known = {**far.found, **tools} if far else tools
    tool = _find_tool(found["name"], known)
    if tool is None:
        named = _find_name(found["name"], far.named) if far else None
        if named is None and found["verb"].lower() not in _CERTAIN:
            return None
        if far and not far.has_searched:
            sought = named or found["name"]
            return NamedCall(far.finder, {"query": sought}, sought=sought)
        names = {**tools, **far.named} if far else tools
        return NamedCall(found["name"], {}, _no_such_tool(found["name"], names))
    try:
        arguments = _read_arguments(tool, (found["rest"] or "").strip())
    except WrongValue as error:
        end = "" if str(error).endswith("?") else "."
        problem = f"I cannot call {write_code(tool.name)}: {error}{end}\n\n{_describe_needs(tool)}"
        return NamedCall(tool.name, {}, problem)
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        lacks = f"I cannot call {write_code(tool.name)} without {list_names(missing, _MAX_TOOLS)}."
        return NamedCall(tool.name, {}, f"{lacks}\n\n{_describe_needs(tool)}")
    return NamedCall(tool.name, arguments)


def _find_tool(name: str, tools: Mapping[str, Tool]) -> Tool | None:
    found = _find_name(name, tools)
    return None if found is None else tools[found]


def _find_name(name: str, names: Collection[str]) -> str | None:
    if name in names:
        return name
    return next((each for each in names if _normalize_name(each) == _normalize_name(name)), None)


def _no_such_tool(name: str, tools: Collection[str]) -> str:
    if not tools:
        return f"There is no tool {write_code(name)}: no tool is mounted."
    names = list_names(sorted(tools), _MAX_TOOLS)
    advice = suggest_name(name, tools) or "."
    return f"There is no tool {write_code(name)}{advice} These tools are mounted: {names}."


def _describe_needs(tool: Tool) -> str:
    """What a tool takes, and an example of a call."""
    if not tool.properties:
        return f"{write_code(tool.name)} declares no arguments."
    required = tool.required
    lines = [
        f"- {tool.describe_argument(name)}" + ("" if name in required else "; may be left out")
        for name in tool.properties
    ]
    needed = required or list(tool.properties)[:2]
    example = f"call {tool.name} with " + " and ".join(
        f"{name} {tool.write_example(name)}" for name in needed
    )
    head = f"{write_code(tool.name)} takes:\n\n" + "\n".join(lines)
    return f"{head}\n\nAsk like this: {write_code(example)}."


def _read_arguments(tool: Tool, written: str) -> dict[str, Any]:
    """Read the arguments after `with`.

    Raises:
        WrongValue: A name is unknown, or a value is of another type.
    """
    if not written:
        return {}
    if written.startswith("{"):
        try:
            return read_mapping(json.loads(written))
        except (ValueError, RecursionError):
            raise WrongValue(f"{write_code(written)} is not JSON") from None
    quoted = re.fullmatch(r"\"(.*)\"|“(.*)”|`(.*)`", written, re.DOTALL)
    if quoted and len(only := tool.required or list(tool.properties)) == 1:
        return {only[0]: tool.read_value(only[0], written)}
    arguments: dict[str, Any] = {}
    for part in _split_parts(tool, written):
        pair = _PAIR.fullmatch(part)
        name = _find_argument(tool, part)
        if name is None:
            given = pair[1] if pair else part
            advice = suggest_name(given, tool.properties)
            raise WrongValue(f"it has no argument {write_code(given)}{advice}")
        arguments[name] = tool.read_value(name, _read_value(tool, name, part))
    return arguments


def _split_parts(tool: Tool, written: str) -> list[str]:
    """Split the arguments where a known name begins, so that a value may hold `and` and commas."""
    separators = list(re.finditer(r"\s*,\s*(?:and\s+)?|\s+and\s+", written))
    starts = [0]
    ends: list[int] = []
    for separator in separators:
        rest = written[separator.end() :]
        if written[: separator.start()].count('"') % 2:
            continue  # within a quotation
        begins = _find_argument(tool, rest) if tool.properties else _PAIR.fullmatch(rest)
        if begins is not None:
            ends.append(separator.start())
            starts.append(separator.end())
    return [written[start:end] for start, end in zip(starts, [*ends, len(written)], strict=True)]


def _find_argument(tool: Tool, part: str) -> str | None:
    """The argument that a part begins with; the longest of several."""
    if not tool.properties:
        pair = _PAIR.fullmatch(part)
        return pair[1] if pair else None
    fitting = [name for name in tool.properties if _begin(name).match(part)]
    return max(fitting, key=len, default=None)


def _read_value(tool: Tool, name: str, part: str) -> str:
    if not tool.properties:
        pair = _PAIR.fullmatch(part)
        return pair[2] if pair else ""
    return part[match.end() :] if (match := _begin(name).match(part)) else part


def _begin(name: str) -> re.Pattern[str]:
    """The name of an argument and what stands between it and its value."""
    words = r"[\s_-]*".join(re.escape(word) for word in re.split(r"[\s_-]+", name))
    filler = r"(?-i:(?:is|to|set to)\s+)?"  # in small letters: a value may begin with `To`
    return re.compile(
        rf"\s*[`\"']?{words}[`\"']?(?:\s*[=:]\s*|\s+{filler}|\s*\Z)",
        re.IGNORECASE,
    )


def _normalize_name(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).lower()
