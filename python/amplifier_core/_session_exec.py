"""Running a session's loop."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from ._kernel.loop_run import LoopRun, logger
from ._loading.review import review_late_handlers
from .event_loop import find_asyncio_loop
from .interruption import Interruption, block_of
from .left_behind import Leaving, as_coroutine
from .llm_errors import AbortError
from .mount_plan import plan_for_events
from .session_capabilities import SESSION_JOURNAL

SESSION_CONFIG = "session:config"
"""Event that carries the whole mount plan, secrets taken out."""


HOOK_GRACE_SECONDS = 2.0
"""How long a hook that is ended may take to end before it is left behind."""


async def announce(coordinator: Any, event: str, data: dict[str, Any]) -> None:
    """Emit an event before the loop runs, until everything has to stop immediately.

    Args:
        coordinator: Coordinator whose hooks get the event.
        event: Name of the event.
        data: Data of the event.
    """
    with Interruption(getattr(coordinator, "cancellation", None)):
        steps = as_coroutine(coordinator.hooks.emit(event, data))
        # Most handlers wait for nothing: then this step is all.
        try:
            awaited = steps.send(None)
        except StopIteration:
            return
        what = f"a hook of `{event}`"
        await Leaving(steps, HOOK_GRACE_SECONDS, what, logger).await_rest(awaited)


async def run_orchestrator(coordinator: Any, prompt: str, is_stopping: bool = False) -> str:
    """Have the mounted loop answer a prompt, until everything has to stop immediately.

    Args:
        coordinator: Coordinator that holds the loop and what it works with.
        prompt: What the user wrote.
        is_stopping: Whether that was asked for in this turn already: the loop is ended at the first
            thing that it waits for.

    Raises:
        RuntimeError: No loop is mounted.
        CancelledError: The session was cancelled immediately, and the loop let this through.
        AbortError: The same under trio.
        Exception: What the loop raised, or the journal of the session, which did not store it.
    """
    answer = await _run_loop(coordinator, prompt, is_stopping)
    find_capability: Any = getattr(coordinator, "get_capability", None)
    journal: Any = find_capability(SESSION_JOURNAL) if callable(find_capability) else None
    if journal is not None:
        await journal.flush()
    return answer


async def _run_loop(coordinator: Any, prompt: str, is_stopping: bool) -> str:
    orchestrator = coordinator.get("orchestrator")
    if orchestrator is None:
        raise RuntimeError("No orchestrator module mounted")
    if (reviewing := review_late_handlers(coordinator)) is not None:
        await reviewing
    providers = coordinator.get("providers")
    tools = coordinator.get("tools")
    token: Any = getattr(coordinator, "cancellation", None)
    if getattr(token, "is_cancelled", False) is True and not is_stopping:
        logger.warning(
            "session `%s` is cancelled, so its turns end at once; "
            "call `session.coordinator.cancellation.reset()` to go on",
            coordinator.session_id,
        )
    running = orchestrator.execute(
        prompt=prompt,
        context=coordinator.get("context"),
        providers={} if providers is None else providers,
        tools={} if tools is None else tools,
        hooks=coordinator.hooks,
        coordinator=coordinator,
    )
    if not hasattr(token, "register_child"):
        return await running
    if find_asyncio_loop() is None:
        with Interruption(token) as block:
            return await (_until_it_waits(running, block) if is_stopping else running)
        # The error of trio cannot leave the scope that was cancelled.
        raise AbortError("the turn was ended by `request_immediate`")
    was_immediate = token.is_immediate and not is_stopping
    steps = as_coroutine(running)
    # Most of what makes a turn end at once is needed only if the loop waits for something.
    try:
        awaited = steps.send(None)
    except StopIteration as stop:
        return stop.value
    if is_stopping and (block := block_of(token)) is not None:
        block.request_immediate()
    return await LoopRun(steps, awaited, token, was_immediate, orchestrator)


async def _until_it_waits(running: Awaitable[str], block: Interruption) -> str:
    """Await a loop under trio, ended at the first thing that it waits for."""
    steps = as_coroutine(running)
    try:
        awaited = steps.send(None)
    except StopIteration as stop:
        return stop.value
    block.end_innermost()
    return await Leaving(steps, 0, "the loop", logger).await_rest(awaited)


async def emit_raw_field_if_configured(
    coordinator: Any,
    config: dict[str, Any],
    session_id: str,
    event_base: str,
) -> None:
    """Emit `session:config` with the mount plan, if its `session.raw` asks for that.

    Args:
        coordinator: Coordinator whose hooks get the event.
        config: Mount plan.
        session_id: Id of the session.
        event_base: Event that the session began with; never emitted here.
    """
    plan = plan_for_events(config)
    if "raw" in plan:
        payload = {"session_id": session_id, "raw": plan["raw"]}
        await announce(coordinator, SESSION_CONFIG, payload)
