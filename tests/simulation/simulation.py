"""Runs the session of a seed and checks every promise at every step."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from broken import BrokenPromiseError
from event_pairs import BEGINNINGS, PAIRS
from seeded_loop import LoopWorld, SeededLoop, StuckError
from session_plan import SessionPlan, TurnPlan, session_plan
from simulated_model import SimulatedModel
from simulated_tools import simulated_tools
from simulated_world import World

from amplifier_agent import Agent, Session, hook
from amplifier_agent.function_hook import Hook
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import HookResult
from amplifier_core.world import use
from amplifier_modules.spawn.tasks import tasks_of

COMMAND = "python tests/simulation/repeat.py"

_HEARD = (*PAIRS, *BEGINNINGS, "tool:start", "provider:request", "orchestrator:complete",
          "budget:warning", "orchestrator:steering_discarded", "session:end",
          "context:message")  # fmt: skip
_LOGGERS = (
    "amplifier_core",
    "amplifier_providers",
    "amplifier_modules",
    "amplifier_agent",
    "asyncio",
)
_OF_ANSWERS = ("content_block:", "agent:")
_SHOWN_STEPS = 60


class SimulationError(AssertionError):
    """A session has broken a promise; its seed repeats it."""


@dataclass(frozen=True)
class Simulated:
    """A session that has kept all promises."""

    digest: str
    """The same whenever the seed runs."""
    steps: int
    sessions: int
    statuses: tuple[str, ...]
    """How its turns ended."""


def simulate(seed: int) -> Simulated:
    """Run the session of a seed.

    Raises:
        SimulationError: It has broken a promise.
    """
    random = Random(seed)
    plan = session_plan(random)
    world = World(random, plan)
    order = Random(f"order {seed}") if plan.is_shuffled else None
    loop = SeededLoop(order, world.check)
    statuses: list[str] = []

    def note_unhandled(loop: Any, context: dict[str, Any]) -> None:
        message = f"{context.get('message')}: {context.get('exception')!r}"
        world.note_broken(BrokenPromiseError(message))

    loop.set_exception_handler(note_unhandled)
    try:
        with use(LoopWorld(loop, Random(f"world {seed}"))), _errors_heard(world):
            try:
                loop.run_until_complete(_converse(world, plan, statuses))
                loop.run_until_complete(loop.shutdown_asyncgens())
            except Exception:
                _end_tasks(loop)
                raise
    except Exception as error:
        steps = "\n".join(map(str, world.trace[-_SHOWN_STEPS:]))
        message = f"{steps}\nseed {seed}: {error!r}\nrepeat it with: {COMMAND} {seed}"
        raise SimulationError(message) from error
    finally:
        loop.close()
    return Simulated(world.digest(), len(world.trace), len(world.sessions), tuple(statuses))


async def _converse(world: World, plan: SessionPlan, statuses: list[str]) -> None:
    hooks: list[Any] = _hooks(world, plan)
    expert = Agent(
        SimulatedModel(world, plan),
        tools=simulated_tools(world)[:2],
        loop=plan.loop,
        context=plan.context,
        hooks=hooks,
        approvals=world.person,
        budget=plan.agent_budget,
    )
    task = {} if plan.task_budget is None else {"budget": plan.task_budget.config()}
    agent = Agent(
        SimulatedModel(world, plan),
        tools=[
            *simulated_tools(world),
            {"module": "tool-task", "config": task},
            expert.as_tool("expert", "Knows more."),
        ],
        system="be brief",
        loop=plan.loop,
        context=plan.context,
        hooks=hooks,
        approvals=world.person,
    )
    async with agent.session(session_id="root") as session:
        coordinator: Any = session.session.coordinator
        world.adopt(coordinator)
        tasks = tasks_of(coordinator)
        tasks.prepare = (*tasks.prepare, world.adopt)
        for turn in plan.turns:
            statuses.append(await _run_turn(world, session, turn))
            if session.last is None:
                raise BrokenPromiseError("a turn has no result")
    await world.check_closed()


async def _run_turn(world: World, session: Session[Any], turn: TurnPlan) -> str:
    """Run a turn while things are done to it; return how it ended."""
    prompt = world.job(None, turn.budget, turn.prompt)
    if turn.has_goal:
        session.goal = "all is done"
    running = asyncio.ensure_future(session.run(prompt, budget=turn.budget))
    doing = asyncio.ensure_future(_do(world, session, turn, running))
    try:
        result = await running
        if result.goal is not None:
            world.session(session.id).goal.check_end(result.goal.verdict)
        return result.status
    except asyncio.CancelledError:
        return "task cancelled"
    except LLMError as error:
        if id(error) in world.raised or id(error.__cause__) in world.raised:
            return "model failed"
        raise
    finally:
        doing.cancel()
        await asyncio.wait([doing])
        session.resume()
        if not doing.cancelled() and (error := doing.exception()) is not None:
            raise error


async def _do(
    world: World, session: Session[Any], turn: TurnPlan, running: asyncio.Future[Any]
) -> None:
    now = 0.0
    for instant, deed in turn.deeds:
        await asyncio.sleep(instant - now)
        now = instant
        world.trace.append((now, "user", deed))
        match deed:
            case "cancel" | "cancel_gracefully":
                world.cancel_turn(session.id)
                session.cancel(graceful=deed == "cancel_gracefully")
            case "cancel_task":  # sub-agents in the background go on
                running.cancel()
            case "steer":
                text = f"steer {world.number()}"
                session.steer(text)
                world.steered[text] += 1
            case "pause":
                session.pause()
            case "resume":
                session.resume()


def _hooks(world: World, plan: SessionPlan) -> list[Hook]:
    @hook(*_HEARD, priority=-1000)
    def first(event: str, data: dict[str, Any]) -> None:
        world.hear(event, data)

    hooks = [first]
    if plan.slow_events:

        @hook(*plan.slow_events)
        async def slow(event: str, data: dict[str, Any]) -> None:
            del data
            # What tells of an answer may take longer than a cancelled answer may, which is left
            # behind then; elsewhere that would be left out.
            longest = 2.5 if event.startswith(_OF_ANSWERS) else 0.25
            await asyncio.sleep(world.random.choice((0.0, 0.0, 0.0, longest)))

        hooks.append(slow)
    if plan.judges:

        @hook("tool:pre", "tool:post", "provider:request", "orchestrator:steering_submitted")
        def judge(event: str, data: dict[str, Any]) -> HookResult | None:
            del data
            chance = world.random.random()
            if chance < 0.1:
                return HookResult(action="deny", reason="not now")
            if chance < 0.2 and event != "orchestrator:steering_submitted":
                return HookResult(
                    action="inject_context",
                    context_injection="a hook says hello",
                    context_injection_role="user",
                )
            return None

        hooks.append(judge)
    if plan.asks:

        @hook("tool:pre")
        def ask(event: str, data: dict[str, Any]) -> HookResult | None:
            del event
            return world.person.judge(data)

        hooks.append(ask)
    return hooks


@contextmanager
def _errors_heard(world: World) -> Generator[None]:
    """Take what is logged as an error for a broken promise."""

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info and record.exc_info[1]
            if isinstance(error, RuntimeError) and "in a different task" in str(error):
                return  # a scope of what was left behind; its turn ends all the same
            message = f"logged as an error: {record.getMessage()}: {error!r}"
            world.note_broken(BrokenPromiseError(message))

    handler = Heard(logging.ERROR)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    # What the garbage collector finds would end somewhere else in each run.
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        for logger, propagates in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagates


def _end_tasks(loop: SeededLoop) -> None:
    """End what runs after a failure, so that nothing is said of it later."""
    loop.after_batch = lambda: None
    loop.set_exception_handler(lambda loop, context: None)
    for _ in range(3):
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks, timeout=100))
        except (StuckError, RuntimeError):
            break
