"""An agent as a tool of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amplifier_core.models import ToolResult
from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    PROJECT_CHANGES,
    SESSION_QUESTIONS_KEPT,
    SESSION_STORE,
    SESSION_STORE_CHILD,
    SESSION_STORED_HISTORY,
)
from amplifier_modules.changes.mounting import mount_changes
from amplifier_modules.spawn.rights import Handler, Rights, hand_on
from amplifier_modules.spawn.task import Answer, Used
from amplifier_modules.spawn.tasks import tasks_of
from amplifier_modules.spawn.turn_account import TurnAccount
from amplifier_modules.tool.context import CURRENT
from amplifier_modules.tool.function_tool import check_description, check_name

from .session import Session, running_session
from .start import foreign_loop

if TYPE_CHECKING:
    from amplifier_core import AmplifierSession

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "description": "What the agent is to do."}},
    "required": ["prompt"],
    "additionalProperties": False,
}


class AgentTool:
    """Asks an agent; a turn that is not `completed` is an error of the tool."""

    acts_in_session = True
    continues_calls = True

    def __init__(
        self,
        name: str,
        description: str,
        open_session: Callable[[object, str | None, str | None], Session[Any]],
        watch: Callable[[Any], object] | None = None,
    ) -> None:
        """Offer an agent under this name.

        Args:
            name: What the model calls it.
            description: What the model reads about the tool.
            open_session: Returns a session of the agent with a `state`, a `parent_id`, and an id if
                it goes on.
            watch: Called in each call with the coordinator of its session, before that begins.

        Raises:
            TypeError: The name or the description is no text.
            ValueError: The name cannot be used.
        """
        check_name(name)
        check_description(description)
        self.name = name
        self.description = description
        self.input_schema = _SCHEMA
        self._open_session = open_session
        self._watch = watch

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run a turn of the agent with the prompt.

        Raises:
            TaskLimitError: Sub-agents are nested too deeply, or there are too many.
            QuestionPutOff: A question of the agent is answered when the turn has ended.
        """
        prompt = str(input.get("prompt", ""))
        parent = running_session()
        coordinator = _find_coordinator(parent)
        state = None if parent is None else parent.state
        parent_id = None if coordinator is None else coordinator.session_id
        tasks = None if coordinator is None else tasks_of(coordinator)
        kept = None if tasks is None else tasks.take_kept()
        session_id = None if kept is None else kept["child_session_id"]
        child = _Child(self._open_session(state, parent_id or None, session_id))
        if self._watch is not None:
            self._watch(child.session.coordinator)
        if tasks is None:
            answer = await child.run(prompt)
        else:
            child.obey(coordinator)
            id = None if kept is None else kept["task_id"]
            answer = await tasks.run(child, prompt, self.name, id)
        if answer.status == "completed":
            return ToolResult(output=answer.text)
        message = f"the agent `{self.name}` ended as `{answer.status}`: {answer.reason}"
        return ToolResult(success=False, error={"message": message})


class _Child:
    """The session of the agent that is asked, for one task."""

    def __init__(self, child: Session[Any]) -> None:
        self._child = child
        self.session: AmplifierSession = child.session
        self.kept = None
        self._judges: list[Handler] = []
        self._store_child: Any = None

    def obey(self, parent: Any) -> None:
        """Let the hooks of the parent judge the session, and its approval system answer.

        It is stored with the parent, unless its agent has a store; what it changes in the project is
        taken back with what the parent changes.
        """
        rights = Rights.of(parent)
        self._store_child = parent.get_capability(SESSION_STORE_CHILD)
        coordinator: Any = self.session.coordinator
        coordinator.register_capability(PROJECT_CHANGES, mount_changes(parent))
        if (policy := parent.get_capability(APPROVAL_POLICY)) is not None:
            coordinator.register_capability(APPROVAL_POLICY, policy)
        self._judges = rights.list_judges()
        if rights.approvals is not None:
            coordinator.approval_system = rights.approvals
        if rights.display is not None:
            coordinator.display_system = rights.display

    async def run(self, prompt: str) -> Answer:
        async with self._child as session:
            # After its own, as agents may have hooks in common, which judge once.
            hand_on(self._judges, self.session.coordinator.hooks)
            coordinator: Any = self.session.coordinator
            if coordinator.get_capability(SESSION_STORE) is not None:
                # Whoever answers questions of the parent does not see those in another store.
                coordinator.register_capability(SESSION_QUESTIONS_KEPT, False)
            elif self._store_child is not None:
                await self._store_child(coordinator)
                history = coordinator.get_capability(SESSION_STORED_HISTORY)
                if (ended := TurnAccount.read_ended(history)) is not None:
                    return ended
            goes_on = session.has_open_turn and foreign_loop(coordinator) is None
            result = await (session.resume_turn() if goes_on else session.run(prompt))
        return Answer(result.status, result.text, result.reason)

    def count_usage(self) -> Used:
        return self._child.record.count_usage()


def _find_coordinator(parent: Session[Any] | None) -> Any:
    """Return the coordinator of the session that calls the tool; None if it is not known."""
    call = CURRENT.get(None)
    if call is not None and call.coordinator is not None:
        return call.coordinator
    return None if parent is None else parent.session.coordinator
