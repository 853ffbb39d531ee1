"""From the checked arguments to a running turn: the log, the model and the output.

Slow imports come after the first output, so that the user sees at once that it works.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO, cast

from amplifier_app.commands.order import Order
from amplifier_app.engine import load_engine
from amplifier_app.failure import Failure, is_debugging, report
from amplifier_app.notice import write_notice
from amplifier_app.telemetry import exported

if TYPE_CHECKING:
    from amplifier_app.display.screen import Screen
    from amplifier_app.output import Output


def start(order: Order, *, as_json: bool) -> int:
    """Run a turn on the real model, or on the demo model where there is no key."""
    try:
        _require_engine()
        with (
            exported(os.environ) as hooks,
            _model() as provider,
            _screen(as_json=as_json) as screen,
        ):
            from amplifier_app.lazy_trio import import_httpcore

            import_httpcore()
            import asyncio

            return asyncio.run(_shown(replace(order, hooks=tuple(hooks)), provider, screen))
    except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
        return report(error)


def set_up_logging(*, verbose: bool) -> None:
    """Log to standard error if requested; otherwise the log goes nowhere."""
    root = logging.getLogger()
    if is_debugging() or verbose:
        from amplifier_app.log_output import log_handler

        root.addHandler(log_handler())
        root.setLevel(logging.DEBUG if is_debugging() else logging.INFO)
        logging.getLogger("httpcore2").setLevel(logging.INFO)
    else:
        root.addHandler(logging.NullHandler())


def _require_engine() -> None:
    """Load the extension, without which there is no stream decoder.

    Raises:
        Failure: It is missing or cannot be loaded.
    """
    try:
        load_engine()
    except ImportError as error:
        message = f"the extension `amplifier_core._engine` cannot be loaded: {error}"
        hint = "install a wheel of amplifier-core for this platform"
        raise Failure(message, hint=hint) from error


@contextlib.contextmanager
def _model() -> Generator[Mapping[str, Any]]:
    """The config of the provider; without a key, that of a demo model which runs in this block."""
    if os.environ.get("ANTHROPIC_API_KEY", "").strip():
        yield {}
        return
    notice = "ANTHROPIC_API_KEY is not set: using the demo model, a program, not a language model"
    if os.environ.get("ANTHROPIC_BASE_URL", "").strip():
        notice += "; ANTHROPIC_BASE_URL is ignored"
    write_notice(notice)

    from amplifier_app.demo_model import DemoModel

    with DemoModel() as demo:
        yield demo.provider_config()


@contextlib.contextmanager
def _screen(*, as_json: bool) -> Generator[Screen | None]:
    """The screen, with a waiting line on it already; none for JSON lines.

    Raises:
        Failure: Standard output is closed.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        raise Failure("standard output is closed", hint="open it to see the answer")
    if as_json:
        yield None
        return

    from amplifier_app.display.screen import Screen

    stdout: Any = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="replace")  # not every encoding has every character
    screen = Screen(cast("TextIO", stdout))
    screen.wait_for("starting")
    screen.tick()
    try:
        yield screen
    finally:
        screen.wait_for("")
        screen.flush()


async def _shown(order: Order, provider: Mapping[str, Any], screen: Screen | None) -> int:
    import asyncio

    from amplifier_app.commands.run import run_turn

    output: Output
    if screen is None:
        from amplifier_app.json_lines import JsonLines

        output = JsonLines(sys.stdout.buffer)
        return await run_turn(order, provider, output)

    from amplifier_app.display import Display

    output = Display(screen)
    animation = asyncio.create_task(screen.animate())
    try:
        return await run_turn(order, provider, output)
    finally:
        animation.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await animation
