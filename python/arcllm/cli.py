"""The command: one prompt, one answer."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

from typing_extensions import override

from amplifier_core.suggest import suggest_or_list

if TYPE_CHECKING:
    from .model import Model
    from .step import Piece
    from .types import LLMResponse

FAILED = 1
WRONG_USAGE = 2
CUT_SHORT = 3
INTERRUPTED = 130
READER_GONE = 141
"""Exit codes, those of `amplifier-core`; 141 is that of a program ended by SIGPIPE."""

_OPTIONS = ("--model", "--stream", "--json", "--help")
_MAX_PROMPT_BYTES = 64 * 1024**2
_MAX_ERROR_CHARS = 1_000


class _UsageError(Exception):
    """The command was called wrongly."""


class _Parser(argparse.ArgumentParser):
    @override
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line."""
        raise _UsageError(f"{message}; see `python -m arcllm --help`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: The command line without the program; that of the process if None.

    Returns:
        0; 1 for a failure; 2 for wrong usage or configuration; 3 for an answer that was cut short;
        130 when interrupted; 141 when standard output was closed.
    """
    from .exceptions import ArcLLMConfigError

    try:
        code = _run(_parse(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return READER_GONE
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except (_UsageError, ArcLLMConfigError) as error:
        _say(f"error: {error}")
        return WRONG_USAGE
    except Exception as error:  # noqa: BLE001 -- a traceback is no message for users
        _say(f"error: {_describe_error(error)}")
        return FAILED
    return code


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog="python -m arcllm",
        description="Ask a model and print its answer.",
        epilog="Exit codes: 0; 1 failed; 2 wrong usage or configuration; 3 the answer was cut short;"
        " 130 interrupted; 141 standard output was closed.",
    )
    parser.add_argument("prompt", help="what is asked; `-` reads it from standard input")
    parser.add_argument(
        "--model",
        metavar="PROVIDER:MODEL",
        help="who is asked, such as `openai:gpt-5` or `anthropic`; `[defaults] model` of the"
        " configuration if not given",
    )
    parser.add_argument("--stream", action="store_true", help="print the answer as it arrives")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the response as one line of JSON; with `--stream` a line for each delta too",
    )
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        first, _, _ = unknown[0].partition("=")
        if first.startswith("-"):
            parser.error(f"`{first}` is not an option{suggest_or_list(first, _OPTIONS)}")
        parser.error(f"`{unknown[0]}` is one word too many: put the prompt in quotes")
    return options


def _run(options: argparse.Namespace) -> int:
    from .load import load_global_config, load_model

    prompt = _read_prompt() if options.prompt == "-" else options.prompt
    if not prompt.strip():
        raise _UsageError("the prompt is empty")
    name = options.model or load_global_config().defaults.model
    if name is None:
        raise _UsageError("`--model` is missing (must be `provider:model`, such as `openai:gpt-5`)")
    response = _answer(load_model(name), prompt, options)
    return _exit_code(response)


def _answer(model: Model, prompt: str, options: argparse.Namespace) -> LLMResponse | None:
    from .types import LLMResponse

    if not options.stream:
        response = model.complete_sync(prompt)
        if options.json:
            _write_json("response", response, alone=True)
        else:
            _write_texts([response.content or ""])
        return response
    found: list[LLMResponse] = []

    def read_pieces() -> Generator[Piece]:
        for piece in model.stream_sync(prompt):
            if isinstance(piece, LLMResponse):
                found.append(piece)
            yield piece

    with contextlib.closing(read_pieces()) as arriving:
        if options.json:
            for piece in arriving:
                _write_json(type(piece).__name__, piece)
        else:
            _write_texts(_read_texts(arriving))
    return found[-1] if found else None


def _read_texts(pieces: Generator[Piece]) -> Generator[str]:
    """Yield the text of an answer; a part that was taken back is followed by what comes instead."""
    from .deltas import RetractedDelta, TextDelta

    for piece in pieces:
        if isinstance(piece, TextDelta):
            yield piece.text
        elif isinstance(piece, RetractedDelta):
            yield "\n"


def _write_texts(texts: Iterable[str]) -> None:
    """Write text without what would control a terminal, and a line break at its end."""
    from amplifier_guard import TerminalText

    terminal, last = TerminalText(), ""
    for text in texts:
        part = terminal.feed(text)
        sys.stdout.write(part)
        sys.stdout.flush()
        last = part or last
    rest = terminal.flush()
    if rest or last:
        sys.stdout.write(rest if (rest or last).endswith("\n") else f"{rest}\n")
    sys.stdout.flush()


def _write_json(kind: str, piece: object, *, alone: bool = False) -> None:
    """Write one line of JSON, in ASCII: what a terminal would act on is escaped."""
    import json

    from pydantic_core import to_jsonable_python

    data = to_jsonable_python(piece, fallback=str)
    line = data if alone else {"type": kind, **data}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _read_prompt() -> str:
    content = sys.stdin.buffer.read(_MAX_PROMPT_BYTES + 1)
    if len(content) > _MAX_PROMPT_BYTES:
        raise _UsageError(f"standard input holds more than {_MAX_PROMPT_BYTES:,} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _UsageError(f"standard input is not UTF-8: byte {error.start:,}") from None


def _exit_code(response: LLMResponse | None) -> int:
    from amplifier_providers.answers.response_facts import CUT_SHORT as REASONS

    if response is None or response.stop_reason not in REASONS:
        return 0
    _say(f"the answer was cut short: it ended with `{response.stop_reason}`")
    return CUT_SHORT


def _describe_error(error: Exception) -> str:
    from .exceptions import ArcLLMError

    if isinstance(error, OSError) and error.strerror:
        where = f"`{error.filename}`: " if error.filename else ""
        return f"{where}{error.strerror}"
    text = str(error)
    if isinstance(error, ArcLLMError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _say(text: str) -> None:
    """Write one line to standard error, as it can be shown."""
    from amplifier_guard import TerminalText

    file: TextIO | None = sys.stderr
    if file is not None:  # pyright: ignore[reportUnnecessaryComparison] -- closed at the start
        with contextlib.suppress(OSError, ValueError):
            print(TerminalText.line(text, _MAX_ERROR_CHARS), file=file, flush=True)


def _drop_output() -> None:
    """Let nothing be written any more: the interpreter would try at its end, and print an error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
