"""A session of an agent on its way to its first turn."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, UnionType
from typing import Any, cast

from amplifier_core.handlers import JUDGED_EVENTS
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.mount_plan import list_mistakes
from amplifier_core.session_capabilities import (
    APPROVAL_TIMEOUT,
    HTTP_CLIENT,
    SESSION_BUDGET,
    SESSION_PAUSE,
    SESSION_RESUME,
    SESSION_STEER,
    SESSION_STORED_HISTORY,
    SESSION_WORKING_DIR,
)
from amplifier_modules.contexts.history_events import GIVEN, REPAIR, from_source
from amplifier_modules.loops.goal.rules import goal_of
from amplifier_modules.loops.loop import Loop, mount_loop
from amplifier_modules.running.kept_state import COMMAND_LIMITS_STATE
from amplifier_modules.spawn.tasks import tasks_of
from amplifier_modules.spending.budget import Budget, SharedBudget
from amplifier_providers.base import CHUNKS_YIELD
from amplifier_providers.running.stored_attribute import find_stored

from .function_hook import EVERY_EVENT, Hook
from .history import is_repair, repair_history
from .plan import Parts
from .result import Message

_OFFERED = {SESSION_STEER: "steer", SESSION_PAUSE: "pause", SESSION_RESUME: "resume"}
"""Capabilities that a loop of others has as methods."""


async def start(session: Any, parts: Parts, messages: Sequence[Message], state: object) -> None:
    """Load the modules of a plan, mount the objects beside it, and fill the context.

    Raises:
        ConfigurationError: All that is wrong with the plan and the objects, in one list.
        StoreError: The store cannot be used, or what is stored is damaged.
    """
    coordinator = session.coordinator
    if parts.directory is not None:
        coordinator.register_capability(SESSION_WORKING_DIR, str(parts.directory))
    if parts.approval_timeout is not None:
        coordinator.register_capability(APPROVAL_TIMEOUT, parts.approval_timeout)
    if isinstance(parts.budget, SharedBudget):
        coordinator.register_capability(SESSION_BUDGET, parts.budget)
    if parts.http_client is not None:
        coordinator.register_capability(HTTP_CLIENT, parts.http_client)
    if parts.hooks:
        register_hooks(coordinator, parts.hooks)
        # What judges a session judges its sub-agents; what only observes it sees them, too.
        if observing := list(filter(None, map(_make_observing_hook, parts.hooks))):
            tasks = tasks_of(coordinator)
            tasks.prepare = (*tasks.prepare, lambda child: register_hooks(child, observing))
    of_plan: tuple[str, ...] = ()
    refusal: ConfigurationError | None = None
    try:
        await session.initialize()
    except RuntimeError as error:
        # What a plan says wrong is raised as what it is, and what its store says, too.
        if (said := _find_store_error(error)) is not None:
            raise said from said.__cause__
        if not isinstance(error.__cause__, ConfigurationError):
            raise
        refusal, of_plan = error.__cause__, list_mistakes(error)
    problems = await _mount_objects(coordinator, parts)
    await _go_on(coordinator, parts)
    if tools := coordinator.get("tools"):
        problems += _tool_problems(coordinator, tools, parts, state)
    problems += _provider_problems(coordinator, parts)
    problems += budget_problems(coordinator, parts.budget) + goal_problems(coordinator)
    if parts.approval_timeout is not None and (foreign := foreign_loop(coordinator)) is not None:
        problems.append(f"the loop `{foreign}` has no `approval_timeout`; use one of ours")
    if problems:
        raise _make_refusal(of_plan, problems)
    if refusal is not None:
        raise refusal
    if messages and coordinator.get_capability(SESSION_STORED_HISTORY) is not None:
        raise ConfigurationError(
            f"session `{session.session_id}` is stored, and goes on with its own messages; give no"
            " `messages=`"
        )
    if parts.system is not None or messages:
        await _fill(coordinator.get("context"), parts, messages)


def _find_store_error(error: BaseException) -> Exception | None:
    """Return what a store of the plan has said; None if it has said nothing."""
    from amplifier_modules.stores import StoreError

    each: BaseException | None = error
    while each is not None and not isinstance(each, StoreError):
        each = each.__cause__
    return each


async def _go_on(coordinator: Any, parts: Parts) -> None:
    """Let a stored session go on, where its context, loop or store is no module of its plan."""
    has_objects = parts.context is not None or parts.loop is not None
    if parts.store is not None:
        from amplifier_modules.stores.mounting import mount_store

        coordinator.register_cleanup(await mount_store(coordinator, parts.store))
    elif has_objects and coordinator.get_capability(SESSION_STORED_HISTORY) is not None:
        from amplifier_modules.stores.mounting import restore_mounted

        await restore_mounted(coordinator)
    stored = coordinator.get_capability(SESSION_STORED_HISTORY)
    if stored is not None and (body := stored.states.get(COMMAND_LIMITS_STATE)) is not None:
        # Late: few sessions have them.
        from amplifier_modules.tools.skill.command_limits import CommandLimits

        CommandLimits.of_session(coordinator).restore(body)


def register_hooks(coordinator: Any, hooks: Iterable[Hook]) -> None:
    """Register the hooks of an agent with a session."""
    for each in hooks:
        if EVERY_EVENT in each.events:
            coordinator.hooks.observe(each.function, each.name)
            continue
        for event in each.events:
            coordinator.hooks.register(
                event,
                each.function,
                each.priority,
                each.name,
                fail_closed=each.fail_closed,
                timeout=each.timeout,
            )


def _make_observing_hook(hook: Hook) -> Hook | None:
    """Return a hook without the events that it judges; None if it only judges."""
    events = tuple(each for each in hook.events if each not in JUDGED_EVENTS)
    return replace(hook, events=events) if events else None


def _make_refusal(of_plan: Sequence[str], problems: Sequence[str]) -> ConfigurationError:
    mistakes = (*of_plan, *problems)
    listed = "; ".join(mistakes)
    error = ConfigurationError(
        f"the agent has {len(mistakes)} mistakes: {listed}" if of_plan else listed
    )
    error.mistakes = mistakes  # pyright: ignore[reportAttributeAccessIssue] -- for callers that list them
    return error


async def _mount_objects(coordinator: Any, parts: Parts) -> list[str]:
    """Mount what no plan can hold; return what is wrong with it."""
    if parts.loop is not None:
        if isinstance(parts.loop, Loop):
            await mount_loop(coordinator, parts.loop)
        else:
            await coordinator.mount("orchestrator", parts.loop)
            for capability, name in _OFFERED.items():
                coordinator.register_capability(capability, getattr(parts.loop, name, None))
    if parts.context is not None:
        from amplifier_modules.contexts.attached import attach_context

        await attach_context(coordinator, parts.context)
    if parts.provider is not None:
        await coordinator.mount("providers", parts.provider, name=parts.provider.name)
    problems: list[str] = []
    if not parts.tools:
        return problems
    mounted = set(coordinator.get("tools") or {})
    for each in parts.tools:
        if isinstance(each, type):
            problems.append(_class_problem(each.__name__))
            continue
        if each.name in mounted:
            problems.append(f"two tools are called `{each.name}`; give one another name")
            continue
        mounted.add(each.name)
        await coordinator.mount("tools", each, name=each.name)
    return problems


def _tool_problems(
    coordinator: Any, tools: Mapping[str, Any], parts: Parts, state: object
) -> list[str]:
    problems: list[str] = []
    foreign = foreign_loop(coordinator)
    for name, each in tools.items():
        if isinstance(each, type):
            problems.append(_class_problem(each.__name__))
            continue
        wanted = find_stored(each, "state_type") and each.state_type
        if isinstance(wanted, type | UnionType) and not isinstance(state, wanted):
            found, what = type(state).__name__, getattr(wanted, "__name__", None) or wanted
            problems.append(f"tool `{name}` needs a `state` of type `{what}`, found `{found}`")
        if getattr(each, "needs_approval", False) is not True:
            continue
        if coordinator.approval_system is None:
            problems.append(
                f"tool `{name}` needs approval, and nobody can be asked: give `approvals=`"
            )
        if foreign is not None:
            problems.append(
                f"tool `{name}` needs approval, and the loop `{foreign}` asks for none; use one of"
                " ours"
            )
    return problems


def _class_problem(name: str) -> str:
    """Say that a class is no tool."""
    return f"the tool `{name}` is a class (must be an instance, such as `{name}()`)"


def _provider_problems(coordinator: Any, parts: Parts) -> list[str]:
    """List what is wrong with the providers, or that none is mounted and the plan names none."""
    providers = cast("dict[str, Any]", coordinator.get("providers") or {})
    loop = coordinator.get("orchestrator")
    problems = [
        f"`chunks` of the provider `{name}` returns instead of yielding ({CHUNKS_YIELD})"
        for name, each in providers.items()
        if (chunks := find_stored(each, "chunks")) and _is_async(chunks)
    ]
    if providers and isinstance(loop, Loop):
        problems += loop.role_problems(providers)
    if problems:
        return problems
    if providers or parts.plan["providers"]:
        return []
    return ["no provider is mounted: give `model=`, or name one under `providers` of the plan"]


def _is_async(function: Any) -> bool:
    """Whether a call of a function returns a coroutine."""
    if type(function) is FunctionType and not function.__dict__:  # and so without a mark
        return bool(function.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(function)


def budget_problems(coordinator: Any, budget: Budget | None) -> list[str]:
    """List why a budget cannot be kept: the loop keeps none, or the cost of a call is not known."""
    if budget is None:
        return []
    problems: list[str] = []
    if (foreign := foreign_loop(coordinator)) is not None:
        problems.append(f"the loop `{foreign}` keeps no budget; use one of ours")
    providers = cast("dict[str, Any]", coordinator.get("providers") or {})
    for name, each in providers.items() if budget.cost is not None else ():
        if getattr(each, "reports_cost", False) is True:
            continue
        if model := getattr(each, "unpriced_model", None):
            problems.append(
                f"the budget has a `cost`, and no price is known for `{model}` of `{name}`; set its"
                " `prices`"
            )
        else:
            problems.append(
                f"the budget has a `cost`, and `{name}` does not tell what a call costs"
            )
    return problems


def goal_problems(coordinator: Any) -> list[str]:
    """List why a goal cannot be pursued: the loop pursues none."""
    if goal_of(coordinator) is None or (foreign := foreign_loop(coordinator)) is None:
        return []
    return [f"the loop `{foreign}` pursues no goal; use one of ours"]


def foreign_loop(coordinator: Any) -> str | None:
    """Return the name of a loop that is not ours; None for ours."""
    loop = coordinator.get("orchestrator")
    if loop is None or isinstance(loop, Loop):
        return None
    return str(getattr(loop, "name", None) or type(loop).__name__)


async def _fill(context: Any, parts: Parts, messages: Sequence[Message]) -> None:
    if parts.system is not None:
        set_factory = getattr(context, "set_system_prompt_factory", None)
        if callable(set_factory):
            await cast("Any", set_factory(_make_prompt_factory(parts.system)))
        else:
            text = await _make_prompt_factory(parts.system)()
            await context.add_message({"role": "system", "content": text})
    if messages:
        from amplifier_providers.requests.foreign_form import native_messages

        messages = repair_history(native_messages(messages))
    for message in messages:
        with from_source(REPAIR if is_repair(message) else GIVEN):
            await context.add_message(message)


def _make_prompt_factory(system: Any) -> Any:
    async def make_prompt() -> str:
        if isinstance(system, str):
            return system
        text = system()
        return str(await text if inspect.isawaitable(text) else text)

    return make_prompt
