"""Rules for the reasoning that comes back."""

from __future__ import annotations

from ..openai.refusals import make_invalid
from ..serving.reading import Json, read_text
from ..serving.refusal import Refusal, RefusedError
from .judged_request import JudgedRequest
from .stored import identify_item

_OUTPUT = (
    "function_call",
    "custom_tool_call",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "tool_search_call",
    "reasoning",
    "compaction",
)


def check_encrypted_content(asked: JudgedRequest) -> None:
    """Reasoning is the server's own: its encrypted content to the letter, or stored here."""
    for _, item in asked.of_kind("reasoning"):
        name, encrypted = item["id"], item.get("encrypted_content")
        if encrypted is None:
            if not asked.is_stored or name not in asked.stored.ids:
                raise RefusedError(_not_found(name))
        elif asked.issued is not None and not _is_issued(asked, name, encrypted):
            raise make_invalid(
                f"The encrypted content for item {name} could not be verified. Reason: Encrypted"
                " content could not be decrypted or parsed.",
                None,
                "invalid_encrypted_content",
            )
    for _, item in asked.of_kind("item_reference"):
        if item["id"] not in asked.stored.ids:
            raise RefusedError(_not_found(item["id"]))


def _is_issued(asked: JudgedRequest, name: str, encrypted: str) -> bool:
    assert asked.issued is not None
    hidden, _, proof = encrypted.rpartition(".")
    return asked.issued.is_signed(f"{name}\0{hidden}", proof) or asked.issued.is_signed(
        name, encrypted
    )


def _not_found(name: str) -> Refusal:
    return Refusal(
        404,
        "invalid_request_error",
        f"Item with id '{name}' not found. Items are not persisted when `store` is set to false."
        " Try again with `store` set to true, or remove this item from your input.",
        "input",
    )


def check_following_item(asked: JudgedRequest) -> None:
    """Behind reasoning comes the item that it led to."""
    following: list[Json | None] = [*asked.input[1:], None]
    for item, after in zip(asked.input, following, strict=True):
        if item["type"] != "reasoning":
            continue
        expected = asked.stored.followers.get(item["id"])
        is_other = expected is not None and identify_item(after or {}) != expected
        if after is None or not _is_output(after) or is_other:
            raise make_invalid(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                " following item.",
                "input",
            )


def _is_output(item: Json) -> bool:
    if item["type"] == "message":
        return item["role"] == "assistant"
    return item["type"] in _OUTPUT


def check_reasoning_before(asked: JudgedRequest) -> None:
    """An item that is named by its id has the reasoning before it that led to it."""
    before: Json = {}
    for item in asked.input:
        name = read_text(item.get("id"))
        needed = asked.stored.reasons.get(name)
        if needed is not None and before.get("id") != needed:
            raise make_invalid(
                f"Item '{name}' of type '{item['type']}' was provided without its required"
                f" 'reasoning' item: '{needed}'.",
                "input",
            )
        before = item
