"""Generated programs of mounts, contributions, results and clean-up do the same on both engines."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalTimeoutError
from amplifier_core.models import ContextInjection, HookResult

SLOTS = st.sampled_from(
    ["orchestrator", "providers", "tools", "context", "hooks", "module-source-resolver", "tool"]
)
NAMES = st.none() | st.sampled_from(["x", "y", ""])
MODULES = st.sampled_from(["named", "unnamed", "bare", "context", "broken"])
ERRORS = st.none() | st.sampled_from([ValueError("x"), KeyError("k"), asyncio.CancelledError("c")])
OPTIONS = st.sampled_from(
    [None, ["Yes", "No"], ["❌ No", "✅ Yes"], ["Run it", "Leave it"], ["Allow not", "1. OK"]]
)
DECISIONS = st.sampled_from(
    ["Allow", "allow always", "deny", "Yes", "✅ yes", "❌ No", "run it", "1. ok", "?", "", 5, None]
) | st.sampled_from([TimeoutError("late"), ApprovalTimeoutError(), OSError("gone")])
TEXTS = st.none() | st.sampled_from(["", "text", "a long\x00 text", "x" * 30])
RESULTS = st.builds(
    HookResult,
    action=st.sampled_from(["continue", "deny", "inject_context", "inject_context", "ask_user"]),
    reason=TEXTS,
    context_injection=TEXTS,
    context_injections=st.lists(
        st.builds(
            ContextInjection,
            content=st.sampled_from(["", "short", "\x07bell", "y" * 25]),
            role=st.sampled_from(["system", "user", "assistant"]),
            ephemeral=st.booleans(),
            hook_name=st.sampled_from(["unknown", "own"]),
            event=st.sampled_from(["", "e"]),
        ),
        max_size=3,
    ),
    ephemeral=st.booleans(),
    approval_prompt=st.none() | st.sampled_from(["", "Go?", "z" * 250]),
    approval_options=OPTIONS,
    approval_default=st.sampled_from(["allow", "deny"]),
    user_message=TEXTS,
    user_message_source=st.sampled_from([None, "", "other"]),
    user_message_level=st.sampled_from(["info", "error"]),
)
STEPS = st.one_of(
    st.tuples(st.just("mount"), SLOTS, MODULES, NAMES),
    st.tuples(st.just("unmount"), SLOTS, NAMES),
    st.tuples(st.just("get"), SLOTS, NAMES),
    st.tuples(st.just("replace"), SLOTS, st.sampled_from([None, {}])),
    st.tuples(st.just("capability"), st.sampled_from(["a", "b"]), st.integers()),
    st.tuples(st.just("contribute"), st.sampled_from(["c", "d"]), st.booleans(), ERRORS),
    st.tuples(st.just("collect"), st.sampled_from(["c", "d"])),
    st.tuples(st.just("on_cleanup"), st.booleans(), ERRORS),
    st.tuples(st.just("cleanup")),
    st.tuples(st.just("cancel"), st.booleans()),
    st.tuples(st.just("process"), RESULTS),
    st.tuples(st.just("process"), RESULTS),
    st.tuples(st.just("reset_turn")),
    st.tuples(st.just("limits"), st.none() | st.integers(0, 20), st.none() | st.integers(0, 9)),
    st.tuples(st.just("approval"), st.booleans(), DECISIONS),
    st.tuples(st.just("ask"), OPTIONS, DECISIONS, st.sampled_from(["allow", "deny"])),
    st.tuples(st.just("display"), st.booleans(), ERRORS),
)


class World:
    """The things that a program mounts and registers; they write down how they are used."""

    def __init__(self, trace: list[Any]) -> None:
        self.trace = trace
        self.modules = {
            "named": SimpleNamespace(name="own"),
            "unnamed": SimpleNamespace(name=None),
            "bare": 5,
            "context": SimpleNamespace(add_message=self.add_message),
            "broken": SimpleNamespace(name="broken", add_message=self.fails),
        }

    async def add_message(self, message: Any) -> None:
        await asyncio.sleep(0)
        message["metadata"].pop("timestamp")
        self.trace.append(("message", message))

    def fails(self, message: Any) -> None:
        raise OSError("disk full")

    def function(self, name: str, is_async: bool, outcome: Any) -> Any:
        def act(*arguments: Any) -> Any:
            self.trace.append((name, arguments))
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        async def later(*arguments: Any) -> Any:
            await asyncio.sleep(0)
            return act(*arguments)

        return later if is_async else act


class Log(logging.Handler):
    def __init__(self, trace: list[Any]) -> None:
        super().__init__()
        self.trace = trace

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        # How the offered options are quoted is each language's own.
        self.trace.append(("log", record.levelname, text.partition(", which is not one of")[0]))


async def step_on(coordinator: Any, world: World, step: Any) -> Any:
    match step:
        case "mount", slot, module, name:
            return await coordinator.mount(slot, world.modules[module], name)
        case "unmount", slot, name:
            return await coordinator.unmount(slot, name)
        case "get", slot, name:
            found = coordinator.get(slot, name)
            return "registry" if found is coordinator.hooks else repr(found)
        case "replace", slot, value:
            coordinator.mount_points[slot] = value if value is None else dict(value)
        case "capability", name, value:
            before = coordinator.get_capability(name)
            coordinator.register_capability(name, value)
            return before
        case "contribute", channel, is_async, error:
            function = world.function("contributor", is_async, error or [channel])
            coordinator.register_contributor(channel, "name", function)
        case "collect", channel:
            return await coordinator.collect_contributions(channel)
        case "on_cleanup", is_async, error:
            coordinator.register_cleanup(world.function("cleanup", is_async, error))
        case ("cleanup",):
            return await coordinator.cleanup()
        case "cancel", immediate:
            await coordinator.request_cancel(immediate)
            return coordinator.cancellation.state
        case "process", result:
            left = await coordinator.process_hook_result(result, "event", "hook")
            return left is result, left.model_dump()
        case ("reset_turn",):
            coordinator.reset_turn()
        case "limits", size, budget:
            limits = {"injection_size_limit": size, "injection_budget_per_turn": budget}
            coordinator.config["session"] = limits
            return coordinator.injection_size_limit, coordinator.injection_budget_per_turn
        case "ask", options, decision, default:
            ask = world.function("asked", True, decision)
            coordinator.approval_system = SimpleNamespace(request_approval=ask)
            question = HookResult(
                action="ask_user", approval_options=options, approval_default=default
            )
            return (await coordinator.process_hook_result(question, "event")).model_dump()
        case "approval", is_async, decision:
            ask = world.function("asked", is_async, decision)
            coordinator.approval_system = SimpleNamespace(request_approval=ask)
        case _, is_async, error:
            show = world.function("shown", is_async, error)
            coordinator.display_system = SimpleNamespace(show_message=show)
    return None


async def run(engine: Any, program: list[Any]) -> list[Any]:
    """Everything that a program does: results, errors, calls, log lines and what is mounted."""
    trace: list[Any] = []
    world, log = World(trace), Log(trace)
    owner = SimpleNamespace(session_id="s", parent_id=None, config={})
    coordinator = engine.ModuleCoordinator(owner)
    logger = logging.getLogger("amplifier_core")
    logger.addHandler(log)
    logger.setLevel(logging.DEBUG)
    try:
        for step in program:
            try:
                outcome = await step_on(coordinator, world, step)
            except BaseException as error:  # noqa: BLE001 (compared)
                outcome = (type(error).__name__, str(error))
            mounted = {
                slot: "registry" if module is coordinator.hooks else repr(module)
                for slot, module in coordinator.mount_points.items()
            }
            trace.append((step[0], outcome, mounted, coordinator._current_turn_injections))
            try:
                trace.append(coordinator.to_dict())
            except TypeError as error:
                trace.append(str(error))
    finally:
        logger.removeHandler(log)
        logger.setLevel(logging.NOTSET)
    return trace


@settings(max_examples=4 * settings().max_examples, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_programs_of_a_coordinator_do_the_same_on_both_engines(engines, program):
    rust, python = (asyncio.run(run(engine, program)) for engine in engines)
    assert addressless(rust) == addressless(python)


WORDS = st.sampled_from(["Yes", "No", "ok then", "don't", "Run it", "never!", "allow once", "deny"])


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), WORDS, st.booleans())
def test_a_decision_means_the_same_on_both_engines(engines, options, decision, is_offered):
    decision = options[-1] if is_offered else decision
    question = HookResult(action="ask_user", approval_options=options)
    approval = SimpleNamespace(request_approval=lambda *_: decision.upper())
    rust, python = (
        asyncio.run(engine.ModuleCoordinator(None, approval).process_hook_result(question, "event"))
        for engine in engines
    )
    assert rust == python


def addressless(trace: list[Any]) -> str:
    """A trace as text; the world of each run has its own bound methods."""
    import re

    return re.sub(r" at 0x[0-9a-f]+", "", repr(trace))
