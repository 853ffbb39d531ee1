"""`tool-task`: gives tasks to sub-agents, at once or in the background."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.to_thread
from pydantic import BeforeValidator, Field, ValidationError

from amplifier_core.error_messages import short_repr
from amplifier_core.events import PROVIDER_REQUEST
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.session_capabilities import SESSION_SPAWN, SESSION_WORKING_DIR
from amplifier_core.weak_link import link_weakly
from amplifier_modules.spawn.spawn import Spawn
from amplifier_modules.spawn.task import TaskInfo, TaskLimitError, TaskResult
from amplifier_modules.spawn.tasks import coordinator_of
from amplifier_modules.tool.context import CURRENT
from amplifier_modules.tools.blocking import Arguments
from amplifier_providers.settings import OptionalText, Settings, read_settings
from amplifier_providers.value_problems import Form, describe_problem

from ..spending.budget import Budget, budget_of

if TYPE_CHECKING:
    from .described_agents import DescribedAgents

__amplifier_module_type__ = "tool"

SYSTEM = """\
You do one task for another agent. Work on it until it is done, with the tools that you have. Your
last answer is all that the other agent sees: give it what was asked for, complete and exact."""
"""The system prompt of sub-agents."""


class TaskSettings(Settings):
    """What sub-agents are made of."""

    system: str = SYSTEM
    """System prompt of the sub-agents."""
    tools: list[str] | None = None
    """Names of the tools that sub-agents have; without it, all of the session's."""
    agent_files: bool = False
    """Whether the model can choose among the sub-agents that the user and the project describe in
    `agents/*.md` of the folder of the configuration, `~/.claude` and `.claude` of the project."""
    model: OptionalText = None
    """Model of the sub-agents, as `provider:model`; without it, that of the session."""
    budget: Annotated[
        Budget | None, BeforeValidator(budget_of), Form("a mapping of limits, see `Budget`")
    ] = None
    """What one task may use, within what is left of the budget of the turn: `model_calls` (100 where
    the mapping does not say), `tool_calls`, `tokens`, `cost` (US dollars), `seconds`."""


__amplifier_settings__ = TaskSettings


class _Task(Arguments):
    action: Literal["start", "continue", "status", "result", "cancel"] = Field(
        default="start",
        description=(
            "`start` gives a new task to a sub-agent; `continue` tells the sub-agent of the task"
            " `id`, which is over, something more; `status` lists all tasks; `result` waits for the"
            " task `id` and returns its answer; `cancel` ends it."
        ),
    )
    prompt: str | None = Field(
        default=None,
        description="For `start` and `continue`: all that the sub-agent needs to know. It sees"
        " nothing of this conversation.",
    )
    description: str = Field(default="", description="The task in three to five words.")
    background: bool = Field(
        default=False,
        description="Return the id of the task at once, and go on while the sub-agent works.",
    )
    agent: str | None = Field(
        default=None, description="For `start`: the agent of this name does the task."
    )
    id: str | None = Field(
        default=None, description="The task, for `continue`, `result` and `cancel`."
    )


class TaskTool:
    """Gives tasks to sub-agents."""

    name = "task"
    is_session_bound = True
    acts_in_session = True
    continues_calls = True
    description = (
        "Have a sub-agent do a task and return its answer. It has tools like yours and a"
        " conversation of its own, so that what it reads does not fill this one. Call it several"
        " times in one answer for tasks that can be done at the same time. You are told when a task"
        " in the background is over."
    )

    def __init__(
        self, coordinator: Any, settings: TaskSettings, agents: DescribedAgents | None = None
    ) -> None:
        """Give tasks to sub-agents of this session.

        Args:
            coordinator: That of the session.
            settings: The settings.
            agents: The sub-agents that a model can choose among; None for none.
        """
        self._find_coordinator = link_weakly(coordinator)
        self._settings = settings
        self._agents = agents
        self.input_schema: dict[str, Any] = _build_schema(has_agents=agents is not None)
        if agents is not None:
            self.description = f"{self.description}\n\n{agents.write_rows()}"

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Do an action; an error of it is in the result."""
        try:
            arguments = _Task.model_validate(input)
        except ValidationError as error:
            details = error.errors(include_url=False)
            return _make_failure(
                "; ".join(describe_problem(_Task, detail, {}) for detail in details)
            )
        spawn = self._spawn()
        if not callable(spawn):
            return _make_failure("this session has no `session.spawn`, which the tool needs")
        if arguments.action != "start" and not isinstance(spawn, Spawn):
            return _make_failure(f"`session.spawn` of this application cannot `{arguments.action}`")
        try:
            return await self._act(spawn, arguments)
        except (LookupError, RuntimeError, TaskLimitError, ValueError) as error:
            return _make_failure(str(error))

    async def _act(self, spawn: Any, arguments: _Task) -> ToolResult:
        if arguments.action == "status":
            return ToolResult(output={"tasks": [_describe_task(each) for each in spawn.tasks()]})
        if arguments.action == "start":
            recipe = self._choose_recipe(arguments.agent)
            result = await spawn(
                _require("prompt", arguments.prompt),
                **recipe,
                budget=self._settings.budget,
                background=arguments.background,
                description=arguments.description,
            )
            return _task_result(result, background=arguments.background)
        id = _require("id", arguments.id)
        if arguments.action == "result":
            return _task_result(await spawn.result(id))
        if arguments.action == "cancel":
            spawn.cancel(id)
            return ToolResult(output=f"the task `{id}` is cancelled")
        prompt = _require("prompt", arguments.prompt)
        budget = self._settings.budget
        return _task_result(
            await spawn.resume(id, prompt, budget=budget, background=arguments.background)
        )

    def _choose_recipe(self, agent: str | None) -> dict[str, Any]:
        """Return the system prompt, the tools and the model of a sub-agent.

        Raises:
            LookupError: There is no such agent.
        """
        settings = self._settings
        recipe = {"system": settings.system, "tools": settings.tools, "model": settings.model}
        if agent is None:
            return recipe
        if self._agents is None:
            raise LookupError(f"there is no agent `{agent}`; leave `agent` out")
        return self._agents.choose(agent, recipe, self._find_caller().get("tools") or {})

    def _spawn(self) -> Any:
        """Return the capability of the session that calls: a tool may be shared with children.

        An application may have registered one of its own, which takes the same arguments.
        """
        return self._find_caller().get_capability(SESSION_SPAWN)

    def _find_caller(self) -> Any:
        call = CURRENT.get(None)
        return self._find_coordinator() if call is None else call.coordinator

    def report_ended_tasks(self, event: str, data: dict[str, Any]) -> HookResult | None:
        """Tell the model which tasks in the background are over, before its next answer."""
        coordinator = coordinator_of(self._find_coordinator(), data.get("session_id"))
        if coordinator.get("tools", self.name) is None:
            return None
        spawn = coordinator.get_capability(SESSION_SPAWN)
        news = list(spawn.news()) if isinstance(spawn, Spawn) else []
        if not news:
            return None
        lines = [
            f"The task `{each.id}` ({short_repr(each.description)[1:-1]}) is over: {each.status}. Call"
            f" `{self.name}` with the action `result` for its answer."
            for each in news
        ]
        text = "\n".join(lines)
        return HookResult(
            action="inject_context",
            context_injection=f"<system-reminder>{text}</system-reminder>",
            context_injection_role="user",
        )


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the tool as `task`."""
    settings = read_settings(TaskSettings, config, "tool-task")
    agents = await _find_agents(coordinator) if settings.agent_files else None
    tool = TaskTool(coordinator, settings, agents)
    coordinator.hooks.register(PROVIDER_REQUEST, tool.report_ended_tasks, name="tool-task")
    await coordinator.mount("tools", tool, name=tool.name)


async def _find_agents(coordinator: Any) -> DescribedAgents | None:
    """Return the sub-agents that files describe; None if there are none."""
    # Late: most sessions have none, and the heads of files need a parser.
    from amplifier_modules.instructions.agent_files import find_agents
    from amplifier_modules.instructions.reporting import report_problems

    from .described_agents import DescribedAgents

    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    found = await anyio.to_thread.run_sync(find_agents, working, os.environ)
    await report_problems(coordinator, "tool-task", found.problems)
    return DescribedAgents(found.agents, working) if found.agents else None


def _task_result(result: Any, *, background: bool = False) -> ToolResult:
    """Return what the model reads of a task."""
    if not isinstance(result, TaskResult) and not background:
        return ToolResult(output=result)  # of an application
    if not isinstance(result, TaskResult):
        text = f"the task `{result}` works in the background"
        return ToolResult(output={"id": result, "status": "running", "note": text})
    if (failure := result.failure()) is not None:
        partial = f"; what there is of its answer:\n{result.text}" if result.text else ""
        return _make_failure(failure + partial)
    return ToolResult(output={"id": result.id, "answer": result.text})


def _describe_task(task: TaskInfo) -> dict[str, Any]:
    return {"id": task.id, "description": task.description, "status": task.status}


def _require(name: str, value: str | None) -> str:
    if value is None or not value.strip():
        raise ValueError(f"`{name}` is missing; this action needs it")
    return value


def _make_failure(message: str) -> ToolResult:
    return ToolResult(success=False, error={"message": message})


def _build_schema(*, has_agents: bool) -> dict[str, Any]:
    properties = _Task.model_json_schema()["properties"]
    if not has_agents:
        del properties["agent"]
    for field in properties.values():
        field.pop("title", None)
        if "anyOf" in field:  # text or None: the model leaves out what it does not need
            field.pop("default", None)
            field.pop("anyOf")
            field["type"] = "string"
    return {"type": "object", "properties": properties, "additionalProperties": False}
