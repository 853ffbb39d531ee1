"""Rules for tool calls and their results."""

from __future__ import annotations

import re

from ..serving.reading import Json, read_text
from .judged_request import JudgedRequest, Turn
from .refusals import make_invalid

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_RESULT_OF = {
    "web_search": ("web_search_tool_result",),
    "web_fetch": ("web_fetch_tool_result",),
    "code_execution": ("code_execution_tool_result",),
    "bash_code_execution": ("bash_code_execution_tool_result",),
    "text_editor_code_execution": ("text_editor_code_execution_tool_result",),
    "tool_search_tool_bm25": ("tool_search_tool_result",),
    "tool_search_tool_regex": ("tool_search_tool_result",),
}
_SERVER_RESULTS = tuple(dict.fromkeys(kind for kinds in _RESULT_OF.values() for kind in kinds))


def check_ids(asked: JudgedRequest) -> None:
    """Ids and names of calls have the characters that they may have."""
    for turn in asked.turns:
        for path, block in turn.of_kind("tool_use"):
            if not _ID.fullmatch(block["id"]):
                raise make_invalid(
                    "String should match pattern '^[a-zA-Z0-9_-]+$'", (*path, "tool_use", "id")
                )
            if not _NAME.fullmatch(block["name"]):
                raise make_invalid(
                    "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
                    (*path, "tool_use", "name"),
                )
        for path, block in turn.of_kind("server_tool_use"):
            if not _SERVER_ID.fullmatch(block["id"]):
                raise make_invalid(
                    "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
                    (*path, "server_tool_use", "id"),
                )
        for path, block in turn.of_kind("tool_result"):
            if not _ID.fullmatch(block["tool_use_id"]):
                raise make_invalid(
                    "String should match pattern '^[a-zA-Z0-9_-]+$'",
                    (*path, "tool_result", "tool_use_id"),
                )


def check_ids_are_unique(asked: JudgedRequest) -> None:
    """No two calls have one id."""
    seen: set[str] = set()
    for turn in asked.turns:
        for path, block in turn.of_kind("tool_use", "server_tool_use"):
            if block["id"] in seen:
                raise make_invalid("`tool_use` ids must be unique", path)
            seen.add(block["id"])


def check_every_call_has_its_result(asked: JudgedRequest) -> None:
    """The message after a call begins with its result."""
    for turn, after in zip(asked.turns, [*asked.turns[1:], None], strict=True):
        called = [block["id"] for _, block in turn.of_kind("tool_use")]
        answered = {read_text(block.get("tool_use_id")) for block in _leading_results(after)}
        missing = [call for call in called if call not in answered]
        if missing:
            raise make_invalid(
                "`tool_use` ids were found without `tool_result` blocks immediately after:"
                f" {', '.join(missing)}. Each `tool_use` block must have a corresponding"
                " `tool_result` block in the next message.",
                turn.path,
            )


def check_results_come_first(asked: JudgedRequest) -> None:
    """Nothing stands before a result in its message."""
    for turn in asked.turns:
        leading = len(_leading_results(turn))
        for path, _ in turn.of_kind("tool_result"):
            if path[-1] >= leading:  # pyright: ignore[reportOperatorIssue]
                raise make_invalid(
                    "`tool_result` blocks must come before all other blocks of a `user` message",
                    path,
                )


def check_every_result_has_its_call(asked: JudgedRequest) -> None:
    """A result names a call of the message right before it."""
    for before, turn in zip([None, *asked.turns], asked.turns, strict=False):
        called = {block["id"] for _, block in before.of_kind("tool_use")} if before else set[str]()
        for path, block in turn.of_kind("tool_result"):
            if block["tool_use_id"] not in called:
                raise make_invalid(
                    "unexpected `tool_use_id` found in `tool_result` blocks:"
                    f" {block['tool_use_id']}. Each `tool_result` block must have a corresponding"
                    " `tool_use` block in the previous message.",
                    path,
                )


def check_one_result_per_call(asked: JudgedRequest) -> None:
    """A call has one result."""
    for turn in asked.turns:
        seen: set[str] = set()
        for path, block in turn.of_kind("tool_result"):
            name = block["tool_use_id"]
            if name in seen:
                raise make_invalid(
                    "each tool_use must have a single result. Found multiple `tool_result` blocks"
                    f" with id: {name}",
                    path,
                )
            seen.add(name)


def check_server_calls(asked: JudgedRequest) -> None:
    """A call of a tool of Anthropic has its result behind it, in the same message.

    Two have none yet: one of an answer that paused, and one whose program waits for a tool.
    """
    waiting: dict[str, Json] = {}
    for turn in asked.turns:
        for path, block in turn.of_kind("server_tool_use", *_SERVER_RESULTS):
            if block["type"] == "server_tool_use":
                waiting[block["id"]] = block
                continue
            call = waiting.pop(block["tool_use_id"], None)
            if call is None or block["type"] not in _RESULT_OF.get(call["name"], _SERVER_RESULTS):
                raise make_invalid(
                    f"unexpected `tool_use_id` found in `{block['type']}` blocks:"
                    f" {block['tool_use_id']}. Each `{block['type']}` block must have a"
                    " corresponding `server_tool_use` block before it.",
                    path,
                )
        if turn.role == "user" or turn is asked.turns[-1]:
            continue
        callers = {
            read_text(block["caller"].get("tool_id"))
            for _, block in turn.of_kind("tool_use")
            if block.get("caller")
        }
        for name, call in waiting.items():
            if name not in callers:
                wanted = _RESULT_OF.get(call["name"], ("tool_result",))[0]
                raise make_invalid(
                    f"`{call['name']}` tool use with id `{name}` was found without a corresponding"
                    f" `{wanted}` block",
                    turn.path,
                )


def _leading_results(turn: Turn | None) -> list[Json]:
    """Return the results that a message begins with."""
    leading: list[Json] = []
    for block in turn.blocks if turn else []:
        if block["type"] != "tool_result":
            break
        leading.append(block)
    return leading
