"""How the kernel asks a person for permission: approval systems, the question and its answer.

There are two protocols of an approval system, which differ in the parameters of `request_approval`:
`ApprovalSystem` takes a prompt, options, seconds and a default; `ApprovalProvider` takes one
`ApprovalRequest`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, Protocol, TypeAlias, cast

from .event_loop import is_awaitable

logger = logging.getLogger("amplifier_core.coordinator")

_ASKED_BY = "_asked_by"
_UNNAMED = "_auto_"
_REQUEST = "request"
"""The stand-in for an argument, where only their number counts."""


class ApprovalTimeoutError(Exception):
    """No answer in time; the default of the request applies."""


class ApprovalSystem(Protocol):
    """An application's way of asking its user."""

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 (applications are given it by position)
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask and return the option that was chosen.

        Args:
            prompt: The question.
            options: The answers to choose from.
            timeout: Seconds to wait for an answer.
            default: What the kernel does without an answer.

        Raises:
            ApprovalTimeoutError: There was no answer in time.
        """
        ...


ProtocolName: TypeAlias = Literal["system", "provider"]
"""Which of the two protocols an object has."""


def protocol_of(approval: Any) -> ProtocolName | None:
    """Return the protocol of an approval system; None if it has neither.

    What has no signature that can be read counts as an `ApprovalSystem`.
    """
    method: Any = getattr(approval, "request_approval", None)
    if not callable(method):
        return None
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return "system"
    if _can_take(signature, 4):
        return "system"
    return "provider" if _can_take(signature, 1) else None


def find_approval_mistake(approval: Any) -> str | None:
    """Return what is wrong with an approval system; None if it can be asked."""
    if approval is None or protocol_of(approval) is not None:
        return None
    name = type(approval).__name__
    if not callable(getattr(approval, "request_approval", None)):
        return (
            f"the approval system `{name}` cannot be asked: it has no method `request_approval` "
            "(see `ApprovalSystem` and `ApprovalProvider`)"
        )
    return (
        f"the approval system `{name}` cannot be asked: its `request_approval` takes neither "
        "`(prompt, options, timeout, default)` nor `(request)`"
    )


def ask(
    approval: Any,
    prompt: str,
    options: list[str],
    timeout: float,
    default: str,
    hook_name: str,
    event: str,
) -> Any:
    """Ask for approval; the answer, or what it is awaited from, is one of the options."""
    if protocol_of(approval) != "provider":
        if not any(map(is_consent, options)):
            logger.warning(
                "none of the options `%s` of hook `%s` is a known word of consent; each denies",
                "`, `".join(options),
                hook_name,
            )
        return approval.request_approval(prompt, options, timeout, default)
    from .models import ApprovalRequest

    call = ASKED_CALL.get()
    request = ApprovalRequest(
        tool_name="" if call is None else call.tool_name,
        action=prompt,
        details={"hook": hook_name, "event": event, "options": options},
        risk_level="medium",
        timeout=timeout if 0 < timeout < float("inf") else None,
    )
    return _await_option(approval.request_approval(request))


async def _await_option(response: Any) -> str:
    """Wait for the response of an `ApprovalProvider` and return it as an option."""
    if is_awaitable(response):
        response = await response
    approved: object = getattr(response, "approved", None)
    if not isinstance(approved, bool):
        found = type(response).__name__
        raise TypeError(f"the approval provider must answer an `ApprovalResponse`, not `{found}`")
    if not approved:
        note_words(getattr(response, "reason", None))
    else:
        if getattr(response, "remember", False) is True:
            note_grant(SESSION_GRANT)
        if (parts := getattr(response, "parts", None)) is not None:
            note_parts(parts)
            note_words(getattr(response, "reason", None))
    return "allow" if approved else "deny"


def _can_take(signature: inspect.Signature, count: int) -> bool:
    """Whether a function can be called with so many arguments by position."""
    try:
        signature.bind(*[_REQUEST] * count)
    except TypeError:
        return False
    return True


def note_asker(result: Any, name: str) -> None:
    """Remember the hook that asks a question, if it was registered with a name."""
    fields = getattr(result, "__dict__", None)
    if isinstance(fields, dict) and not name.startswith(_UNNAMED):
        fields[_ASKED_BY] = name


def asker(result: Any) -> str | None:
    """Return the hook that asks a question, if it was registered with a name."""
    fields = getattr(result, "__dict__", None)
    name = cast("dict[str, object]", fields).get(_ASKED_BY) if isinstance(fields, dict) else None
    return name if isinstance(name, str) else None


@dataclass
class Reply:
    """What is known of an answer beside whether it grants."""

    words: str = ""
    """What whoever denied says to the model, or agreed to some parts alone."""
    unasked: str = ""
    """Why nobody was asked, where that is why it is denied."""
    is_late: bool = False
    """Whether there was none in time."""
    has_failed: bool = False
    """Whether whoever was to be asked has failed."""
    is_put_off: bool = False
    """Whether the question waits for an answer after the turn has ended."""
    grant: str = ""
    """What is granted beyond the call: `SESSION_GRANT`, or a rule; empty for this once."""
    parts: tuple[str, ...] | None = None
    """Which parts of what is asked about are granted; None for all."""

    @property
    def is_missing(self) -> bool:
        """Whether nobody has answered."""
        return bool(self.is_late or self.unasked or self.has_failed)


SESSION_GRANT = "session"
"""The grant of a tool until its session is closed."""


@dataclass(frozen=True)
class Offer:
    """What whoever answers may grant beyond the call."""

    for_session: bool = False
    """Whether the tool, or what has a name here, can be granted until its session is closed."""
    rule: str | None = None
    """A rule that can be granted, or changed first; None for none."""
    kept_in: str = ""
    """The file that a rule goes into; empty where it counts in the session alone."""
    name: str = ""
    """What can be granted for the session; empty for the tool."""


def _refuse_rule(_rule: str) -> str | None:
    return "no rules are kept here"


@dataclass(frozen=True)
class AskedCall:
    """The tool call that a person is being asked about, with all its arguments."""

    question_id: str
    tool_name: str
    """Empty where no tool is asked about."""
    arguments: dict[str, Any]
    call_id: str = ""
    """The id of the call; empty where the question is not whether it may run."""
    keeper: Any = None
    """The journal that has the question, so that another process can go on with it; None for none."""
    effect: str = ""
    """What the call does, as far as that is known."""
    offer: Offer = Offer()
    """What may be granted beyond the call."""
    check_rule: Callable[[str], str | None] = _refuse_rule
    """Returns why a rule cannot be granted with the answer; None if it can."""
    parts: tuple[str, ...] = ()
    """What of it can be granted alone, by names; empty where it is all or nothing."""
    reply: Reply = field(default_factory=Reply)


ASKED_CALL: ContextVar[AskedCall | None] = ContextVar("asked_call", default=None)
"""Set by a loop while the kernel asks."""


def note_words(words: object) -> None:
    """Remember what whoever denies says to the model; what is no text says nothing."""
    call = ASKED_CALL.get()
    if call is not None and isinstance(words, str):
        call.reply.words = words.strip()


def note_grant(grant: str) -> None:
    """Remember what whoever agrees grants beyond the call."""
    call = ASKED_CALL.get()
    if call is not None:
        call.reply.grant = grant


def note_parts(parts: object) -> None:
    """Remember which parts whoever agrees grants; what is no list of names of parts grants all."""
    call = ASKED_CALL.get()
    if call is not None and isinstance(parts, list | tuple):
        granted = set(cast("Sequence[object]", parts))
        call.reply.parts = tuple(each for each in call.parts if each in granted)


def note_unasked(reason: str) -> None:
    """Remember that a denial is nobody's answer: the question could not be put to anyone."""
    call = ASKED_CALL.get()
    if call is not None:
        call.reply.unasked = reason


def put_off() -> bool:
    """Let the question that is being asked wait beyond the turn; whether it can."""
    call = ASKED_CALL.get()
    if call is None or call.keeper is None:
        return False
    call.reply.is_put_off = True
    return True


def note_timeout() -> None:
    """Remember that nobody answered in time."""
    call = ASKED_CALL.get()
    if call is not None:
        call.reply.is_late = True


ALWAYS_READ = frozenset({"allow", "allow once", "allow always"})
"""Answers that grant whatever options were offered."""

CONSENT = ALWAYS_READ | {
    "accept",
    "approve",
    "confirm",
    "continue",
    "grant",
    "ok",
    "okay",
    "proceed",
    "y",
    "yes",
}
"""What an option must say to grant, apart from the marks around it.

English alone: the same letters mean something else in another language.
"""

MARKS = (
    (0x09, 0x09), (0x20, 0x20), (0x22, 0x40), (0x5B, 0x60), (0x7B, 0x7D), (0xA0, 0xA0),
    (0xA7, 0xA7), (0xAB, 0xAB), (0xB2, 0xB3), (0xB6, 0xB7), (0xB9, 0xB9), (0xBB, 0xBB),
    (0x2002, 0x200A), (0x2010, 0x2027), (0x2039, 0x203A), (0x2070, 0x2070), (0x2074, 0x2079),
    (0x2080, 0x2089), (0x20E3, 0x20E3), (0x2190, 0x2199), (0x21D2, 0x21D2), (0x2460, 0x249B),
    (0x2500, 0x2570), (0x2574, 0x2611), (0x2614, 0x261F), (0x2622, 0x26D1), (0x26D3, 0x26D3),
    (0x26D5, 0x26DC), (0x26DE, 0x2714), (0x2719, 0x274B), (0x274D, 0x274D), (0x274F, 0x27BF), (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x3000, 0x3002), (0x3008, 0x3011), (0x3014, 0x301B),
    (0xFE0E, 0xFE0F), (0xFF08, 0xFF09), (0xFF0C, 0xFF0E), (0xFF10, 0xFF1B), (0xFF3B, 0xFF3B),
    (0xFF3D, 0xFF3D), (0x1F300, 0x1F44D), (0x1F44F, 0x1F4F4), (0x1F4F6, 0x1F506),
    (0x1F508, 0x1F514), (0x1F516, 0x1F51D), (0x1F51F, 0x1F53D), (0x1F600, 0x1F644),
    (0x1F680, 0x1F6AA), (0x1F7E0, 0x1F7EB),
)  # fmt: skip
"""Blanks, brackets, digits, punctuation and pictures that may surround the words of an option.

Ranges of code points. Signs of negation are none of them.
"""

_MARKS = "".join(chr(code) for first, last in MARKS for code in range(first, last + 1))
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def option_words(option: str) -> str:
    """Return what an option says: without marks around it, ASCII letters in lower case."""
    return option.lstrip(_MARKS).rstrip(f"{_MARKS}!").translate(_LOWER)


def is_consent(option: str) -> bool:
    """Whether an option is a known word of consent, apart from the marks around it."""
    return option_words(option) in CONSENT


def read_approval(
    decision: str, options: Sequence[str]
) -> Literal["granted", "denied", "unexpected"]:
    """Read the decision of an approval system.

    `allow`, `allow once` and `allow always` always grant; so does another option that was offered
    and is consent. Everything else denies.
    """
    answer = decision.translate(_LOWER)
    if answer in ALWAYS_READ:
        return "granted"
    if answer not in {option.translate(_LOWER) for option in options}:
        return "denied" if answer == "deny" else "unexpected"
    return "granted" if is_consent(decision) else "denied"


def clip_prompt(prompt: str) -> str:
    """Cut a long prompt for a reason or a log line."""
    return prompt if len(prompt) <= 200 else f"{prompt[:200]}...[truncated]"
