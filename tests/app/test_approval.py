"""Asking at the terminal for permission."""

from __future__ import annotations

import asyncio
import contextlib
import io
import math
import os
import pty
import re
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_app import approval
from amplifier_app.approval import TerminalApproval
from amplifier_app.known_secrets import Secrets
from amplifier_core.approval import ASKED_CALL, ApprovalTimeoutError, AskedCall, Offer, Reply

ANSWERED = re.compile(r"\| (allowed|denied).*\n$")
QUESTION_ENDS = re.compile(r"\n([a-z]{4})> $")
OPTIONS = ["Allow", "Deny"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Terminal:
    """A terminal with a person who reads a question to its end and then types."""

    keyboard: int
    screen: bytes = b""

    def resize(self, columns: int, lines: int = 24) -> None:
        termios.tcsetwinsize(self.keyboard, (lines, columns))

    async def ask(
        self,
        typed: bytes | None,
        prompt: str = "Run it?",
        options: list[str] = OPTIONS,
        seconds: float = 60,
        then: list[bytes] | None = None,
    ) -> str:
        loop = asyncio.get_running_loop()
        self.screen, waiting, ended = b"", typed, asyncio.Event()
        later, seen = list(then or ()), 0

        def read() -> None:
            nonlocal waiting, seen
            self.screen += os.read(self.keyboard, 65536)
            if waiting is not None and len(self.screen) > seen and QUESTION_ENDS.search(self.shown):
                os.write(self.keyboard, waiting)
                waiting, seen = later.pop(0) if later else None, len(self.screen)
            if ANSWERED.search(self.shown):
                ended.set()

        loop.add_reader(self.keyboard, read)
        try:
            answer = await TerminalApproval().request_approval(prompt, options, seconds, "deny")
            if self.screen:
                await ended.wait()
            return answer
        finally:
            loop.remove_reader(self.keyboard)

    @property
    def shown(self) -> str:
        return self.screen.decode(errors="replace").replace("\r\n", "\n")

    @property
    def rows(self) -> list[str]:
        """The rows of the question, up to the place where the answer is typed."""
        return self.shown[: re.search(r"\n[a-z]{4}> ", self.shown).start()].split("\n")  # type: ignore[union-attr]


@pytest.fixture
def terminal(monkeypatch: Any) -> Iterator[Terminal]:
    """Standard input is a terminal of 80 columns."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(approval, "SECRETS", Secrets({}))
        monkeypatch.setenv("NO_COLOR", "1")
        found = Terminal(master)
        found.resize(80)
        yield found
    os.close(master)


@pytest.mark.parametrize(
    ("options", "typed", "chosen"),
    [
        (OPTIONS, b"allow\n", "Allow"),
        (OPTIONS, b" Y \n", "Allow"),
        (OPTIONS, b"yes\n", "Allow"),
        (OPTIONS, b"deny\n", "Deny"),
        (OPTIONS, b"n\n", "Deny"),
        (OPTIONS, b"maybe\n", "Deny"),
        (OPTIONS, b"\n", "Deny"),
        (OPTIONS, b"1\n", "Deny"),
        (OPTIONS, b"2\n", "Deny"),
        (OPTIONS, b"allow nothing\n", "Deny"),
        (OPTIONS, b"\xd0\xb0llow\n", "Deny"),
        (OPTIONS, b"\xff\n", "Deny"),
        (OPTIONS, b"\x04", "Deny"),
        (["❌ Deny", "✅ Allow"], b"allow\n", "✅ Allow"),
        (["❌ Deny", "✅ Allow"], b"1\n", "Deny"),
        (["Skip", "Run"], b"skip\n", "Skip"),
        (["Skip", "Run"], b"yes\n", "Deny"),
        (["Allow always", "Allow once", "Deny"], b"y\n", "Allow once"),
        (["Allow always", "Allow once", "Deny"], b"allow always\n", "Allow always"),
        (["Allow always", "Deny"], b"y\n", "Deny"),
        (["❌", "✅"], b"\n", "Deny"),
        (["\x1b[2J\nAllow", "Deny"], b"allow\n", "Deny"),
        ([], b"allow\n", "Deny"),
    ],
)
async def test_the_answer_is_a_word_and_anything_else_denies(
    terminal: Terminal, options: list[str], typed: bytes, chosen: str
) -> None:
    assert await terminal.ask(typed, options=options) == chosen


async def test_a_question_looks_like_this(terminal: Terminal) -> None:
    terminal.resize(40)
    await terminal.ask(b"deny\n", "run `x` with `bash`? (because)\n| `cwd`: `/`")
    mark = terminal.shown[:4]
    assert terminal.shown.replace(mark, "bcdf") == (
        "bcdf| approval needed\n"
        "bcdf| run `x` with `bash`? (because)\n"
        "bcdf| | `cwd`: `/`\n"
        "bcdf| answer with a word: allow, deny \\\n"
        "bcdf: (deny after 60 s)\n"
        "bcdf> deny\n"
        "bcdf| denied\n"
    )


async def test_a_question_that_is_withdrawn_says_so(terminal: Terminal) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        terminal.screen += os.read(terminal.keyboard, 65536)
        if QUESTION_ENDS.search(terminal.shown):
            asked.set()

    loop.add_reader(terminal.keyboard, read)
    asking = asyncio.create_task(TerminalApproval().request_approval("go on?", OPTIONS, 60, "deny"))
    await asked.wait()
    loop.remove_reader(terminal.keyboard)
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    mark = terminal.shown[:4]
    terminal.screen += os.read(terminal.keyboard, 65536)
    assert terminal.shown.endswith(f"{mark}> \n{mark}| withdrawn\n")


FORGED = st.sampled_from(
    [" " * 80, " " * 33, "\\", "\n", "\r", "\t", "\x1b[2K", "\x1b[1A", "\u202e", "\u200b", "\u3000" * 40,
     "bcdf> allow", "bcdf| approval needed", "answer with a word: allow", "漢字", "\u0435", "⟨3 blanks⟩"]
) | st.text(max_size=10)  # fmt: skip
PROMPTS = st.lists(FORGED, max_size=12).map("".join)
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def rows_of(terminal: Terminal, prompt: str, columns: int = 80) -> list[str]:
    terminal.resize(columns)
    assert asyncio.run(terminal.ask(b"\n", prompt)) == "Deny"
    return terminal.rows


# Holds: sink-23
@SLOW
@given(PROMPTS, st.integers(20, 120))
def test_no_prompt_can_imitate_a_row_of_the_question(
    terminal: Terminal, prompt: str, columns: int
) -> None:
    rows = rows_of(terminal, prompt, columns)

    mark = rows[0][:4]
    assert rows[0][4:] == "| approval needed"[: columns - 6] or rows[0].endswith("\\")
    assert all(row.startswith((f"{mark}| ", f"{mark}: ")) for row in rows)
    assert all(sum(1 if letter.isascii() else 2 for letter in row) < columns for row in rows)
    assert not any(ord(letter) < 32 or 126 < ord(letter) < 160 for row in rows for letter in row)
    # Blanks are where a line is indented, behind what the row begins with.
    assert not any(re.search(r"[^|:+ -] {3}", row) for row in rows)


# Holds: sink-23
@SLOW
@given(PROMPTS, PROMPTS)
def test_two_prompts_never_look_alike(terminal: Terminal, one: str, other: str) -> None:
    shown = [[row[4:].rstrip() for row in rows_of(terminal, prompt)] for prompt in (one, other)]
    assert (shown[0] == shown[1]) is (one == other)


def test_the_mark_is_new_each_time(terminal: Terminal) -> None:
    assert len({rows_of(terminal, "Run it?")[0][:4] for _ in range(20)}) > 10


# Holds: sink-23
async def test_what_was_typed_before_the_question_does_not_answer_it(terminal: Terminal) -> None:
    os.write(terminal.keyboard, b"allow\nyes\nal")
    assert await terminal.ask(b"low\n") == "Deny"


async def test_what_is_typed_while_the_question_is_written_does_not_answer_it(
    terminal: Terminal, monkeypatch: Any
) -> None:
    forget = approval._forget_typed  # pyright: ignore[reportPrivateUsage]

    def type_then_forget() -> None:
        os.write(terminal.keyboard, b"allow\n")
        forget()

    monkeypatch.setattr(approval, "_forget_typed", type_then_forget)
    assert await terminal.ask(b"deny\n") == "Deny"


async def test_a_long_question_is_shown_whole_and_says_how_long_it_is(terminal: Terminal) -> None:
    question = "".join(f"{number:05}" for number in range(2000))
    await terminal.ask(b"deny\n", question)

    rows = [row[6:] for row in terminal.rows]
    assert "".join(row.removesuffix("\\") for row in rows[1:-2]) == question
    assert rows[-2] == f"read all {len(rows) - 2} rows: scroll up"


SECRET = "planted-Q7wE9rT2yU4iO6pA8sD1"


# Holds: secret-7
async def test_a_question_is_shown_to_the_byte(terminal: Terminal, monkeypatch: Any) -> None:
    """Blanks are counted, what looks like an escape differs from one, and a secret must be known."""
    monkeypatch.setattr(approval, "SECRETS", Secrets({"API_KEY": SECRET}))
    terminal.resize(200)
    command = f"grep  '\\bx' \t\u202e; API_KEY=$(rm -rf ~/Q1w2E3r4T5) {SECRET} [API_KEY]"

    await terminal.ask(b"deny\n", command)

    assert terminal.rows[1][6:] == (
        r"grep⟨2 blanks⟩'\bx' ⟨1 tab⟩⟨U+202E⟩; API_KEY=$(rm -rf ~/Q1w2E3r4T5) "
        "[API_KEY] ⟨U+5B⟩API_KEY]"
    )


async def test_a_weak_secret_hides_nothing(terminal: Terminal, monkeypatch: Any) -> None:
    monkeypatch.setattr(approval, "SECRETS", Secrets({"PGPASSWORD": "postgres"}))
    await terminal.ask(b"deny\n", "run `dropdb postgres`?")
    assert terminal.rows[1][6:] == "run `dropdb postgres`?"


@pytest.mark.parametrize(("columns", "times"), [(79, 2), (40, 2), (80, 1), (120, 1)])
async def test_a_question_in_a_terminal_that_became_narrower_is_asked_again(
    terminal: Terminal, monkeypatch: Any, columns: int, times: int
) -> None:
    wait = approval._line_from_terminal  # pyright: ignore[reportPrivateUsage]
    asked: list[str] = []

    async def resize_then_wait() -> str:
        asked.append(terminal.shown)
        if len(asked) == 1:
            terminal.resize(columns)
        os.write(terminal.keyboard, b"allow\n" if len(asked) == times else b"yes\n")
        return await wait()

    monkeypatch.setattr(approval, "_line_from_terminal", resize_then_wait)
    assert await terminal.ask(None, "x" * 200) == "Allow"
    assert len(asked) == times
    assert max(map(len, terminal.shown.split("\n")[-6:])) < max(columns, 80)


async def test_a_terminal_that_became_too_narrow_denies(
    terminal: Terminal, monkeypatch: Any, capsys: Any
) -> None:
    wait = approval._line_from_terminal  # pyright: ignore[reportPrivateUsage]

    async def resize_then_wait() -> str:
        terminal.resize(12)
        return await wait()

    monkeypatch.setattr(approval, "_line_from_terminal", resize_then_wait)
    asks = TerminalApproval()
    task = asyncio.create_task(asks.request_approval("x", OPTIONS, 60, "deny"))
    while not QUESTION_ENDS.search(terminal.shown):
        await asyncio.sleep(0)
        os.set_blocking(terminal.keyboard, False)
        with contextlib.suppress(BlockingIOError):
            terminal.screen += os.read(terminal.keyboard, 65536)
    os.write(terminal.keyboard, b"allow\n")
    assert await task == "Deny"
    assert "the terminal has 12 columns" in capsys.readouterr().err


async def test_the_display_is_held_until_the_answer(terminal: Terminal) -> None:
    order: list[str] = []
    asks = TerminalApproval(lambda: order.append("held"), lambda: order.append("released"))
    with pytest.raises(ApprovalTimeoutError):
        await asks.request_approval("Run it?", OPTIONS, 0.01, "deny")
    assert order == ["held", "released"]


async def test_no_answer_in_time(terminal: Terminal) -> None:
    with pytest.raises(ApprovalTimeoutError):
        await terminal.ask(None, seconds=0.01)


async def test_where_the_question_cannot_be_shown_the_answer_is_no(
    terminal: Terminal, capsys: Any
) -> None:
    terminal.resize(12)
    assert await terminal.ask(b"allow\n") == "Deny"
    assert capsys.readouterr().err == (
        "denied, because the question cannot be shown: the terminal has 12 columns (at least 20 "
        "are needed)\n"
    )
    terminal.resize(80)
    sys.stdin.reconfigure(encoding="ascii")  # type: ignore[union-attr]
    assert await terminal.ask(b"allow\n", "   ") == "Deny"
    assert "denied, because the question cannot be shown" in capsys.readouterr().err


async def test_a_terminal_that_goes_away_denies(terminal: Terminal, monkeypatch: Any) -> None:
    read = os.read

    def fail(descriptor: int, size: int) -> bytes:
        if descriptor == sys.stdin.fileno():
            raise OSError(5, "Input/output error")
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", fail)
    assert await terminal.ask(b"allow\n") == "Deny"


async def test_where_nobody_can_be_asked_the_answer_is_no(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    prompt = "run `bash`?\n| `command`: `grep '\\bx' \x1b[31m`"
    asked = AskedCall("q", "bash", {})
    token = ASKED_CALL.set(asked)
    try:
        assert await TerminalApproval().request_approval(prompt, OPTIONS, 60, "deny") == "Deny"
    finally:
        ASKED_CALL.reset(token)
    assert capsys.readouterr().err == (
        "denied, because there is no terminal to ask in: "
        "run `bash`? | `command`: `grep '\\bx' \\x1b[31m`\n"
    )
    assert asked.reply == Reply(unasked="there is no terminal to ask in")


@pytest.mark.parametrize(
    ("typed", "chosen", "words"),
    [
        (b"use the folder tmp\n", "Deny", "use the folder tmp"),
        (b"allow nothing\n", "Deny", "allow nothing"),
        (b"maybe\n", "Deny", ""),
        (b"deny\n", "Deny", ""),
        (b"\n", "Deny", ""),
        (b"yes\n", "Allow", ""),
    ],
)
async def test_several_words_deny_and_are_for_the_model(
    terminal: Terminal, typed: bytes, chosen: str, words: str
) -> None:
    asked = AskedCall("q", "wipe", {})
    token = ASKED_CALL.set(asked)
    try:
        assert await terminal.ask(typed, seconds=math.inf) == chosen
    finally:
        ASKED_CALL.reset(token)
    assert asked.reply == Reply(words=words)
    assert "(other words deny)" in "\n".join(terminal.rows)


def offered(rule: str | None = "Bash(make test:*)", **offer: Any) -> AskedCall:
    """A call about which more than a yes may be said; no rule that names `rm` can be kept."""
    given = {"for_session": True, "kept_in": "/home/ann/settings.json", **offer}

    def check(rule: str) -> str | None:
        return "it means another call" if "rm" in rule else None

    return AskedCall("q", "bash", {}, offer=Offer(rule=rule, **given), check_rule=check)


# Holds: approval-21
@pytest.mark.parametrize(
    ("typed", "offer", "chosen", "grant", "words"),
    [
        (b"y\n", {}, "Allow", "", ""),
        (b"a\n", {}, "Allow", "session", ""),
        (b" A \n", {}, "Allow", "session", ""),
        (b"a\n", {"for_session": False}, "Deny", "", ""),
        (b"session\n", {"for_session": False}, "Deny", "", ""),
        (b"p\n", {"rule": None}, "Deny", "", ""),
        (b"a please\n", {}, "Deny", "", "a please"),
        (b"a", {}, "Deny", "", ""),
        (b"n\n", {}, "Deny", "", ""),
        (b"not now, lint first\n", {}, "Deny", "", "not now, lint first"),
    ],
)
async def test_an_answer_grants_what_was_offered_and_nothing_else(
    terminal: Terminal, typed: bytes, offer: Any, chosen: str, grant: str, words: str
) -> None:
    asked = offered(**offer)
    token = ASKED_CALL.set(asked)
    try:
        # Without a line break it is what was typed when the terminal was closed.
        answer = await terminal.ask(typed if typed.endswith(b"\n") else typed + b"\x04\x04")
    finally:
        ASKED_CALL.reset(token)
    assert (answer, asked.reply) == (chosen, Reply(grant=grant, words=words))


# Holds: approval-21
@pytest.mark.parametrize(
    ("typed", "grant"),
    [
        ([b"\n"], "Bash(make test:*)"),
        ([b"Bash(make:*)\n"], "Bash(make:*)"),
        ([b"Bash(rm:*)\n", b"\n"], "Bash(make test:*)"),
        ([b"n\n"], ""),
        ([b"no\n"], ""),
        ([b"\x04"], ""),
    ],
)
async def test_a_rule_is_shown_and_may_be_changed_before_it_is_kept(
    terminal: Terminal, typed: list[bytes], grant: str
) -> None:
    asked = offered()
    token = ASKED_CALL.set(asked)
    try:
        answer = await terminal.ask(b"p\n", then=typed)
    finally:
        ASKED_CALL.reset(token)
    assert (answer, asked.reply.grant) == ("Allow" if grant else "Deny", grant)
    assert "the rule `Bash(make test:*)` goes into `/home/ann/settings.json`" in terminal.shown
    assert ("it cannot be kept" in terminal.shown) is (len(typed) > 1)


# Holds: approval-21
async def test_what_was_typed_before_a_rule_was_shown_does_not_keep_it(terminal: Terminal) -> None:
    asked = offered()
    token = ASKED_CALL.set(asked)
    try:
        answer = await terminal.ask(b"p\n\n\n", then=[b"n\n"])
    finally:
        ASKED_CALL.reset(token)
    assert (answer, asked.reply.grant) == ("Deny", "")


async def test_an_offer_looks_like_this(terminal: Terminal) -> None:
    token = ASKED_CALL.set(offered())
    try:
        await terminal.ask(b"a\n", "run `bash`?")
    finally:
        ASKED_CALL.reset(token)
    mark = terminal.shown[:4]
    assert terminal.shown.replace(mark, "bcdf") == (
        "bcdf| approval needed\n"
        "bcdf| run `bash`?\n"
        "bcdf| y once, or a for `bash` in this session, or p for a rule such as \\\n"
        "bcdf: `Bash(make test:*)`\n"
        "bcdf| answer with a word: allow, deny (deny after 60 s)\n"
        "bcdf> a\n"
        "bcdf| allowed in this session\n"
    )


# Holds: approval-23
@pytest.mark.parametrize(
    ("typed", "chosen", "parts"),
    [
        ([b"y\n", b"n\n", b"yes\n"], "Allow", ("src", "b.txt")),
        ([b"n\n", b"n\n", b"n\n"], "Deny", ()),
        ([b"y\n", b"stop\n"], "Allow", ("src",)),
        ([b"y\n", b"\x04"], "Allow", ("src",)),
        ([b"\n"], "Deny", ()),
    ],
)
async def test_a_person_is_asked_about_each_part_where_they_want_that(
    terminal: Terminal, typed: list[bytes], chosen: str, parts: tuple[str, ...]
) -> None:
    asked = AskedCall("q", "bash", {}, parts=("src", "a.txt", "b.txt"))
    token = ASKED_CALL.set(asked)
    try:
        answer = await terminal.ask(b"e\n", then=typed)
    finally:
        ASKED_CALL.reset(token)
    assert (answer, asked.reply) == (chosen, Reply(parts=parts))
    assert "y for all 3, or e to be asked about each" in terminal.shown
    assert "1 of 3: `src`? y or n; other words deny all that are left" in terminal.shown.replace(
        f"\\\n{terminal.shown[:4]}: ", ""
    )


async def test_a_yes_to_all_parts_names_none(terminal: Terminal) -> None:
    asked = AskedCall("q", "bash", {}, parts=("a", "b"))
    token = ASKED_CALL.set(asked)
    try:
        answer = await terminal.ask(b"y\n")
    finally:
        ASKED_CALL.reset(token)
    assert (answer, asked.reply) == ("Allow", Reply())


HUNKS = {
    f"b.txt, hunk {number} of 2": f"@@ -{number} +{number} @@\n-old {number}\n+new {number}\n"
    for number in (1, 2)
}


# Holds: approval-46
@pytest.mark.parametrize(
    ("parts", "typed", "granted", "words", "ends"),
    [
        (["a.txt", "b.txt"], ["y", "h", "n", "y"], ("a.txt", "b.txt, hunk 2 of 2"), "", "1 of 2, and 1 of 2 hunks"),
        (["a.txt", "b.txt"], ["n", "h", "y", "y"], ("b.txt",), "", "1 of 2"),
        (["a.txt", "b.txt"], ["y", "y"], ("a.txt", "b.txt"), "", "2 of 2"),
        (["a.txt", "b.txt"], ["h"], (), "", ""),
        (["b.txt"], ["y", "n"], ("b.txt, hunk 1 of 2",), "", "1 of 2 hunks"),
        (["b.txt"], ["y", "keep the old one"], ("b.txt, hunk 1 of 2",), "keep the old one", "1 of 2 hunks"),
        (["b.txt"], ["all is wrong"], (), "all is wrong", ""),
        (["b.txt"], ["n", "n"], (), "", ""),
    ],
)  # fmt: skip
async def test_a_person_takes_or_leaves_each_hunk(
    terminal: Terminal,
    parts: list[str],
    typed: list[str],
    granted: tuple[str, ...],
    words: str,
    ends: str,
) -> None:
    names = (*parts, *HUNKS)
    asked = AskedCall("q", "bash", {"hunks": {"b.txt": HUNKS}}, parts=names)
    token = ASKED_CALL.set(asked)
    try:
        then = [f"{each}\n".encode() for each in typed]
        answer = await terminal.ask(b"e\n", then=then)
    finally:
        ASKED_CALL.reset(token)
    chosen = "Allow" if granted else "Deny"
    assert (answer, asked.reply) == (chosen, Reply(parts=granted, words=words))
    assert f"| {f'allowed for {ends}' if ends else 'denied'}\n" in terminal.shown
    offer = "y for all 2, or" if len(parts) > 1 else "y for all 2 hunks, or"
    assert offer in terminal.shown
    assert ("| |   -old 1\n" in terminal.shown) is (len(parts) == 1 or "h" in typed[1:])


DIFFERENCE = """\
put these changes into the project?
| created `new`, 2 paths
|   created `new/x`
|     @@ -0,0 +1,2 @@
|     + -x
|     +created `y`
| modified `b.txt`
|   @@ -1,3 +1,3 @@
|      +not added
|    | modified `c`
|   -old
|   +new\x1b[31m and so on and so on and so on and so on and so on
"""


# Holds: approval-47
async def test_a_difference_has_colours_that_no_file_can_give(
    terminal: Terminal, monkeypatch: Any
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal.resize(50)
    await terminal.ask(b"n\n", DIFFERENCE.rstrip("\n"))
    mark, green, red, dim, end = terminal.shown[:4], "\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"
    rows = terminal.shown.replace(mark, "bcdf").split("\n")[2:15]
    assert rows == [
        "bcdf| | created `new`, 2 paths",
        "bcdf| |   created `new/x`",
        f"bcdf| {dim}|     @@ -0,0 +1,2 @@{end}",
        f"bcdf| {green}|     + -x{end}",
        f"bcdf| {green}|     +created `y`{end}",
        "bcdf| | modified `b.txt`",
        f"bcdf| {dim}|   @@ -1,3 +1,3 @@{end}",
        "bcdf| |      +not added",
        "bcdf| |    | modified `c`",
        f"bcdf| {red}|   -old{end}",
        f"bcdf| {green}|   +new⟨U+1B⟩[31m and so on and so on \\{end}",
        f"bcdf: {green}and so on and so on and so on{end}",
        "bcdf| answer with a word: allow, deny (deny \\",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    await terminal.ask(b"n\n", DIFFERENCE)
    assert "\x1b" not in terminal.shown


# Holds: approval-47
@pytest.mark.parametrize("first", ["carry out this plan?", "run `bash`? (x)", "x asks"])
async def test_other_questions_have_no_colours(
    terminal: Terminal, monkeypatch: Any, first: str
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    await terminal.ask(b"n\n", f"{first}\n|   +added\n|   -removed")
    assert "\x1b" not in terminal.shown
