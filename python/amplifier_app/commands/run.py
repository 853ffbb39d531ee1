"""One turn of a session for the command line, from the mount plan to the exit code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amplifier_agent.observer import Observer
from amplifier_app.approval import TerminalApproval
from amplifier_app.commands.mount_plan import SYSTEM_PROMPT, mount_plan, replaced_modules
from amplifier_app.commands.order import Order
from amplifier_app.failure import Failure, report
from amplifier_app.interrupt import Interruption, leave
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import notice
from amplifier_app.output import Output
from amplifier_app.redacted_output import RedactedOutput

if TYPE_CHECKING:
    from amplifier_agent import Result, Session

logger = logging.getLogger(__name__)

_GRACE_SECONDS = 5.0
"""How long a cancelled turn, and then the clean-up, may take."""

READER_GONE = 141
"""The exit code when standard output was closed: that of a program ended by SIGPIPE."""


async def run_turn(order: Order, provider: Mapping[str, Any], output: Output) -> int:
    """Run one prompt and return the exit code; errors are written to standard error.

    Args:
        order: What to run.
        provider: The config of `provider-anthropic`.
        output: What shows it.

    Returns:
        The exit code. The session is always cleaned up, and an interrupted turn leaves a valid
        history.
    """
    from amplifier_core._kernel.capability_names import GUARD_REDACTOR

    output = RedactedOutput(output)
    session = _session(order, provider, output)
    coordinator: Any = session.session.coordinator
    SECRETS.learn(session.session.config)
    coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)
    observer = Observer(coordinator, output.handle)
    observer.start()
    # In its own task: only that is cancelled, and the clean-up after it can await.
    turn = asyncio.create_task(_turn(session, order, observer))
    stopping = asyncio.Event()

    def stop() -> None:
        turn.cancel()
        stopping.set()

    def show(text: str) -> None:
        output.break_line()
        notice(text)

    output.call_on_failure(stop)
    interruption = Interruption(coordinator.cancellation, stop, show)
    with interruption.installed():
        await _until_done(turn, stopping)
        await _cleaned_up(session)
        if (result := _result(turn)) is not None and result.status != "denied":
            output.answer(result.text)
        output.finish()
        code = _exit_code(output, interruption, turn)
    if not turn.done():
        leave(code)  # it waits for something that cannot be cancelled, such as a thread
    return code


def _session(order: Order, provider: Mapping[str, Any], output: Output) -> Session:
    from amplifier_agent import Agent

    agent = Agent(
        plan=mount_plan(order.folder, provider, order.model, order.hooks),
        system=SYSTEM_PROMPT.format(folder=order.folder),
        approvals=TerminalApproval(output.hold, output.release),
        directory=order.folder,
    )
    session = agent.session()
    session.session.coordinator.display_system = output
    return session


async def _turn(session: Session, order: Order, observer: Observer) -> Result | None:
    await _open(session)
    await observer.add_contributed()
    for line in replaced_modules(session.session.config):
        notice(f"warning: {line}")
    if session.session.coordinator.cancellation.is_cancelled:
        return None  # Ctrl+C while the modules were loading
    return await session.run(order.prompt)


async def _open(session: Session) -> None:
    """Mount the modules; the plan is strict, so nothing is left out.

    Raises:
        Failure: Something is wrong with the mount plan.
    """
    from amplifier_core.llm_errors import ConfigurationError

    try:
        await session.__aenter__()
    except ConfigurationError as error:
        mistakes: tuple[str, ...] = getattr(error, "mistakes", ()) or (str(error),)
        hint = "run again with `--debug` for the traceback"
        raise Failure("; ".join(mistakes), hint=hint) from error


def _complaint(result: Result) -> Failure | None:
    """What is to be said of a turn without a whole answer."""
    if result.status == "limit":
        hint = "the answer may be incomplete; set `LOOP_MAX_ITERATIONS` to allow more"
        return Failure(f"the turn was ended: {result.reason}", hint=hint)
    if result.status in {"denied", "truncated", "error"}:
        return Failure(str(result.reason))
    return None


async def _until_done(turn: asyncio.Task[Result | None], stopping: asyncio.Event) -> None:
    """Wait for the turn; when it must stop, only for the grace period."""
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not turn.done():
        await asyncio.wait({turn}, timeout=_GRACE_SECONDS)


async def _cleaned_up(session: Session) -> None:
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            await session.__aexit__()
    except TimeoutError:
        logger.warning("the session did not clean up within %.0f s", _GRACE_SECONDS)
    except Exception:
        logger.exception("the clean-up of the session failed")


def _result(turn: asyncio.Task[Result | None]) -> Result | None:
    if not turn.done() or turn.cancelled() or turn.exception() is not None:
        return None
    return turn.result()


def _exit_code(
    output: Output, interruption: Interruption, turn: asyncio.Task[Result | None]
) -> int:
    """The exit code of the turn; its error is reported unless the user stopped it."""
    if interruption.exit_code:
        return interruption.exit_code
    if isinstance(output.failure, BrokenPipeError):
        return READER_GONE
    if output.failure is not None:
        reason = output.failure.strerror
        hint = "check where it is redirected to"
        return report(Failure(f"standard output cannot be written: {reason}", hint=hint))
    if not turn.done() or turn.cancelled():
        hint = "run again with `--debug` for details"
        return report(Failure("a module cancelled the turn", hint=hint))
    if (error := turn.exception()) is not None:
        return report(error)
    result = turn.result()
    complaint = None if result is None else _complaint(result)
    return 0 if complaint is None else report(complaint)
