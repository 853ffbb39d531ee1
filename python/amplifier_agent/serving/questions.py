"""Questions of a session as elicitations of the client whose call they are about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Protocol, cast

import anyio
from mcp.types import ElicitRequestFormParams, ElicitResult

from amplifier_core.approval import (
    ASKED_CALL,
    SESSION_GRANT,
    ApprovalTimeoutError,
    AskedCall,
    note_grant,
    note_parts,
    note_unasked,
    note_words,
)

ONCE, FOR_SESSION = "once", "for this session"
"""How long a yes lasts."""
_GRANT, _DENY = "allow", "deny"
_NOBODY = "the client of this server cannot ask a person"


class Asker(Protocol):
    """The client of a call, as far as it can be asked."""

    @property
    def can_ask(self) -> bool:
        """Whether it can put a form to a person."""
        ...

    async def ask(self, form: ElicitRequestFormParams) -> ElicitResult:
        """Put a form to a person."""
        ...


ASKER: ContextVar[Asker | None] = ContextVar("mcp_asker", default=None)
"""The client whose call runs here."""


class ElicitedApproval:
    """An approval system that asks the person at the client of the call; without one it is no."""

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 - the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask, and return the answer in the form that the kernel reads.

        Raises:
            ApprovalTimeoutError: No answer came within `timeout` seconds.
        """
        asker = ASKER.get()
        if asker is None or not asker.can_ask:
            note_unasked(_NOBODY)
            return _DENY
        call = ASKED_CALL.get()
        answer: ElicitResult | None = None
        with anyio.move_on_after(timeout if 0 < timeout < math.inf else None):
            answer = await asker.ask(make_form(prompt, call))
        if answer is None:
            raise ApprovalTimeoutError(f"no answer in {timeout:.0f} s")
        return _read_answer(answer, call)


def make_form(prompt: str, call: AskedCall | None) -> ElicitRequestFormParams:
    """Return a question as a form: whether, for how long, what of it, and why not."""
    parts = () if call is None else call.parts
    properties: dict[str, Any] = {"allow": {"type": "boolean", "title": "Allow it"}}
    if call is not None and call.offer.for_session:
        properties["lasts"] = {
            "type": "string",
            "title": "How long",
            "enum": [ONCE, FOR_SESSION],
            "default": ONCE,
            **({"description": call.offer.name} if call.offer.name else {}),
        }
    if parts:
        properties["parts"] = _list_parts(parts)
    properties["reason"] = {
        "type": "string",
        "title": "If not, why",
        "description": "The model reads it.",
    }
    schema = {"type": "object", "properties": properties, "required": ["allow"]}
    return ElicitRequestFormParams(message=prompt, requested_schema=schema)


def _list_parts(parts: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "array",
        "title": "Only these",
        "description": "Nothing chosen: all of them.",
        "items": {"type": "string", "enum": list(parts)},
    }


def _read_answer(result: ElicitResult, call: AskedCall | None) -> str:
    content: Mapping[str, Any] = result.content or {}
    parts = () if call is None else call.parts
    chosen: Any = (content.get("parts") if parts else None) or []
    is_known = isinstance(chosen, list) and (not chosen or not set(parts).isdisjoint(chosen))  # pyright: ignore[reportUnknownArgumentType] -- JSON
    if result.action != "accept" or content.get("allow") is not True or not is_known:
        note_words(content.get("reason"))
        return _DENY
    if call is not None and call.offer.for_session and content.get("lasts") == FOR_SESSION:
        note_grant(SESSION_GRANT)
    if chosen:
        note_parts(cast("list[str]", chosen))
        note_words(content.get("reason"))
    return _GRANT
