"""`amplifier-core tool invoke`: one call, as a turn makes it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from amplifier_app.commands.report import Report
from amplifier_app.commands.tool.tool_session import ToolOrder, run_with_tools
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core import world
from amplifier_core.suggest import suggest_name
from amplifier_guard import TerminalText
from amplifier_modules.loops.answers.response import RequestedCall
from amplifier_modules.loops.tool_call import CallRun
from amplifier_providers.demo.tool_schema import Tool, WrongValue

_MAX_NAMES = 30


def invoke_tool(
    report: Report, order: ToolOrder, name: str, pairs: Sequence[str], given: str | None
) -> int:
    """Call a tool, write its result, and return the exit code: 1 where the call has failed.

    Args:
        report: Where the result is written.
        order: Which tools there are.
        name: The tool.
        pairs: Arguments as `KEY=VALUE`.
        given: All arguments as a JSON object, or None.

    Raises:
        Failure: There is no such tool, or an argument cannot be read.
    """
    if given is not None and pairs:
        message = "arguments are given as `KEY=VALUE` or as `--input`"
        raise Failure(message, hint="choose one", exit_code=WRONG_USAGE)
    whole = None if given is None else _read_object(given)

    async def call(coordinator: Any) -> CallRun:
        tools: dict[str, Any] = dict(coordinator.get("tools") or {})
        if name not in tools:
            raise _make_unknown(name, tools)
        arguments = read_pairs(name, tools[name], pairs) if whole is None else whole
        loop: Any = coordinator.get("orchestrator")
        if not hasattr(loop, "run_call"):
            raise Failure("the loop of this plan makes no single calls", hint="use one of ours")
        requested = RequestedCall(world.random_bytes(12).hex(), name, arguments)
        return await loop.run_call(requested, tools, coordinator)

    run = run_with_tools(order, call)
    answer = run.answer
    if report.as_json:
        report.write_data({"tool": name, "is_error": answer.is_error, "content": answer.content})
    elif answer.is_error:
        # Where a person and a script look for what went wrong.
        sys.stderr.write(f"{SECRETS.redact(TerminalText.show(answer.text))}\n")
    else:
        report.write_lines(TerminalText.show(answer.text).split("\n"))
    return int(answer.is_error)


def read_pairs(name: str, tool: Any, pairs: Sequence[str]) -> dict[str, Any]:
    """Return arguments by their names, each of the type that the tool declares.

    Raises:
        Failure: One is unknown, or of another type.
    """
    schema: Any = getattr(tool, "input_schema", None)
    known = Tool(name, "", dict(schema) if isinstance(schema, Mapping) else {})  # pyright: ignore[reportUnknownArgumentType] -- JSON
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise Failure(f"`{pair}` is no `KEY=VALUE`", exit_code=WRONG_USAGE)
        if known.properties and key not in known.properties:
            names = ", ".join(f"`{each}`" for each in known.properties)
            meant = suggest_name(key, known.properties)
            hint = None if meant else f"it takes {names}"
            message = f"`{name}` has no argument `{key}`{meant}"
            raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
        if _takes_text(known.properties.get(key)):
            arguments[key] = value  # as it is, quotes and spaces included
            continue
        try:
            arguments[key] = known.read_value(key, value)
        except WrongValue as error:
            raise Failure(str(error), exit_code=WRONG_USAGE) from error
    return arguments


def _takes_text(schema: object) -> bool:
    return isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") == "string"


def _read_object(given: str) -> dict[str, Any]:
    text = sys.stdin.read() if given == "-" else given
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"`--input` is no JSON: {error}"
        raise Failure(message, hint='such as \'{"path": "."}\'', exit_code=WRONG_USAGE) from None
    if not isinstance(found, dict):
        raise Failure("`--input` is no JSON object", exit_code=WRONG_USAGE)
    return cast("dict[str, Any]", found)


def _make_unknown(name: str, tools: Mapping[str, Any]) -> Failure:
    names = ", ".join(f"`{each}`" for each in list(tools)[:_MAX_NAMES])
    more = ", …" if len(tools) > _MAX_NAMES else ""
    hint = f"there are {names}{more}" if tools else "the session has no tools"
    message = f"there is no tool `{name}`{suggest_name(name, tools)}"
    return Failure(message, hint=hint, exit_code=WRONG_USAGE)
