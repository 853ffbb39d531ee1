"""The tasks that the sub-agents of one session do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import anyio

from amplifier_core import AmplifierSession, world
from amplifier_core.interruption import stand_alone
from amplifier_core.session_capabilities import (
    SESSION_COST,
    SESSION_JOURNAL,
    SESSION_QUESTIONS_KEPT,
    SESSION_TASK,
    SESSION_TASKS,
)
from amplifier_core.weak_link import link_weakly

from ..running.background import start_task
from ..tool.context import CURRENT, QuestionPutOff, ToolContext
from .family import Family, TaskLimits
from .task import AWAITING, TASK_END, TASK_START, Answer, TaskInfo, TaskResult, Used

logger = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""How long a cancelled sub-agent may take to end by itself, beside those that it waits for; and a
closing event to be handled."""
CLOSE_SECONDS = 2.0
"""How much longer than that the end of a session waits for sub-agents in the background."""
KEPT_TASKS = 20
"""Tasks that are over and can be continued; of older ones nothing is kept."""

MAX_TASK_CHARS = 120
"""Of what a sub-agent is there for, before its questions."""

CANCELLED = Answer("cancelled", "", "the task was cancelled")

_KEPT = "task_id", "tool_call_id", "child_session_id"
"""What the journal has of a task that another process can go on with."""

Prepare = Callable[[Any], object]
"""Takes the coordinator of a child session before its modules are loaded."""


class Child(Protocol):
    """A session that does a task."""

    @property
    def session(self) -> AmplifierSession:
        """The session of the kernel."""
        ...

    @property
    def kept(self) -> Any:
        """What the task is continued with; None if it cannot be."""
        ...

    async def run(self, prompt: str) -> Answer:
        """Do the task and end the session."""
        ...

    def count_usage(self) -> Used:
        """Return what was used so far."""
        ...


class Task:
    """A task: its child session while that works, and then its result."""

    def __init__(
        self,
        id: str,
        description: str,
        child: Child,
        *,
        is_background: bool,
        call: ToolContext[Any] | None,
        can_go_on: bool,
    ) -> None:
        """Describe a task that is about to begin.

        Args:
            id: Its id.
            description: What it is.
            child: What does it.
            is_background: Whether nobody waits for it.
            call: The tool call of the session that begins it; None where it begins elsewhere.
            can_go_on: Whether another process can go on with it, so that its questions are kept.
        """
        self.id = id
        self.call_id = None if call is None else call.call_id
        self.can_go_on = can_go_on
        self.description = description
        self.is_background = is_background
        self.session_id = child.session.session_id
        self.child: Child | None = child
        self.token: Any = child.session.coordinator.cancellation
        self.result: TaskResult | None = None
        self.is_read = not is_background
        """Whether nobody has to be notified of its result."""
        self.is_announced = not is_background
        """Whether the model has read that it is over."""
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.kept: Any = None
        """What it is continued with."""
        self.awaited_by = None if is_background else self.call_id
        """The tool call that waits for it; None in the background."""

    def describe_task(self) -> TaskInfo:
        """Return the state of the task."""
        return TaskInfo(
            id=self.id,
            description=self.description,
            status="running" if self.result is None else self.result.status,
            is_background=self.is_background,
            session_id=self.session_id,
        )

    def cancel(self) -> None:
        """End the turn of the child, and after a grace all that it waits for."""
        if self.result is None:
            self.token.request_immediate()
            deadline = anyio.current_time() + self.closing_seconds()
            self.scope.deadline = min(self.scope.deadline, deadline)

    def closing_seconds(self) -> float:
        """Return how long it may take to end once it is cancelled, with the tasks of its child."""
        if self.child is None:
            return 0.0
        return GRACE_SECONDS + closing_seconds(self.child.session.coordinator)


_USUAL_LIMITS = TaskLimits()


class Tasks:
    """The tasks of one session; those in the background end with it at the latest.

    Every child session is cancelled with its parent, and draws on the budget of the turn in which
    its task began. Use it in the event loop of the session.
    """

    __slots__ = (
        "_begun",
        "_depth",
        "_family",
        "_find_coordinator",
        "_is_to_close",
        "_tasks",
        "_used",
        "limits",
        "prepare",
    )

    def __init__(self, coordinator: Any, family: Family | None = None, depth: int = 0) -> None:
        """Begin without tasks.

        Args:
            coordinator: The coordinator of the session.
            family: What limits the tasks; shared with the sessions around.
            depth: How many sessions are around.
        """
        self._find_coordinator = link_weakly(coordinator)
        self.limits = _USUAL_LIMITS if family is None else family.limits
        """How many tasks there may be, and how deep."""
        self._family = family
        self.prepare: tuple[Prepare, ...] = ()
        """What is called for each child session that is made of the modules of this one."""
        self._is_to_close = False
        self._depth = depth
        self._tasks: dict[str, Task] = {}
        self._begun = 0
        self._used: Used | None = None

    @property
    def coordinator(self) -> Any:
        """The coordinator of the session."""
        return self._find_coordinator()

    @property
    def family(self) -> Family:
        """The session that a user speaks to, and its sub-agents; most have none."""
        if self._family is None:
            self._family = Family(self.limits)
        return self._family

    def limit(self, limits: TaskLimits) -> None:
        """Set the limits, unless this is the session of a sub-agent, which has those around it."""
        if self._depth == 0:
            self.limits = limits
            if self._family is not None:
                self._family.limits = limits

    async def run(
        self,
        child: Child,
        prompt: str,
        description: str = "",
        id: str | None = None,
        *,
        is_continued: bool = False,
    ) -> TaskResult:
        """Have a child do a task, and return the result, whatever its status.

        Args:
            child: What does it.
            prompt: What it is asked to do.
            description: What that is, in a few words.
            id: The id of the task where it goes on that another process has begun.
            is_continued: Whether the child goes on with its conversation: no other process does.

        Raises:
            TaskLimitError: There are too many sub-agents.
            QuestionPutOff: It waits for a person, who answers when the turn has ended.
        """
        call = self._find_call()
        can_go_on = call is not None and call.can_go_on and not is_continued
        task = self._begin(child, description, is_background=False, id=id, can_go_on=can_go_on)
        with task.scope:
            await self._do(task, prompt)
        result = self._result_of(task)
        if result.status == AWAITING:
            raise QuestionPutOff
        return result

    def take_kept(self) -> Mapping[str, Any] | None:
        """Return the task that the call which runs here goes on with, as `task:start` told of it.

        It is None where the call begins another one; each task is returned once.
        """
        call = self._find_call()
        journal = self.coordinator.get_capability(SESSION_JOURNAL)
        if call is None or not call.can_go_on or journal is None:
            return None
        kept: Mapping[str, Any] | None = journal.tasks.take(call.call_id)
        return kept

    def start(self, child: Child, prompt: str, description: str = "") -> str:
        """Have a child do a task in the background, and return the id of the task.

        Raises:
            TaskLimitError: There are too many sub-agents.
        """
        task = self._begin(child, description, is_background=True)

        async def do() -> None:
            stand_alone()
            try:
                with task.scope:
                    await self._do(task, prompt)
            except BaseException as error:  # noqa: BLE001 -- the event loop is ending
                logger.debug("the task `%s` was left: %r", task.id, error)
            finally:
                self._finish(task, CANCELLED)

        start_task(do)
        return task.id

    def list(self) -> list[TaskInfo]:
        """Return the state of each task, oldest first; of those that are over, the last ones."""
        return [task.describe_task() for task in self._tasks.values()]

    async def wait_for_result(self, id: str) -> TaskResult:
        """Wait for the end of a task and return its result.

        Raises:
            LookupError: There is no such task.
        """
        task = self.find_task(id)
        await task.ended.wait()
        self._read(task)
        return self._result_of(task)

    def cancel(self, id: str) -> None:
        """Cancel a task, if it is not over; its result says so.

        Raises:
            LookupError: There is no such task.
        """
        task = self.find_task(id)
        task.cancel()
        self._read(task)

    def find_task(self, id: str) -> Task:
        """Return a task.

        Raises:
            LookupError: There is no such task.
        """
        try:
            return self._tasks[id]
        except KeyError:
            known = ", ".join(f"`{each}`" for each in self._tasks) or "none"
            raise LookupError(
                f"there is no task `{id}` (there are: {known}; of those that are over, the last"
                f" {KEPT_TASKS} are kept)"
            ) from None

    def closing_seconds(self, call_id: str | None = None) -> float:
        """Return how long the tasks may take to end once they are cancelled.

        Args:
            call_id: The tool call that waits for them; None for all tasks.
        """
        tasks = self._tasks.values()
        waits = [each for each in tasks if call_id is None or each.awaited_by == call_id]
        return max((each.closing_seconds() for each in waits), default=0.0)

    def running_in(self, session_id: str) -> Task | None:
        """Return the task that runs in the session of this id; None without one."""
        tasks = self._tasks.values()
        return next(
            (each for each in tasks if each.session_id == session_id and each.result is None), None
        )

    def take_news(self) -> Iterable[TaskInfo]:
        """Yield the tasks in the background that are over, each once."""
        for task in list(self._tasks.values()):
            if task.result is not None and not task.is_announced:
                task.is_announced = True
                yield task.describe_task()

    async def close(self) -> None:
        """Cancel all tasks and wait for their end, for a limited time."""
        running = [task for task in self._tasks.values() if task.result is None]
        for task in running:
            task.cancel()
        with anyio.move_on_after(self.closing_seconds() + CLOSE_SECONDS, shield=True):
            for task in running:
                await task.ended.wait()
        for task in running:
            if task.result is None:
                logger.warning("the task `%s` ignores its cancellation; it is left behind", task.id)
        for task in list(self._tasks.values()):
            self._read(task)
        self._tasks.clear()
        self._is_to_close = False

    def _begin(
        self,
        child: Child,
        description: str,
        *,
        is_background: bool,
        id: str | None = None,
        can_go_on: bool = False,
    ) -> Task:
        self.family.enter(self._depth + 1)
        if not self._is_to_close:
            self._is_to_close = True
            self.coordinator.register_cleanup(self.close)
        self._begun = self._count_begun(id)
        id = id or f"task-{self._begun}"
        task = Task(
            id,
            description,
            child,
            is_background=is_background,
            call=self._find_call(),
            can_go_on=can_go_on,
        )
        self._tasks[task.id] = task
        return task

    def _count_begun(self, id: str | None) -> int:
        """Return how many tasks have begun, so that no later one has the id of one that goes on."""
        number = "" if id is None else id.removeprefix("task-")
        return max(self._begun, int(number)) if number.isdecimal() else self._begun + 1

    async def _do(self, task: Task, prompt: str) -> None:
        """Do a task; only a cancellation from outside is raised."""
        assert task.child is not None
        child, began = task.child, world.monotonic()
        about = {
            "task_id": task.id,
            "description": task.description,
            "is_background": task.is_background,
            "child_session_id": task.session_id,
            "tool_call_id": task.call_id,
        }
        hooks = self.coordinator.hooks
        answer = CANCELLED
        try:
            with self._adopt(child.session, task):
                if task.can_go_on:
                    # It is stored before anything of the child is.
                    journal = self.coordinator.get_capability(SESSION_JOURNAL)
                    journal.note(TASK_START, {name: about[name] for name in _KEPT})
                await hooks.emit(TASK_START, {**about, "prompt": prompt})
                answer = await child.run(prompt)
        except Exception as error:  # noqa: BLE001 -- it is the result of the task
            logger.warning("the task `%s` failed: %s: %s", task.id, type(error).__name__, error)
            answer = Answer("error", "", f"{type(error).__name__}: {error}".removesuffix(": "))
        finally:
            used = child.count_usage()
            self._add(used)
            task.kept = child.kept
            ending = {
                **about,
                "status": answer.status,
                "reason": answer.reason,
                "duration_ms": round((world.monotonic() - began) * 1000),
                **used.describe_usage(),
            }
            try:
                with anyio.move_on_after(GRACE_SECONDS, shield=True):
                    await hooks.emit(TASK_END, ending)
            finally:
                self._finish(task, answer)

    def _finish(self, task: Task, answer: Answer) -> None:
        """Keep the result of a task in the place of its session, once."""
        if task.result is not None:
            return
        assert task.child is not None
        task.result = TaskResult(
            id=task.id,
            description=task.description,
            status=answer.status,
            text=answer.text,
            reason=answer.reason,
            session_id=task.session_id,
            used=task.child.count_usage(),
        )
        task.child = task.token = None
        task.ended.set()
        if task.is_read:
            self.family.leave()
        self._forget_old()

    def _read(self, task: Task) -> None:
        """Note that nobody has to be notified of the result of a task."""
        if not task.is_read:
            task.is_read = task.is_announced = True
            if task.result is not None:
                self.family.leave()
                self._forget_old()

    def _forget_old(self) -> None:
        over = [task for task in self._tasks.values() if task.result is not None]
        for task in over[: max(0, len(over) - KEPT_TASKS)]:
            task.kept = None
            if task.is_read:
                del self._tasks[task.id]

    def _result_of(self, task: Task) -> TaskResult:
        assert task.result is not None
        return task.result

    @contextmanager
    def _adopt(self, session: AmplifierSession, task: Task) -> Generator[None]:
        """Have a child session belong to this one: its cancellation, its events, its own tasks."""
        coordinator: Any = session.coordinator
        coordinator.hooks.set_default_fields(
            session_id=session.session_id,
            parent_id=session.parent_id,
            parent_tool_call_id=task.call_id,
        )
        coordinator.register_capability(SESSION_TASK, self._name_task(task))
        coordinator.register_capability(SESSION_QUESTIONS_KEPT, task.can_go_on)
        tasks = Tasks(coordinator, self.family, self._depth + 1)
        coordinator.register_capability(SESSION_TASKS, tasks)
        token = self.coordinator.cancellation
        token.register_child(coordinator.cancellation)
        self.family.coordinators[session.session_id] = coordinator
        try:
            yield
        finally:
            del self.family.coordinators[session.session_id]
            token.unregister_child(coordinator.cancellation)

    def _add(self, used: Used) -> None:
        """Add to what all sub-agents have used: the providers of this session know nothing of it."""
        if self._used is None:
            self._used = Used()
            contribution = self._used.describe_cost
            self.coordinator.register_contributor(SESSION_COST, "sub-agents", contribution)
        self._used.add(used)

    def _name_task(self, task: Task) -> str:
        """Return what a sub-agent is there for, as people read it who are asked."""
        around = self.coordinator.get_capability(SESSION_TASK)
        own = task.description[:MAX_TASK_CHARS] or task.id
        return f"{around} > {own}" if around else own

    def _find_call(self) -> ToolContext[Any] | None:
        """Return the tool call of this session that runs here."""
        call = CURRENT.get(None)
        return call if call is not None and call.coordinator is self.coordinator else None


def tasks_of(coordinator: Any) -> Tasks:
    """Return the tasks of a session."""
    tasks = coordinator.get_capability(SESSION_TASKS)
    if not isinstance(tasks, Tasks):
        tasks = Tasks(coordinator)
        coordinator.register_capability(SESSION_TASKS, tasks)
    return tasks


def coordinator_of(coordinator: Any, session_id: Any) -> Any:
    """Return the coordinator of a sub-agent that works; else that of the session that asks.

    Args:
        coordinator: The coordinator of the session that asks, which is in the same family.
        session_id: The id of the session, as events carry it.
    """
    tasks = coordinator.get_capability(SESSION_TASKS)
    if not isinstance(tasks, Tasks) or not isinstance(session_id, str):
        return coordinator
    return tasks.family.coordinators.get(session_id, coordinator)


def closing_seconds(coordinator: Any, call_id: str | None = None) -> float:
    """Return how long the sub-agents of a session may take to end once they are cancelled.

    Args:
        coordinator: The coordinator of the session; may be None.
        call_id: The tool call that waits for them; None for all.
    """
    get = getattr(coordinator, "get_capability", None)
    tasks = get(SESSION_TASKS) if callable(get) else None
    return tasks.closing_seconds(call_id) if isinstance(tasks, Tasks) else 0.0
