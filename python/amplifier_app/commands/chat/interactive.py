"""The command without a prompt in a terminal: a conversation of many turns."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from amplifier_app.attached.pasted_images import PastedImages
from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.model_choice import (
    AnsweringProvider,
    find_answering_provider,
    model_name,
    require_engine,
)
from amplifier_app.commands.order import make_folder
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice
from amplifier_app.plain_mode import is_plain

if TYPE_CHECKING:
    from amplifier_app.commands.order import Order
    from amplifier_app.line_input.lines import Lines


def interact(order: Order, *, verbose: bool) -> int:
    """Run turns from the lines that are typed, until that ends; returns the exit code.

    Args:
        order: The folder, the model and the modules; its prompt is not used.
        verbose: Whether to write a log.

    Raises:
        Failure: There is no model that could answer, or the folder cannot be made.
    """
    import asyncio

    from amplifier_app.commands.start import set_up_logging

    require_engine()
    stdout: Any = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="replace")  # not every encoding has every character
    answering = find_answering_provider(order)
    make_folder(order.folder)
    _greet(order, answering)
    commands = CommandTable(order.named)
    images = PastedImages()
    lines = _open_lines(order, commands, images)
    with _written_to(lines):
        set_up_logging(verbose=verbose)

        async def run_chat() -> int:
            from amplifier_app.commands.chat.chat import Chat

            return await Chat(order, answering, lines, commands, images).run()

        return asyncio.run(run_chat())


def _greet(order: Order, answering: AnsweringProvider) -> None:
    """Say who answers, and which session goes on."""
    if answering.is_demo:
        show_notice("The demo model answers: a program, not a language model.")
        show_notice("Set ANTHROPIC_API_KEY, and Claude answers. /help shows the commands.")
    else:
        show_notice(f"{model_name(order, answering)} answers. /help shows the commands.")
    if order.stored is not None:
        from amplifier_app.sessions.resume import describe_stored

        for line in describe_stored(order.stored):
            show_notice(line)


def _open_lines(order: Order, commands: CommandTable, images: PastedImages) -> Lines:
    if is_plain(os.environ):
        from amplifier_app.line_input.plain_lines import PlainLines

        return PlainLines(sys.stdin, sys.stdout, sys.stderr)
    # Imported here: a prompt on the command line needs none of it.
    from prompt_toolkit.history import InMemoryHistory

    from amplifier_app.line_input.completion import LineCompleter
    from amplifier_app.line_input.history_file import HistoryFile, history_path
    from amplifier_app.line_input.line_editor import LineEditor

    path = history_path(os.environ)
    history = InMemoryHistory()
    if path is not None:
        history = HistoryFile(path, SECRETS.redact, _history_failed)
    completer = LineCompleter(commands.complete, order.folder, commands.find_names)
    return LineEditor(sys.stdout, history, completer, images)


def _history_failed(reason: str) -> None:
    show_notice(f"warning: the history of typed lines cannot be written: {reason}")


@contextlib.contextmanager
def _written_to(lines: Lines) -> Generator[None]:
    """Have all output appear where it does not tear the line that is being typed."""
    with contextlib.ExitStack() as redirected:
        redirected.enter_context(contextlib.redirect_stdout(lines.stdout))
        if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
            redirected.enter_context(contextlib.redirect_stderr(lines.stderr))
        yield
