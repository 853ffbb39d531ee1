"""The rules of the Messages API, checked as the real one checks them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, cast

from .readings import blocks, items, mapping, text, whole

_ID = re.compile(r"[a-zA-Z0-9_-]+")
MIN_BUDGET_TOKENS = 1_024

IsSigned = Callable[[str, str], bool]
"""Whether a signature belongs to a thinking text."""


class ApiError(Exception):
    """An answer of the API that is an error."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        """Keep the HTTP status, the error type of the API and what went wrong."""
        super().__init__(message)
        self.status = status
        self.kind = kind


def parse_body(raw: bytes) -> dict[str, Any]:
    """Parse the body of a request.

    Raises:
        ApiError: It is not a JSON object.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise _invalid("The request body is not valid JSON") from None
    if not isinstance(body, dict):
        raise _invalid("The request body is not a JSON object")
    return cast("dict[str, Any]", body)


def check_request(body: dict[str, Any], is_signed: IsSigned) -> None:
    """Check a request for a message.

    Args:
        body: The parsed body.
        is_signed: Whether a signature belongs to a thinking text.

    Raises:
        ApiError: A rule is broken; the message names the place.
    """
    if not text(body.get("model")):
        raise _invalid("model: Field required")
    most = whole(body.get("max_tokens"))
    if most is None:
        raise _invalid("max_tokens: Field required")
    if most < 1:
        raise _invalid("max_tokens: must be at least 1")
    _check_thinking(body, most)
    names = [text(mapping(tool).get("name")) for tool in items(body.get("tools"))]
    if not all(names):
        raise _invalid("tools: each tool needs a name")
    if len(set(names)) < len(names):
        raise _invalid("tools: Tool names must be unique")
    if body.get("tool_choice") is not None and not names:
        raise _invalid("tool_choice: may only be given together with tools")
    messages = [mapping(message) for message in items(body.get("messages"))]
    if not messages:
        raise _invalid("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_message(f"messages.{index}", message, is_signed)
    if messages[0]["role"] != "user":
        raise _invalid("messages: the first message must use the user role")
    _check_pairs(messages)


def _check_thinking(body: dict[str, Any], most: int) -> None:
    thinking = mapping(body.get("thinking"))
    if thinking.get("type") not in {None, "enabled", "adaptive", "disabled", "between_tools"}:
        raise _invalid(f"thinking.type: unknown type `{thinking['type']}`")
    if thinking.get("type") != "enabled":
        return
    budget = whole(thinking.get("budget_tokens"))
    if budget is None or budget < MIN_BUDGET_TOKENS:
        raise _invalid(f"thinking.budget_tokens: must be at least {MIN_BUDGET_TOKENS}")
    if budget >= most:
        raise _invalid("max_tokens must be greater than thinking.budget_tokens")
    if body.get("temperature", 1) != 1:
        raise _invalid("temperature may only be set to 1 when thinking is enabled")
    if mapping(body.get("tool_choice")).get("type") in {"any", "tool"}:
        raise _invalid("Thinking may not be enabled when tool_choice forces tool use")


def _check_message(place: str, message: dict[str, Any], is_signed: IsSigned) -> None:
    role = message.get("role")
    if role not in {"user", "assistant"}:
        raise _invalid(f"{place}.role: must be `user` or `assistant`, found `{role}`")
    content = blocks(message.get("content"))
    if not content:
        raise _invalid(f"{place}: content must not be empty")
    for index, block in enumerate(content):
        here = f"{place}.content.{index}"
        match block.get("type"), role:
            case "text", _:
                if not text(block.get("text")).strip():
                    raise _invalid(f"{here}: text content blocks must be non-empty")
            case "thinking", "assistant":
                if not is_signed(text(block.get("thinking")), text(block.get("signature"))):
                    raise _invalid(f"{here}: Invalid `signature` in `thinking` block")
            case "tool_use", "assistant":
                if not _ID.fullmatch(text(block.get("id"))) or not text(block.get("name")):
                    raise _invalid(f"{here}: a `tool_use` block needs a name and a valid id")
            case ("redacted_thinking", "assistant") | ("tool_result" | "image", "user"):
                pass
            case kind, _:
                raise _invalid(f"{here}: a `{role}` message cannot hold a `{kind}` block")


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Check that each tool call has its result in the message right after it, and none else."""
    waiting: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        content = blocks(message["content"])
        results = [text(b.get("tool_use_id")) for b in content if b["type"] == "tool_result"]
        if missing := [call for call in waiting if call not in results]:
            raise _invalid(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks"
                f" immediately after: {', '.join(missing)}"
            )
        for result in results:
            if result not in waiting:
                raise _invalid(f"messages.{index}: unexpected `tool_use_id` found: {result}")
        waiting = [text(b.get("id")) for b in content if b["type"] == "tool_use"]
        if seen.intersection(waiting) or len(set(waiting)) < len(waiting):
            raise _invalid(f"messages.{index}: `tool_use` ids must be unique")
        seen.update(waiting)
    if waiting:
        raise _invalid(
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result`"
            f" blocks immediately after: {', '.join(waiting)}"
        )


def _invalid(message: str) -> ApiError:
    return ApiError(400, "invalid_request_error", message)
