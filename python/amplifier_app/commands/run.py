"""One turn of a session for the command line, from the mount plan to the exit code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

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
from amplifier_core import events

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
    SECRETS.learn(session.config)
    session.coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)
    observer = Observer(session.coordinator, output.handle)
    observer.start()
    refusal = _Refusal(session.coordinator.hooks)
    # In its own task: only that is cancelled, and the clean-up after it can await.
    turn = asyncio.create_task(_turn(session, order, observer, refusal))
    stopping = asyncio.Event()

    def stop() -> None:
        turn.cancel()
        stopping.set()

    def show(text: str) -> None:
        output.break_line()
        notice(text)

    output.call_on_failure(stop)
    interruption = Interruption(session.coordinator.cancellation, stop, show)
    with interruption.installed():
        await _until_done(turn, stopping)
        await _cleaned_up(session)
        if (answer := _answer(turn)) is not None:
            output.answer(answer)
        output.finish()
        code = _exit_code(output, interruption, turn)
        if code == 0 and refusal.limit is not None:
            code = report(refusal.limit)
    if not turn.done():
        leave(code)  # it waits for something that cannot be cancelled, such as a thread
    return code


def _session(order: Order, provider: Mapping[str, Any], output: Output) -> Any:
    from amplifier_core import AmplifierSession
    from amplifier_core._kernel.capability_names import SESSION_WORKING_DIR

    session: Any = AmplifierSession(
        mount_plan(order.folder, provider, order.model, order.hooks),
        approval_system=TerminalApproval(output.hold, output.release),
        display_system=output,
    )
    session.coordinator.register_capability(SESSION_WORKING_DIR, str(order.folder))
    return session


async def _turn(session: Any, order: Order, observer: Observer, refusal: _Refusal) -> str | None:
    await _initialize(session)
    await observer.add_contributed()
    for line in replaced_modules(session.config):
        notice(f"warning: {line}")
    context = session.coordinator.get("context")
    text = SYSTEM_PROMPT.format(folder=order.folder)
    await context.add_message({"role": "system", "content": text})
    if session.coordinator.cancellation.is_cancelled:
        return None  # Ctrl+C while the modules were loading
    answer = await session.execute(order.prompt)
    refusal.report()
    return answer


async def _initialize(session: Any) -> None:
    """Mount the modules; the plan is strict, so nothing is left out.

    Raises:
        Failure: Something is wrong with the mount plan.
    """
    from amplifier_core._loading.review import mistakes_of

    try:
        await session.initialize()
    except RuntimeError as error:
        if not (mistakes := mistakes_of(error)):
            raise
        hint = "run again with `--debug` for the traceback"
        raise Failure("; ".join(mistakes), hint=hint) from error


class _Refusal:
    """The refusal of a turn by a hook, or the limit that ended it, if there is one."""

    _WHAT: ClassVar = {events.PROMPT_SUBMIT: "the prompt", events.PROVIDER_REQUEST: "a model call"}

    def __init__(self, hooks: Any) -> None:
        self._denied: Mapping[str, Any] | None = None
        self._limit: int | None = None
        hooks.register(events.ORCHESTRATOR_COMPLETE, self._note, name="amplifier-app-refusal")

    def _note(self, _: str, data: Any) -> None:
        self._denied = data.get("denied")
        if self._denied is None and data.get("status") == "incomplete":
            self._limit = data.get("turn_count")

    def report(self) -> None:
        """Report the refusal.

        Raises:
            Failure: The turn was refused.
        """
        if self._denied is not None:
            what = self._WHAT.get(str(self._denied.get("event")), "the turn")
            raise Failure(f"{what} was refused: {self._denied.get('reason')}")

    @property
    def limit(self) -> Failure | None:
        """Why the turn was ended before the model was done, if so."""
        if self._limit is None:
            return None
        text = f"the turn was ended after {self._limit:,} model calls, the `max_iterations` of the loop"
        hint = "the answer may be incomplete; set `LOOP_MAX_ITERATIONS` to allow more"
        return Failure(text, hint=hint)


async def _until_done(turn: asyncio.Task[str | None], stopping: asyncio.Event) -> None:
    """Wait for the turn; when it must stop, only for the grace period."""
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not turn.done():
        await asyncio.wait({turn}, timeout=_GRACE_SECONDS)


async def _cleaned_up(session: Any) -> None:
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            await session.cleanup()
    except TimeoutError:
        logger.warning("the session did not clean up within %.0f s", _GRACE_SECONDS)
    except Exception:
        logger.exception("the clean-up of the session failed")


def _answer(turn: asyncio.Task[str | None]) -> str | None:
    if not turn.done() or turn.cancelled() or turn.exception() is not None:
        return None
    return turn.result()


def _exit_code(output: Output, interruption: Interruption, turn: asyncio.Task[str | None]) -> int:
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
    error = turn.exception()
    return 0 if error is None else report(error)
