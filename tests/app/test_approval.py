"""Asking at the terminal for permission."""

from __future__ import annotations

import io
import os
import pty
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from amplifier_app import approval
from amplifier_app.approval import TerminalApproval
from amplifier_app.known_secrets import Secrets
from amplifier_app.notice import notice
from amplifier_core.approval import ApprovalTimeoutError


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def keyboard(monkeypatch: Any) -> Iterator[int]:
    """Standard input is a terminal; what is written here is typed there."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield master
    os.close(master)


async def ask(seconds: float = 60) -> str:
    return await TerminalApproval().request_approval(
        "Run \x1b[31mrm -rf\n/?", ["Allow", "Deny"], seconds, "deny"
    )


def type_when_asked(monkeypatch: Any, keyboard: int, typed: bytes) -> None:
    """Type as soon as the question is on the screen."""

    def tell(text: str) -> None:
        notice(text)
        if text.startswith("type a number"):
            os.write(keyboard, typed)

    monkeypatch.setattr(approval, "notice", tell)


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        (b"1\n", "Allow"),
        (b"2\n", "Deny"),
        (b"allow\n", "Allow"),
        (b"maybe\nDENY\n", "Deny"),
        (b"\x04", "Deny"),
    ],
)
async def test_the_option_that_is_typed(
    keyboard: int, monkeypatch: Any, capsys: Any, typed: bytes, chosen: str
) -> None:
    type_when_asked(monkeypatch, keyboard, typed)
    assert await ask() == chosen
    errors = capsys.readouterr().err
    assert errors.startswith("approval needed: Run \\x1b[31mrm -rf\\n/?\n")
    assert "1 Allow, 2 Deny" in errors


async def test_what_was_typed_before_the_question_does_not_answer_it(
    keyboard: int, monkeypatch: Any
) -> None:
    os.write(keyboard, b"1\n1\n")
    type_when_asked(monkeypatch, keyboard, b"2\n")

    assert await ask() == "Deny"


async def test_a_long_question_is_shown_whole(keyboard: int, monkeypatch: Any, capsys: Any) -> None:
    question = "".join(f"{number:05}" for number in range(2000))
    type_when_asked(monkeypatch, keyboard, b"2\n")

    await TerminalApproval().request_approval(question, ["Allow", "Deny"], 60, "deny")

    shown = capsys.readouterr().err.removeprefix("approval needed: ").replace("\n", "")
    assert shown.startswith(question)


async def test_a_question_is_shown_to_the_byte(
    keyboard: int, monkeypatch: Any, capsys: Any
) -> None:
    """Blanks stay, what looks like an escape differs from one, and a secret must be known."""
    secrets = Secrets({"API_KEY": "planted-Q7wE9rT2yU4iO6pA8sD1"})
    monkeypatch.setattr(approval, "SECRETS", secrets)
    type_when_asked(monkeypatch, keyboard, b"2\n")
    command = "grep  '\\bx' \t\u202e; API_KEY=$(rm -rf ~/Q1w2E3r4T5) planted-Q7wE9rT2yU4iO6pA8sD1"

    await TerminalApproval().request_approval(command, ["Allow", "Deny"], 60, "deny")

    assert capsys.readouterr().err.splitlines()[0] == (
        r"approval needed: grep  '\\bx' \t\u{202e}; API_KEY=$(rm -rf ~/Q1w2E3r4T5) [REDACTED:secret]"
    )


async def test_no_answer_in_time(keyboard: int) -> None:
    with pytest.raises(ApprovalTimeoutError):
        await ask(seconds=0.01)


async def test_where_nobody_can_be_asked_the_answer_is_no(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    assert await ask() == "Deny"
    assert (
        capsys.readouterr().err
        == "denied, because there is no terminal to ask in: Run \\x1b[31mrm -rf\\n/?\n"
    )
