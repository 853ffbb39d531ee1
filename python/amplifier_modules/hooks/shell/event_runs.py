"""Runs the hooks of an event side by side, and joins what they say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio

from amplifier_core.weak_link import link_weakly
from amplifier_modules.hooks.claude_tools import translate_call
from amplifier_modules.spawn.tasks import coordinator_of

from .answers import Answer, join_answers
from .hook_files import ShellHook
from .hook_runs import HookRuns
from .inputs import describe_session, write_input
from .session_notes import Notes, SessionNotes

logger = logging.getLogger(__name__)


class EventRuns:
    """The hooks of a session and of its sub-agents, and what they have said that counts later."""

    def __init__(
        self, coordinator: Any, hooks: Sequence[ShellHook], runs: HookRuns, project: Path
    ) -> None:
        """Run hooks for a session.

        Args:
            coordinator: That of the session.
            hooks: All of them.
            runs: Runs one.
            project: What paths are counted from.
        """
        self.project = project
        self.events = frozenset(each.event for each in hooks)
        """Those that have hooks."""
        self.find_coordinator: Callable[[], Any] = link_weakly(coordinator)
        self._hooks = hooks
        self._runs = runs
        self._notes = SessionNotes()
        self._warned: set[str] = set()

    def find(self, event: str, names: Iterable[str] = ()) -> list[ShellHook]:
        """Return the hooks of an event whose matchers mean one of these names."""
        listed = list(names)
        return [each for each in self._hooks if each.event == event and each.is_about(listed)]

    async def run(
        self,
        event: str,
        data: Mapping[str, Any],
        fields: Mapping[str, Any],
        names: Iterable[str] = (),
    ) -> Answer:
        """Run the hooks of an event, and return what they say together.

        Args:
            event: The event, by its name in Claude Code.
            data: The payload of ours.
            fields: What hooks read in addition.
            names: What matchers are compared with.
        """
        answers = await self.run_all(self.find(event, names), data, fields)
        return join_answers(answers.values())

    async def run_all(
        self, hooks: Sequence[ShellHook], data: Mapping[str, Any], fields: Mapping[str, Any]
    ) -> dict[ShellHook, Answer]:
        """Run hooks of one event side by side, and return what each says."""
        answers: dict[ShellHook, Answer] = {}
        if not hooks:
            return answers
        session = describe_session(self.find_coordinator(), data.get("session_id"), self.project)
        given = write_input(hooks[0].event, session, fields)

        async def run(hook: ShellHook) -> None:
            answers[hook] = await self._runs.run(hook, given)

        async with anyio.create_task_group() as group:
            for each in hooks:
                group.start_soon(run, each)
        for note in (note for each in answers.values() for note in each.notes):
            self.warn(note)
        return {each: answers[each] for each in hooks}

    async def run_for_call(
        self,
        hooks: Sequence[ShellHook],
        data: Mapping[str, Any],
        arguments: Mapping[str, Any],
        fields: Mapping[str, Any],
    ) -> dict[ShellHook, Answer]:
        """Run hooks about a call, about each file of a patch, and return what each says.

        Args:
            hooks: Those of one event.
            data: The payload of ours.
            arguments: The arguments of the call.
            fields: What hooks read in addition.
        """
        answers: dict[ShellHook, Answer] = {}
        for call in self._translate(data, arguments) if hooks else ():
            about = {**call, "tool_use_id": data.get("tool_call_id"), **fields}
            for hook, answer in (await self.run_all(hooks, data, about)).items():
                known = [answers[hook]] if hook in answers else []
                answers[hook] = join_answers([*known, answer])
        return answers

    def notes_of(self, data: Mapping[str, Any]) -> Notes:
        """Return the notes of the session that an event is of."""
        return self._notes.get_notes(data)

    def forget(self, data: Mapping[str, Any]) -> None:
        """Drop the notes of the session that an event is of."""
        self._notes.forget(data)

    def keep_contexts(self, data: Mapping[str, Any], answer: Answer) -> None:
        """Keep for the model what hooks have said, once where a call is judged again."""
        contexts = self.notes_of(data).contexts
        contexts += [each for each in answer.contexts if each not in contexts]

    def is_own(self, data: Mapping[str, Any]) -> bool:
        """Whether an event is of the session itself, and of no sub-agent."""
        own: Any = self.find_coordinator().session_id
        return str(data.get("session_id") or "") == str(own or "")

    def find_working(self, data: Mapping[str, Any]) -> Any:
        """Return the coordinator of the session that an event is of."""
        return coordinator_of(self.find_coordinator(), data.get("session_id"))

    def warn(self, note: str) -> None:
        """Say something to the person, once."""
        if note not in self._warned:
            self._warned.add(note)
            logger.warning("hooks-shell: %s", note)

    def _translate(
        self, data: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        name = str(data.get("tool_name"))
        tools: Any = self.find_working(data).get("tools")
        tool: Any = cast("dict[str, Any]", tools or {}).get(name)
        list_paths: Any = getattr(tool, "list_paths", None)
        paths: Any = list_paths(dict(arguments)) if callable(list_paths) else ()
        calls = translate_call(name, arguments, paths, self.project)
        return [{"tool_name": each.tool, "tool_input": each.arguments} for each in calls]
