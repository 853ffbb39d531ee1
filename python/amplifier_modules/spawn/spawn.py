"""The capability `session.spawn`: a task for a sub-agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from amplifier_core.session_capabilities import SESSION_SPAWN

from .family import TaskLimits
from .task import TaskInfo, TaskResult
from .tasks import Tasks, tasks_of

if TYPE_CHECKING:
    from amplifier_core import ContextManager, Provider, Tool

    from ..spending.budget import Budget
    from .child_session import ChildSession, Recipe


class Spawn:
    """Gives tasks to sub-agents: `result = await spawn("Read the notes")`.

    A sub-agent is a child session that may do what its parent may do at that moment. It has a history
    of its own, is cancelled with its parent, and draws on what is left of its budget.
    """

    __slots__ = ("_tasks",)

    def __init__(self, tasks: Tasks) -> None:
        """Spawn for the session of these tasks."""
        self._tasks = tasks

    @overload
    async def __call__(
        self,
        prompt: str,
        *,
        system: str | None = None,
        tools: Sequence[str | Tool | Callable[..., object]] | None = None,
        model: str | Provider | None = None,
        context: ContextManager | str | Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        background: Literal[False] = False,
        description: str = "",
        messages: Sequence[Mapping[str, Any]] = (),
    ) -> TaskResult: ...
    @overload
    async def __call__(
        self,
        prompt: str,
        *,
        system: str | None = None,
        tools: Sequence[str | Tool | Callable[..., object]] | None = None,
        model: str | Provider | None = None,
        context: ContextManager | str | Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        background: Literal[True],
        description: str = "",
        messages: Sequence[Mapping[str, Any]] = (),
    ) -> str: ...
    async def __call__(
        self,
        prompt: str,
        *,
        system: str | None = None,
        tools: Sequence[Any] | None = None,
        model: Any = None,
        context: Any = None,
        budget: Budget | None = None,
        background: bool = False,
        description: str = "",
        messages: Sequence[Mapping[str, Any]] = (),
    ) -> TaskResult | str:
        """Have a sub-agent do a task.

        Args:
            prompt: The task.
            system: The system prompt of the sub-agent; it has no other.
            tools: Names of tools of this session, tools, and functions; None for all of this
                session's.
            model: `provider:model`, the name of a provider, or a provider; None for this session's.
            context: A context, or a module of one by its id or entry; None for that of the plan.
            budget: What the task may use, within what is left of the budget of the turn.
            background: Whether to return at once, with the id of the task.
            description: What is done, in a few words, for events and lists.
            messages: The conversation that the sub-agent begins with.

        Returns:
            The result, also of a task that failed or was cancelled; the id of the task with
            `background`.

        Raises:
            TaskLimitError: Sub-agents are nested too deeply, or there are too many.
            TypeError: An argument is of the wrong type.
            ValueError: There is no such tool or model.
            QuestionPutOff: In a call of a tool that `continues_calls`: the sub-agent has asked a
                question, whose answer comes when the turn has ended. Let it pass.
        """
        from .child_session import Recipe

        recipe = Recipe(system, _make_tools(tools), _check_model(model), context)
        kept = None if background else self._tasks.take_kept()
        options: dict[str, Any] = {"messages": messages}
        if kept is not None:
            options |= {"session_id": kept["child_session_id"], "goes_on": True}
        child = self._make_child(prompt, recipe, budget, **options)
        description = description or prompt[:60].partition("\n")[0]
        if background:
            return self._tasks.start(child, prompt, description)
        id = None if kept is None else kept["task_id"]
        return await self._tasks.run(child, prompt, description, id)

    @overload
    async def resume(
        self,
        id: str,
        prompt: str,
        *,
        budget: Budget | None = None,
        background: Literal[False] = False,
    ) -> TaskResult: ...
    @overload
    async def resume(
        self, id: str, prompt: str, *, budget: Budget | None = None, background: Literal[True]
    ) -> str: ...
    async def resume(
        self, id: str, prompt: str, *, budget: Budget | None = None, background: bool = False
    ) -> TaskResult | str:
        """Go on with the conversation of a task that is over, as a new task.

        The sub-agent has the system prompt, tools and model that it had, but for tools that this
        session has no more, and its session the same id. A session has one turn at a time, so a task is continued by one task at a time.

        Args:
            id: The id of the task.
            prompt: What the sub-agent is asked to do.
            budget: What the new task may use.
            background: Whether to return at once, with the id of the new task.

        Raises:
            LookupError: There is no such task, or its conversation is no longer kept.
            TaskLimitError: Sub-agents are nested too deeply, or there are too many.
            RuntimeError: The task, or one that continues it, is not over.
        """
        task = self._tasks.find_task(id)
        running = self._tasks.running_in(task.session_id)
        if running is task:
            raise RuntimeError(f"the task `{id}` is not over; wait for its result or cancel it")
        if running is not None:
            raise RuntimeError(
                f"the task `{id}` is being continued as `{running.id}`; wait for its result or cancel"
                f" it, then continue `{running.id}`"
            )
        if task.kept is None:
            raise LookupError(f"the conversation of the task `{id}` is no longer kept")
        recipe, messages = task.kept
        options: dict[str, Any] = {"messages": messages, "session_id": task.session_id}
        child = self._make_child(prompt, recipe, budget, **options)
        if background:
            return self._tasks.start(child, prompt, task.description)
        return await self._tasks.run(child, prompt, task.description, is_continued=True)

    def tasks(self) -> list[TaskInfo]:
        """Return the state of each task, oldest first; of those that are over, the last ones."""
        return self._tasks.list()

    def news(self) -> Iterable[TaskInfo]:
        """Yield the tasks in the background that are over, each once."""
        return self._tasks.take_news()

    async def result(self, id: str) -> TaskResult:
        """Wait for the end of a task and return its result.

        Raises:
            LookupError: There is no such task.
        """
        return await self._tasks.wait_for_result(id)

    def cancel(self, id: str) -> None:
        """Cancel a task, if it is not over; its result says so.

        Raises:
            LookupError: There is no such task.
        """
        self._tasks.cancel(id)

    def _make_child(
        self, prompt: str, recipe: Recipe, budget: Budget | None, **options: Any
    ) -> ChildSession:
        from ..spending.budget import Budget
        from .child_session import ChildSession

        for name, value in (("prompt", prompt), ("system", recipe.system)):
            if not isinstance(value, str) and (name == "prompt" or value is not None):
                raise TypeError(f"`{name}` is a `{type(value).__name__}` (must be text)")
        if budget is not None and not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            raise TypeError(f"`budget` is a `{type(budget).__name__}` (must be a `Budget`)")
        prepare = self._tasks.prepare
        return ChildSession(
            self._tasks.coordinator, recipe, budget=budget, prepare=prepare, **options
        )


def offer_spawn(coordinator: Any, limits: TaskLimits) -> None:
    """Register `session.spawn`, unless the application has one of its own.

    Args:
        coordinator: The coordinator of the session.
        limits: The limits of its sub-agents; those of a child session are its parent's.
    """
    get = getattr(coordinator, "get_capability", None)
    if not callable(get):
        return
    tasks = tasks_of(coordinator)
    tasks.limit(limits)
    if get(SESSION_SPAWN) is None:
        coordinator.register_capability(SESSION_SPAWN, Spawn(tasks))


def _make_tools(tools: Sequence[Any] | None) -> tuple[Any, ...] | None:
    if tools is None:
        return None
    if isinstance(tools, str) or not isinstance(tools, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise TypeError(f"`tools` is a `{type(tools).__name__}` (must be a list)")
    return tuple(map(_make_tool, tools))


def _make_tool(given: Any) -> Any:
    if isinstance(given, str):
        return given
    if isinstance(getattr(given, "name", None), str) and callable(getattr(given, "execute", None)):
        return given
    if callable(given) and not isinstance(given, type):
        from ..tool.function_tool import tool

        return tool(given)
    raise TypeError(
        f"`{type(given).__name__}` is no tool (must be the name of one, a function, or an object"
        " with `name` and `execute`)"
    )


def _check_model(model: Any) -> Any:
    if model is None or isinstance(model, str):
        return model
    if isinstance(model, type) or not callable(getattr(model, "complete", None)):
        raise TypeError(
            f"`model` is a `{type(model).__name__}` (must be text such as `a:b`, or a provider)"
        )
    if not isinstance(getattr(model, "name", None), str):
        raise TypeError(f"`{type(model).__name__}` has no `name`")
    return model
