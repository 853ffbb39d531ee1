"""The hooks of tool calls: `PreToolUse`, `PostToolUse` and `PostToolUseFailure`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from amplifier_core.models import HookResult
from amplifier_guard.question import quote_value
from amplifier_modules.hooks.claude_tools import list_names, restore_arguments

from .answers import Answer, join_answers
from .event_runs import EventRuns
from .hook_files import ShellHook

_MAX_PROMPT_CHARS = 4000
_DIFFER = "hooks want different arguments of the call"


class CallHooks:
    """The handlers of tool calls."""

    def __init__(self, runs: EventRuns) -> None:
        """Run hooks by these runs."""
        self._runs = runs

    async def judge_call(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Run the hooks of `PreToolUse`; they may deny a call, change it, or have a person asked."""
        if "tool_input_error" in data:
            return None  # the loop does not run such a call
        given: Any = data.get("tool_input")
        if not isinstance(given, dict):
            return _deny("the arguments are no object")
        arguments = cast("dict[str, Any]", given)
        hooks = self._find("PreToolUse", data)
        answers = await self._runs.run_for_call(hooks, data, arguments, {})
        together = join_answers(answers.values())
        self._runs.keep_contexts(data, together)
        if (refusal := self._find_refusal(data, together)) is not None:
            return _deny(refusal)
        changed = self._find_changes(data, arguments, together)
        if len(changed) > 1:
            return _deny(_DIFFER)
        asked = together.asked
        if changed:
            again = await self._judge_changed(data, changed[0], answers)
            if (refusal := self._find_refusal(data, again)) is not None:
                return _deny(refusal)
            if self._find_changes(data, changed[0], again):
                return _deny(_DIFFER)
            asked = asked or again.asked
        if asked is not None:
            self._runs.notes_of(data).questions[str(data.get("tool_call_id"))] = asked
        if not changed:
            return None
        return HookResult(action="modify", data={**data, "tool_input": changed[0]})

    async def ask_about_call(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Have a person asked about the call as the hooks have left it."""
        questions = self._runs.notes_of(data).questions
        asked = questions.pop(str(data.get("tool_call_id")), None)
        if asked is None:
            return None
        arguments = cast("dict[str, Any]", data.get("tool_input") or {})
        rows = [f"| {quote_value(name)}: {quote_value(each)}" for name, each in arguments.items()]
        prompt = "\n".join([f"run `{data.get('tool_name')}`? (a hook asks: {asked})", *rows])
        if len(prompt) > _MAX_PROMPT_CHARS:
            return _deny(
                f"the call is too long to ask about (limit: {_MAX_PROMPT_CHARS:,} characters)"
            )
        return HookResult(
            action="ask_user",
            approval_prompt=prompt,
            approval_options=["Allow once", "Deny"],
            approval_default="deny",
        )

    async def note_result(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of a call that has returned; what they object to the model reads behind it."""
        result = cast("dict[str, Any]", data.get("result") or {})
        if result.get("success") is False:
            await self._note("PostToolUseFailure", data, {"error": _describe_error(result)})
        else:
            await self._note("PostToolUse", data, {"tool_response": result})

    async def note_failure(self, _: str, data: dict[str, Any]) -> None:
        """Run the hooks of a call that failed or was denied."""
        await self._note("PostToolUseFailure", data, {"error": _describe_error(data)})

    async def _note(self, event: str, data: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        arguments = cast("dict[str, Any]", data.get("tool_input") or {})
        hooks = self._find(event, data)
        answers = await self._runs.run_for_call(hooks, data, arguments, fields)
        answer = join_answers(answers.values())
        self._runs.keep_contexts(data, answer)
        notes = self._runs.notes_of(data)
        notes.stop_reason = answer.stopped or notes.stop_reason
        if answer.denied is not None:
            notes.contexts.append(f"A hook objects to `{data.get('tool_name')}`: {answer.denied}")

    async def _judge_changed(
        self,
        data: Mapping[str, Any],
        changed: Mapping[str, Any],
        answers: Mapping[ShellHook, Answer],
    ) -> Answer:
        """Ask those again that have judged another call than the one that would run."""
        others = [each for each, answer in answers.items() if not answer.changed]
        return join_answers((await self._runs.run_for_call(others, data, changed, {})).values())

    def _find_changes(
        self, data: Mapping[str, Any], arguments: Mapping[str, Any], answer: Answer
    ) -> list[dict[str, Any]]:
        """Return the arguments that hooks want in the place of these, each once."""
        found: list[dict[str, Any]] = []
        for each in answer.changed:
            name = str(data.get("tool_name"))
            ours = restore_arguments(name, each, arguments, self._runs.project)
            if ours != arguments and ours not in found:
                found.append(ours)
        return found

    def _find(self, event: str, data: Mapping[str, Any]) -> list[ShellHook]:
        return self._runs.find(event, list_names(str(data.get("tool_name"))))

    def _find_refusal(self, data: Mapping[str, Any], answer: Answer) -> str | None:
        if answer.stopped is not None:
            self._runs.notes_of(data).stop_reason = answer.stopped
        return answer.denied or answer.stopped


def _deny(reason: str) -> HookResult:
    return HookResult(action="deny", reason=reason)


def _describe_error(data: Mapping[str, Any]) -> str:
    error: Any = data.get("error") or {}
    if not isinstance(error, dict):
        return str(error)
    found = cast("dict[str, Any]", error)
    return str(found.get("msg") or found.get("message") or "")
