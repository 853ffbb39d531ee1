"""Rules for the order and the texts of messages."""

from __future__ import annotations

from ..serving.reading import read_items, read_text
from .judged_request import JudgedRequest, Turn
from .refusals import make_invalid
from .shapes import TEXT_BLOCKS, as_object, check_tagged

_EMPTY = "text content blocks must be non-empty"
_ONLY_USER = ("image", "document", "search_result", "tool_result", "container_upload")
_SERVER_BLOCKS = ("server_tool_use", "mcp_tool_use")


def check_some_message(asked: JudgedRequest) -> None:
    """There is a message."""
    if not asked.turns:
        raise make_invalid("messages: at least one message is required")


def check_first_role(asked: JudgedRequest) -> None:
    """The first message is the user's."""
    if asked.turns[0].role != "user":
        raise make_invalid('messages: first message must use the "user" role')


def check_alternation(asked: JudgedRequest) -> None:
    """The roles alternate. The API joins equal ones in silence; a client should not rely on it."""
    for before, turn in zip(asked.turns, asked.turns[1:], strict=False):
        if asked.alternation and turn.role == before.role:
            raise make_invalid(
                'messages: roles must alternate between "user" and "assistant", but found multiple'
                f' "{turn.role}" roles in a row'
            )


def check_content(asked: JudgedRequest) -> None:
    """Every message but a final one of the assistant says something."""
    for turn in asked.turns:
        is_final = turn is asked.turns[-1] and turn.role == "assistant"
        is_empty = not turn.blocks or (turn.is_string and not turn.blocks[0]["text"])
        if is_empty and not is_final:
            raise make_invalid(
                f"messages.{turn.index}: all messages must have non-empty content except for the"
                " optional final assistant message"
            )


def check_texts(asked: JudgedRequest) -> None:
    """No text block is empty or blank."""
    for turn in asked.turns:
        for _, block in turn.of_kind("text"):
            if not block["text"] and not turn.is_string:
                raise make_invalid(f"messages: {_EMPTY}")
            if block["text"] and not block["text"].strip():
                raise make_invalid("messages: text content blocks must contain non-whitespace text")


def check_final_text(asked: JudgedRequest) -> None:
    """The beginning of an answer does not end in whitespace."""
    last = asked.turns[-1]
    if last.role == "assistant" and last.blocks:
        final = last.blocks[-1]
        if final["type"] == "text" and final["text"] != final["text"].rstrip():
            raise make_invalid(
                "messages: final assistant content cannot end with trailing whitespace"
            )


def check_prefill(asked: JudgedRequest) -> None:
    """Only some models take the beginning of an answer; all go on with a paused one."""
    last = asked.turns[-1]
    if last.role == "assistant" and not asked.model.prefill and not is_paused(last):
        raise make_invalid(
            "This model does not support assistant message prefill. The conversation must end with"
            " a user message."
        )


def is_paused(turn: Turn) -> bool:
    """Return whether an answer can be one that stopped with `pause_turn`."""
    return turn.has_block(*_SERVER_BLOCKS)


def check_roles_of_blocks(asked: JudgedRequest) -> None:
    """Each block is in a message of a role that can have it."""
    for turn in asked.turns:
        for path, block in turn.of_kind(*(block["type"] for block in turn.blocks)):
            kind = block["type"]
            if kind == "text" or (kind in _ONLY_USER) == (turn.role == "user"):
                continue
            owner = "user" if kind in _ONLY_USER else "assistant"
            raise make_invalid(f"`{kind}` blocks can only be in `{owner}` messages", path)


def check_system(asked: JudgedRequest) -> None:
    """`system` is a text or text blocks, none of them empty."""
    for index, block in enumerate(read_items(asked.body.get("system"))):
        path = ("system", index)
        given = as_object(block, path)
        check_tagged(given, TEXT_BLOCKS, path, deeper=False)
        if not read_text(given["text"]):
            raise make_invalid(f"system: {_EMPTY}")
        if not given["text"].strip():
            raise make_invalid("system: text content blocks must contain non-whitespace text")
