"""Which events of a session its journal has, and where the session waits until they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from amplifier_core.events import (
    EXECUTION_START,
    LLM_POST,
    ORCHESTRATOR_COMPLETE,
    PROVIDER_REQUEST,
)
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    SESSION_STORED_HISTORY,
    TURN_GOES_ON,
)

from ..contexts.history_events import CONTEXT_MESSAGE, CONTEXT_REPLACED, STEERING
from ..loops.boundary.call_context import TOOL_RESULT, TOOL_START
from ..loops.turn_report import AWAITING_APPROVAL
from ..running.session_bound import session_bound
from .errors import StoreError
from .journal import Journal
from .kept_todos import KeptTodos
from .restoring import answer_open_calls, list_states
from .stored_history import PUT_ASIDE, StoredHistory

_LAST = 2**31 - 2
"""The priority of what comes behind all that decide, and before who only shows what was allowed."""
_NAME = "store"
_TITLE_CHARS = 200

_KEPT: dict[str, tuple[str, ...]] = {
    CONTEXT_MESSAGE: ("number", "index", "source", "message"),
    CONTEXT_REPLACED: ("number", "messages_removed", "count"),
    LLM_POST: (
        "provider",
        "model",
        "purpose",
        "iteration",
        "usage",
        "finish_reason",
        "status",
        "timestamp",
    ),
    TOOL_RESULT: ("tool_call_id", "message", "timestamp"),
    ORCHESTRATOR_COMPLETE: ("status", "reason", "timestamp"),
}
"""What is stored of an event without which a session could not go on."""


class Recording:
    """The handlers that write the events of a session to its journal."""

    def __init__(self, journal: Journal, coordinator: Any) -> None:
        """Write to this journal."""
        self._journal = journal
        self._coordinator = coordinator
        self._todos = KeptTodos(coordinator)
        texts = getattr(coordinator.get("context"), "stored_texts", None)
        self._texts: set[str] = set() if texts is None else set(texts.list_ids())
        """The ids of the texts that the journal has."""

    def register(self) -> Callable[[], None]:
        """Register the handlers behind all others, as what they see was allowed; return the end."""
        hooks = self._coordinator.hooks
        noting = dict.fromkeys(_KEPT, self._note) | {EXECUTION_START: self._note_turn}
        holding = {PROVIDER_REQUEST: self._hold_request, TOOL_START: self._hold_tool}
        ends = [hooks.register(event, note, _LAST, _NAME) for event, note in noting.items()]
        ends += [
            hooks.register(event, hold, _LAST, _NAME, fail_closed=True)
            for event, hold in holding.items()
        ]
        ends.append(self._journal.watch(self._describe_states))

        def unregister() -> None:
            for end in ends:
                end()

        return unregister

    def _describe_states(self) -> Iterator[tuple[str, Any]]:
        coordinator = self._coordinator
        yield self._todos.kind, self._todos.describe()
        tools: Mapping[str, Any] = coordinator.get("tools") or {}
        modules = (coordinator.get("context"), coordinator.get("orchestrator"), *tools.values())
        for module in modules:
            for state in list_states(module, coordinator):
                yield state.kind, state.describe()
        policy: Any = None if coordinator.parent_id else coordinator.get_capability(APPROVAL_POLICY)
        if policy is not None and callable(getattr(policy, "describe", None)):
            yield policy.kind, policy.describe()

    @session_bound
    def _note(self, event: str, data: dict[str, Any]) -> None:
        if event == CONTEXT_MESSAGE:
            self._note_texts()
        elif event == ORCHESTRATOR_COMPLETE:
            # So that a fork that ends here has the states of the whole turn.
            self._journal.note_changes()
            if data.get("status") != AWAITING_APPROVAL:
                self._journal.questions.clear()
                self._journal.tasks.clear()
                self._journal.forget_steps()
        elif event == TOOL_RESULT:
            self._journal.questions.forget(str(data.get("tool_call_id")))
            self._journal.tasks.forget(str(data.get("tool_call_id")))
            self._journal.forget_steps(str(data.get("tool_call_id")))
        is_steering = event == CONTEXT_MESSAGE and data.get("source") == STEERING
        done = self._journal.inbox.take_used() if is_steering else ()
        self._journal.note(event, {name: data[name] for name in _KEPT[event] if name in data}, done)

    def _note_texts(self) -> None:
        """Take note of the texts that were put aside since the last message."""
        texts = getattr(self._coordinator.get("context"), "stored_texts", None)
        if texts is None or texts.is_empty():
            return
        for id in texts.list_ids():
            if id not in self._texts and (text := texts.get(id)) is not None:
                self._journal.note(PUT_ASIDE, text)
                self._texts.add(id)

    @session_bound
    async def _note_turn(self, event: str, data: dict[str, Any]) -> None:
        history: StoredHistory | None = self._coordinator.get_capability(SESSION_STORED_HISTORY)
        goes_on = self._coordinator.get_capability(TURN_GOES_ON) is True
        self._journal.begin_turn()
        if history is not None:
            history.prompt = None
            if not goes_on:
                history.take_turn()
                self._journal.questions.clear()
                self._journal.tasks.clear()
                self._journal.forget_steps()
                await answer_open_calls(self._coordinator.get("context"), history)
        # So that the states at the beginning of a turn are those of the events before it.
        self._journal.note_changes()
        prompt = data.get("prompt")
        body = {"prompt": prompt, **({"goes_on": True} if goes_on else {})}
        body["timestamp"] = data.get("timestamp")
        begun = self._journal.inbox.take_begun()
        if begun:
            body["entry"] = begun[0]
        self._journal.turn = self._journal.note(event, body, begun)
        if not goes_on:
            self._journal.turn_began = self._journal.turn
        if isinstance(prompt, str):
            self._journal.set_title(" ".join(prompt[:_TITLE_CHARS].split()))

    @session_bound
    async def _hold_request(self, event: str, data: dict[str, Any]) -> HookResult | None:
        del event, data
        return None if self._journal.awaits_requests else await self._flush()

    @session_bound
    async def _hold_tool(self, event: str, data: dict[str, Any]) -> HookResult | None:
        del event
        names = ("tool_call_id", "tool_name", "tool_input", "timestamp")
        body = {name: data.get(name) for name in names}
        goes_on = data.get("goes_on") is True
        self._journal.note_start(
            str(data.get("tool_call_id")), {**body, **({"goes_on": True} if goes_on else {})}
        )
        if not goes_on:
            self._journal.questions.forget(str(data.get("tool_call_id")))
        return await self._flush()

    async def _flush(self) -> HookResult | None:
        try:
            await self._journal.flush()
        except StoreError as error:
            return HookResult(action="deny", reason=str(error))
        return None
