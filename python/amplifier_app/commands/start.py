"""From the checked arguments to a running turn: the log, the model and the output.

Slow imports come after the first output, so that the user sees at once that it works.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, cast

from amplifier_app.commands.model_choice import (
    AnsweringProvider,
    find_answering_provider,
    model_notice,
    require_engine,
)
from amplifier_app.commands.order import Order, make_folder
from amplifier_app.failure import Failure, is_debugging
from amplifier_app.notice import write_notice
from amplifier_app.telemetry import export_telemetry

if TYPE_CHECKING:
    from amplifier_app.commands.outcome_line import OutcomeLine
    from amplifier_app.display.screen import Screen
    from amplifier_app.output import Output


Form: TypeAlias = Literal["display", "plain", "json"]
"""What standard output gets: the live display, the answer alone, or JSON lines."""


def chosen_form(*, quiet: bool, as_json: bool, verbose: bool) -> Form:
    """The form that the options ask for: the display is for terminals, unless `verbose`."""
    if as_json:
        return "json"
    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    return "display" if verbose or (is_terminal and not quiet) else "plain"


def start(order: Order, form: Form, line: OutcomeLine) -> int:
    """Run a turn on the real model, or on the demo model where there is no key.

    Raises:
        Exception: What keeps a turn from starting.
    """
    require_engine()
    answering = find_answering_provider(order)
    make_folder(order.folder)
    if line_about_model := model_notice(order, answering):
        write_notice(line_about_model)
    with (
        export_telemetry(os.environ) as hooks,
        _screen(form) as screen,
    ):
        from amplifier_app.lazy_trio import import_httpcore

        import_httpcore()
        import asyncio

        order = replace(order, hooks=tuple(hooks))
        return asyncio.run(_run_with_display(order, answering, form, screen, line))


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


@contextlib.contextmanager
def _screen(form: Form) -> Generator[Screen | None]:
    """The screen, with a waiting line on it already; none for other forms.

    Raises:
        Failure: Standard output is closed.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
        raise Failure("standard output is closed", hint="open it to see the answer")
    stdout: Any = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="replace")  # not every encoding has every character
    if form != "display":
        yield None
        return

    from amplifier_app.display.screen import Screen

    screen = Screen(cast("TextIO", stdout))
    screen.wait_for("starting")
    screen.tick()
    try:
        yield screen
    finally:
        screen.wait_for("")
        screen.flush()


async def _run_with_display(
    order: Order,
    answering: AnsweringProvider,
    form: Form,
    screen: Screen | None,
    line: OutcomeLine,
) -> int:
    import asyncio

    from amplifier_app.commands.run import run_turn

    output: Output
    if screen is None:
        if form == "json":
            from amplifier_app.json_lines import JsonLines

            output = JsonLines(sys.stdout.buffer)
        else:
            from amplifier_app.plain_output import PlainOutput

            output = PlainOutput(sys.stdout)
        return await run_turn(order, answering, output, line)

    from amplifier_app.display import Display

    output = Display(screen, keeps_changes=order.is_kept)
    animation = asyncio.create_task(screen.animate())
    try:
        return await run_turn(order, answering, output, line)
    finally:
        animation.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await animation
