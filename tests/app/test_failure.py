"""The line that says what went wrong, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_app.failure import Failure, describe_error
from amplifier_core.llm_errors import AuthenticationError, LLMError


class OwnHint(LLMError):
    hint = "renew the key; then wait a minute"


class Hostile(Exception):
    @property
    def hint(self) -> str:
        raise RuntimeError


# Holds: command-3
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Failure("no prompt given", hint="pass one"), "no prompt given; pass one"),
        (Failure("refused: too long; too loud"), "refused: too long; too loud"),
        # The message of a server may hold any sign.
        (AuthenticationError("no; never"), "no; never; check the API key"),
        (OwnHint("no; never"), "no; never; renew the key; then wait a minute"),
        (OwnHint("no: renew the key; then wait a minute"), "no: renew the key; then wait a minute"),
        (LLMError("no; never"), "no; never"),
        (FileNotFoundError(2, "No such file", "a;b"), "`a;b`: No such file"),
        (KeyError("a; b"), "KeyError: 'a; b'; run again with `--debug` for the traceback"),
        (Hostile("no"), "Hostile: no; run again with `--debug` for the traceback"),
    ],
)
def test_a_line_holds_the_message_and_its_hint(error: Any, line: str) -> None:
    assert describe_error(error) == f"error: {line}"


def test_a_long_message_leaves_room_for_the_hint() -> None:
    line = describe_error(Failure("x" * 5_000, hint="shorten it"))
    assert line.endswith("…; shorten it")
    assert len(line) < 1_100
