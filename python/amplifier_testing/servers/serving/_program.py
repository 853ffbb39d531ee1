"""A server as a program."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading

from .server import ModelServer


def run_server(kind: type[ModelServer], arguments: list[str] | None = None) -> None:
    """Serve until Ctrl+C, and print the base address first.

    Args:
        kind: The server.
        arguments: Those of the command line; without them, those of this process.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {kind.__module__.rpartition('.')[0]}",
        description="Judges requests as strictly as the vendor does, and answers from a script.",
    )
    parser.add_argument("--answer", action="append", default=[], help="a text to answer with")
    parser.add_argument("--key", help="the API key that requests must carry; without it, any")
    given = parser.parse_args(arguments)
    with kind(given.answer, api_key=given.key) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    sys.exit(0)
