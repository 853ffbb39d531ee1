"""Rules for the thoughts that come back."""

from __future__ import annotations

from ..serving.reading import read_text
from .judged_request import JudgedRequest
from .refusals import make_invalid

_THOUGHTS = ("thinking", "redacted_thinking")
_FIRST = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    " (preceding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include"
    " thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
)


def check_signatures(asked: JudgedRequest) -> None:
    """Each thought is one that the server signed, to the letter."""
    for turn in asked.turns:
        for path, block in turn.of_kind(*_THOUGHTS):
            kind = block["type"]
            if kind == "thinking":
                of, signature, field = block["thinking"], block["signature"], "signature"
            else:
                of, signature, field = "", block["data"], "data"
            issued = asked.issued
            is_known = bool(signature) if issued is None else _is_issued(asked, of, signature, kind)
            if not is_known:
                raise make_invalid(f"Invalid `{field}` in `{kind}` block", path)


def _is_issued(asked: JudgedRequest, thinking: str, signature: str, kind: str) -> bool:
    issued = asked.issued
    assert issued is not None
    if kind == "thinking":
        return issued.is_signed(thinking, signature)
    hidden, _, proof = signature.rpartition(".")
    return issued.is_signed(REDACTED + hidden, proof) or issued.is_signed(REDACTED, signature)


REDACTED = "redacted\0"
"""What stands before hidden thoughts in the text that is signed."""


def check_thoughts_come_first(asked: JudgedRequest) -> None:
    """With a budget for thinking, the turn in progress begins with a thought."""
    if asked.thinking != "enabled":
        return
    answers = [turn for turn in asked.loop if turn.role == "assistant"]
    if answers and answers[0].blocks and answers[0].blocks[0]["type"] not in _THOUGHTS:
        found = answers[0].blocks[0]["type"]
        raise make_invalid(
            f"Expected `thinking` or `redacted_thinking`, but found `{found}`. {_FIRST}",
            (*answers[0].path, "content", 0, "type"),
        )


def check_thoughts_are_kept(asked: JudgedRequest) -> None:
    """In the turn in progress, no thought is left out or moved."""
    if asked.sent is None:
        return
    for turn in asked.loop:
        is_off = asked.thinking in {"", "disabled"} and "disabled" in asked.model.thinking
        if turn.role == "user" or (is_off and not turn.has_block(*_THOUGHTS)):
            continue
        if not asked.sent.are_thoughts_kept(read_text(asked.body["model"]), turn.blocks):
            raise make_invalid(
                "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be"
                " modified. These blocks must remain as they were in the original response.",
                turn.path,
            )
