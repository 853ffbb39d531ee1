"""What workers and servers have in common: their store, their lines, and how they end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.interrupt import leave, listening
from amplifier_app.notice import show_notice
from amplifier_app.outcome import INTERRUPTED
from amplifier_app.printable import printable_line
from amplifier_app.sessions.opening import USUAL
from amplifier_modules.stores.naming import make_store_entry

_MAX_CHARS = 500
_MODULES = "store-", "postgresql://", "postgres://"


def find_store(place: str | None) -> dict[str, Any]:
    """Return the store that `--store` names."""
    if place is None:
        return {"module": USUAL}
    if place.startswith(_MODULES):
        return make_store_entry(place)
    return {"module": USUAL, "config": {"folder": place}}


def make_say(report: Report) -> Callable[[str], None]:
    """Return what writes a line at once."""

    def say(line: str) -> None:
        report.write_lines([printable_line(line, _MAX_CHARS)])
        sys.stdout.flush()

    return say


def run_until_signal(run: Callable[[], Awaitable[None]], stop: Callable[[], object]) -> None:
    """Run something until it ends; a signal stops it, and a second one ends the process at once.

    Raises:
        Failure: It cannot be run.
    """
    from amplifier_core.llm_errors import ConfigurationError
    from amplifier_modules.stores import StoreError

    has_begun_to_stop = False

    def end(_: str = "") -> None:
        nonlocal has_begun_to_stop
        if has_begun_to_stop:
            leave(INTERRUPTED)
        has_begun_to_stop = True
        show_notice("stops; a second signal ends at once")
        stop()

    async def run_listening() -> None:
        with listening(end, end):
            await run()

    try:
        asyncio.run(run_listening())
    except (ConfigurationError, StoreError) as error:
        raise Failure(str(error), hint="check `--store`") from error
