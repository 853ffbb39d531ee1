"""From the checked arguments to a running turn: the log, the model and the output."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TextIO, cast

from amplifier_app.commands.mount_plan import demo_notice, has_key
from amplifier_app.commands.run import Order, run_turn
from amplifier_app.engine import load_engine
from amplifier_app.failure import Failure, is_debugging, report
from amplifier_app.notice import notice
from amplifier_app.output import Output
from amplifier_app.telemetry import exported


def start(order: Order, *, as_json: bool) -> int:
    """Run a turn on the real model, or on the demo model where there is no key."""
    try:
        _require_engine()
        with exported(os.environ) as hooks:
            order = replace(order, hooks=tuple(hooks))
            if has_key():
                return asyncio.run(_shown(order, {}, as_json=as_json))
            from amplifier_app.demo_model import DemoModel

            notice(demo_notice())
            with DemoModel() as demo:
                return asyncio.run(_shown(order, demo.provider_config(), as_json=as_json))
    except Exception as error:  # noqa: BLE001 - the last place that can tell of it in one line
        return report(error)


def set_up_logging(*, verbose: bool) -> None:
    """Keep the log off the terminal unless it is asked for; what matters is told in events."""
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
        Failure: It is not there, or cannot be loaded.
    """
    try:
        load_engine()
    except ImportError as error:
        message = f"the extension `amplifier_core._engine` cannot be loaded: {error}"
        raise Failure(f"{message}; install a wheel of amplifier-core for this platform") from error


async def _shown(order: Order, provider: Mapping[str, Any], *, as_json: bool) -> int:
    output: Output
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        raise Failure("standard output is closed; open it to see the answer")
    if as_json:
        from amplifier_app.json_lines import JsonLines

        output = JsonLines(sys.stdout.buffer)
        return await run_turn(order, provider, output)

    from amplifier_app.display import Display
    from amplifier_app.display.screen import Screen

    stdout: Any = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="replace")  # not every encoding has every sign
    screen = Screen(cast("TextIO", stdout))
    output = Display(screen)
    animation = asyncio.create_task(screen.animate())
    try:
        return await run_turn(order, provider, output)
    finally:
        animation.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await animation
