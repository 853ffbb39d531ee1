"""The hooks of sessions, prompts, requests and answers, and the handlers of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio

from amplifier_core.events import (
    APPROVAL_REQUIRED,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    PROVIDER_RESPONSE,
    SESSION_END,
    SESSION_RESUME,
    SESSION_START,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import SESSION_STEER
from amplifier_modules.loops.steering import STEERING_SUBMITTED

from .call_hooks import CallHooks
from .event_runs import EventRuns

NAME = "hooks-shell"
LATE = 990_000
"""The priority of its handlers: behind the hooks of a program, before the approvals and the guard."""
_TASK_START = "task:start"
_CALL_START = "agent:tool_call_start"
_MAX_STOPS = 8
"""How often a turn goes on because hooks of `Stop` want it to."""
_SECONDS_AT_END = 10.0
_JUDGING = frozenset({PROMPT_SUBMIT, PROVIDER_REQUEST, STEERING_SUBMITTED, TOOL_PRE})


class ShellHooks:
    """The handlers of a session and of its sub-agents."""

    def __init__(self, runs: EventRuns) -> None:
        """Run hooks by these runs."""
        self._runs = runs
        self._calls = CallHooks(runs)

    def register(self) -> Callable[[], None]:
        """Register the handlers; call what is returned to unregister them."""
        registry = self._runs.find_coordinator().hooks
        registered = [
            registry.register(
                event, handler, priority=priority, name=NAME, fail_closed=event in _JUDGING
            )
            for event, handler, priority in self._list_handlers()
        ]

        def unregister() -> None:
            for each in registered:
                each()

        return unregister

    def _list_handlers(self) -> list[tuple[str, Any, int]]:
        calls = self._calls
        stops = {"Stop", "SubagentStop"}
        listed: list[tuple[str, Any, int, set[str]]] = [
            (PROMPT_SUBMIT, self.judge_prompt, LATE, {*self._runs.events}),
            (STEERING_SUBMITTED, self.judge_steering, LATE, {"UserPromptSubmit"}),
            (TOOL_PRE, calls.judge_call, LATE, {"PreToolUse"}),
            (TOOL_PRE, calls.ask_about_call, LATE + 1, {"PreToolUse"}),
            (TOOL_POST, calls.note_result, LATE, {"PostToolUse", "PostToolUseFailure"}),
            (TOOL_ERROR, calls.note_failure, LATE, {"PostToolUseFailure"}),
            (PROVIDER_REQUEST, self.judge_request, LATE, {*self._runs.events}),
            (PROVIDER_RESPONSE, self.note_response, LATE, stops),
            (_CALL_START, self.note_tagged_call, LATE, stops),
            (SESSION_START, self.note_start, LATE, {"SessionStart"}),
            (SESSION_RESUME, self.note_start, LATE, {"SessionStart"}),
            (APPROVAL_REQUIRED, self.note_question, LATE, {"Notification"}),
            (_TASK_START, self.note_task, LATE, {"SubagentStart"}),
            (SESSION_END, self.note_end, LATE, {*self._runs.events}),
        ]
        return [(*each[:3],) for each in listed if each[3] & self._runs.events]

    async def judge_prompt(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Run the hooks of `UserPromptSubmit`; a denial refuses the prompt."""
        notes = self._runs.notes_of(data)
        notes.stops, notes.stop_reason = 0, None
        if not self._runs.is_own(data):
            return None  # a sub-agent's prompt is no user's
        return await self._judge_text(data)

    async def judge_steering(self, event: str, data: dict[str, Any]) -> HookResult | None:
        """Judge a message of the user while a turn runs, but not one of a hook."""
        notes = self._runs.notes_of(data)
        if data.get("prompt") in notes.steered:
            notes.steered.discard(str(data.get("prompt")))
            return None
        return await self._judge_text(data)

    async def judge_request(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """End the turn where a hook wants that; else add for the model what hooks have said."""
        notes = self._runs.notes_of(data)
        if notes.stop_reason is not None:
            reason, notes.stop_reason = notes.stop_reason, None
            return HookResult(action="deny", reason=reason)
        if not notes.contexts:
            return None
        text = "\n\n".join(notes.contexts)
        notes.contexts.clear()
        return HookResult(
            action="inject_context", context_injection=text, context_injection_role="user"
        )

    async def note_tagged_call(self, _: str, data: dict[str, Any]) -> None:
        """Note that an answer has a call in its text."""
        self._runs.notes_of(data).has_tagged_call = True

    async def note_response(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of `Stop` where an answer has no calls; a block lets the turn go on."""
        notes = self._runs.notes_of(data)
        has_tagged, notes.has_tagged_call = notes.has_tagged_call, False
        response: Any = data.get("response") or {}
        working = self._runs.find_working(data)
        if data.get("purpose") or has_tagged or response.get("tool_calls"):
            return
        if working.cancellation.is_cancelled:
            return
        is_own = self._runs.is_own(data)
        fields = {
            "stop_hook_active": notes.stops > 0,
            "last_assistant_message": _join_text(response),
        }
        if not is_own:
            fields |= {"agent_id": str(data.get("session_id")), "agent_type": ""}
        answer = await self._runs.run("Stop" if is_own else "SubagentStop", data, fields)
        if answer.denied is None or answer.stopped is not None:
            return
        steer: Any = working.get_capability(SESSION_STEER)
        if notes.stops >= _MAX_STOPS or not callable(steer):
            self._runs.warn(f"the turn ends, though a hook of `Stop` blocks that: {answer.denied}")
            return
        notes.stops += 1
        notes.steered.add(answer.denied)
        steer(answer.denied)

    async def note_start(self, event: str, data: dict[str, Any]) -> None:
        """Run the hooks of `SessionStart`."""
        if not self._runs.is_own(data):
            return
        source = "resume" if event == SESSION_RESUME else "startup"
        answer = await self._runs.run("SessionStart", data, {"source": source}, [source])
        self._runs.keep_contexts(data, answer)

    async def note_end(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of `SessionEnd`, and forget the session."""
        if self._runs.is_own(data):
            with anyio.move_on_after(_SECONDS_AT_END):
                await self._runs.run("SessionEnd", data, {"reason": "other"}, ["other"])
        self._runs.forget(data)

    async def note_question(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of `Notification` before a person is asked."""
        kind = "permission_prompt"
        fields = {"message": str(data.get("prompt") or ""), "notification_type": kind}
        await self._runs.run("Notification", data, fields, [kind])

    async def note_task(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of `SubagentStart`."""
        fields = {"agent_id": str(data.get("child_session_id")), "agent_type": ""}
        await self._runs.run("SubagentStart", data, fields, [""])

    async def _judge_text(self, data: dict[str, Any]) -> HookResult | None:
        answer = await self._runs.run("UserPromptSubmit", data, {"prompt": data.get("prompt")})
        self._runs.keep_contexts(data, answer)
        refusal = answer.denied or answer.stopped
        return None if refusal is None else HookResult(action="deny", reason=refusal)


def _join_text(response: Mapping[str, Any]) -> str:
    blocks: list[Any] = response.get("content") or []
    texts = (each.get("text") for each in blocks if each.get("type") == "text")
    return "".join(each for each in texts if isinstance(each, str))
