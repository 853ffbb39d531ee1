"""The registered handlers of an event, and the judgement over it, made of their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from .._hook_result import ContextInjection, HookResult
from ..approval import note_asker
from .hook_answer import Answer, Notice, make_continue, project_injections
from .payload import Payload


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """One handler of one event."""

    serial: int
    """Unique within its registry, growing with time."""
    priority: int
    """Lower runs first."""
    name: str
    handler: Callable[[str, Any], Any]
    fail_closed: bool
    """Whether a failure denies; otherwise the handler is skipped."""
    timeout: float | None
    """Seconds that an asynchronous handler may take; over them, it has failed."""
    is_observer: bool = False
    """Whether its answers are ignored, and it sees denied events too."""


@final
class Unregister:
    """Unregisters exactly the registration that returned it; calling it again does nothing."""

    def __init__(self, registered: list[Registration], registration: Registration) -> None:
        self._registered, self._registration = registered, registration

    def __call__(self) -> None:
        """Take the registration out."""
        try:
            self._registered.remove(self._registration)
        except ValueError:  # gone already
            return

    def __repr__(self) -> str:
        """Show the name of the registration."""
        return f"<unregister '{self._registration.name}'>"


class Dispatch:
    """The combined answer: the first deny, else the first question, else all injections."""

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        """What the next handler gets."""
        self._asked: HookResult | None = None
        self._injecting: list[HookResult] = []
        self._items: list[ContextInjection] = []
        self._is_modified = False
        self._notice = Notice()

    def accept(self, event: str, name: str, answer: Answer) -> None:
        """Take the answer of the handler `name` to `event`, any but a deny, which ends it all."""
        if answer.action != "ask_user":
            self._notice.add(answer.result)
        if answer.payload is not None:
            self.payload, self._is_modified = answer.payload, True
        elif answer.action == "ask_user":
            note_asker(answer.result, name)
            self._asked = self._asked or answer.result
        elif answer.action == "inject_context":
            self._injecting.append(answer.result)
            # The kernel says where an injection comes from: an item cannot forge it.
            origin = {"hook_name": name, "event": event}
            self._items += [item.model_copy(update=origin) for item in answer.items]

    def finish(self) -> HookResult:
        """Return the event's result."""
        if self._asked is not None:
            return self._add_payload(self._asked)
        if not self._injecting:
            return self._notice.add_to(make_continue(self.payload.result()))
        return self._notice.add_to(self._add_payload(self._build_injection()))

    def _build_injection(self) -> HookResult:
        first = self._injecting[0]
        fields = project_injections(self._items)
        if len(self._injecting) == 1:
            return first.model_copy(update=fields)
        # Of several, only the first decides about the output and the message to the user.
        return HookResult(
            action="inject_context",
            suppress_output=first.suppress_output,
            user_message=first.user_message,
            user_message_level=first.user_message_level,
            **fields,
        )

    def _add_payload(self, result: HookResult) -> HookResult:
        """Add the payload that a handler replaced, unless the result has data of its own."""
        if not self._is_modified or result.data is not None:
            return result
        return result.model_copy(update={"data": self.payload.result()})
