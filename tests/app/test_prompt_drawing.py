"""The prompt on a screen: keys during output and resizes, pastes, Esc, Tab, the status line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from drawn_prompt import drawn_prompt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

STATUS = "model · 3 tokens"
WORDS = st.text("abc xyz", min_size=1, max_size=30)
STEPS = st.one_of(
    st.tuples(st.just("type"), WORDS),
    st.tuples(st.just("type"), st.sampled_from(["\x7f", "\x1b[D", "\x1b[C", "\x01", "\x05"])),
    st.tuples(st.just("write"), st.text("abc \n", min_size=1, max_size=120)),
    st.tuples(st.just("resize"), st.integers(20, 90)),
)


def write_status(_: int) -> str:
    return STATUS


def join(rows: list[str]) -> str:
    return "".join("".join(rows).split())


# Holds: typing-1
@pytest.mark.parametrize("is_reflowing", [True, False])
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(STEPS, max_size=12))
def test_keys_during_output_and_resizes_leave_both_whole(
    tmp_path: Path, is_reflowing: bool, steps: list[tuple[str, Any]]
) -> None:
    async def run() -> None:
        async with drawn_prompt(
            tmp_path, is_reflowing=is_reflowing, write_status=write_status
        ) as prompt:
            written, narrowest = "", 1000
            for kind, value in steps:
                if kind == "type":
                    await prompt.type(value)
                elif kind == "write":
                    prompt.editor.stdout.write(value)
                    written += value
                    await prompt.settle()
                else:
                    prompt.resize(value)
                narrowest = min(narrowest, prompt.terminal.size.columns)
            await prompt.settle()
            rows = prompt.terminal.rows
            typed = prompt.editor.buffer.text
            assert rows.pop() == STATUS
            whole = join(rows)
            if is_reflowing:
                assert whole == join([written, ">", typed])
            else:  # what was cut is gone, and nothing else
                assert whole.endswith(join([written.rpartition("\n")[2], ">", typed]))
                firsts = [line.split() for line in written.split("\n")[:-1]]
                found = iter(rows)
                for words in firsts:
                    if words and len(words[0]) < 20:
                        assert any(row.split()[:1] == words[:1] for row in found), (words, rows)

    asyncio.run(run())


def test_the_status_line_is_below_the_prompt_and_has_the_width_of_the_terminal(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        cells: list[int] = []

        def note_status(width: int) -> str:
            cells.append(width)
            return STATUS

        async with drawn_prompt(tmp_path, write_status=note_status) as prompt:
            await prompt.type("abc")
            assert prompt.terminal.rows == ["> abc", STATUS]
            prompt.resize(30)
            assert cells[-1] == 29
            prompt.editor.show_queued(["queued: one"])
            prompt.editor.stdout.write("done\nlive")
            await prompt.settle()
            assert prompt.terminal.rows == ["done", "live", "queued: one", "> abc", STATUS]
        assert prompt.terminal.rows == ["done"]

    asyncio.run(run())


# Holds: typing-2
def test_one_drawing_is_one_write(tmp_path: Path) -> None:
    async def run() -> None:
        async with drawn_prompt(tmp_path) as prompt:
            await prompt.type("abc")
            before = prompt.terminal.writes
            prompt.editor.stdout.write("one\ntwo\nthree")
            prompt.resize(20)
            assert prompt.terminal.writes == before + 1
            assert prompt.terminal.rows == ["one", "two", "three", "> abc"]

    asyncio.run(run())


# Holds: typing-3
def test_esc_stops_at_once_and_twice_at_an_empty_prompt_it_rewinds(tmp_path: Path) -> None:
    async def run() -> None:
        called: list[str] = []
        is_working = [True]

        def stop() -> bool:
            called.append("stop")
            return is_working[0]

        async with drawn_prompt(
            tmp_path, stop=stop, rewind=lambda: called.append("rewind")
        ) as prompt:

            async def escape(times: int) -> None:
                for _ in range(times):
                    before = len(called)
                    await prompt.type("\x1b")
                    await prompt.wait_for(lambda before=before: len(called) > before)

            await prompt.type("one\x1b\rtwo")
            assert prompt.terminal.rows == ["> one", "  two"]
            assert called == []
            await escape(2)
            is_working[0] = False
            await escape(2)
            assert called == ["stop"] * 4  # not with something typed
            await prompt.type("\x15\x7f\x15")
            await escape(2)
            assert called[4:] == ["stop", "stop", "rewind"]

    asyncio.run(run())


# Holds: typing-4
def test_long_pastes_are_marks_that_are_whole_when_sent(tmp_path: Path) -> None:
    async def run() -> None:
        lines = "\n".join(f"line {n}" for n in range(42))
        async with drawn_prompt(tmp_path, columns=80) as prompt:

            async def paste(text: str) -> None:
                await prompt.type(f"\x1b[200~{text}\x1b[201~")

            await paste(lines)
            await prompt.type(" and ")
            await paste(lines)
            assert prompt.terminal.rows == ["> [pasted 42 lines] and [pasted 42 lines, 2]"]
            await paste("x" * 1500)
            await prompt.type("\x7f\x1b[D\x1b[D!")
            assert prompt.terminal.rows == ["> [pasted 42 lines] and! [pasted 42 lines, 2]"]
            await prompt.type("\r")
            assert prompt.taken == [f"{lines} and! {lines}"]
            assert prompt.terminal.rows == [">"]
            folded = prompt.editor.fold(prompt.taken[0])
            assert folded == "[pasted 42 lines] and! [pasted 42 lines, 2]"
            await paste("a\nb")
            await prompt.type("\r")
            assert prompt.taken[1:] == ["a\nb"]

    asyncio.run(run())


# Holds: typing-5
def test_tab_queues_what_cannot_be_completed_and_up_takes_it_back(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "setup.py").touch()
        queued: list[str] = []

        def queue(text: str) -> bool:
            queued.append(text)
            prompt.editor.show_queued([f"queued: {text}"])
            return True

        def take_back() -> str | None:
            prompt.editor.show_queued([])
            return queued.pop() if queued else None

        async with drawn_prompt(tmp_path, queue=queue, take_back=take_back) as prompt:
            await prompt.type("see set\t")
            await prompt.settle()
            assert (queued, prompt.editor.buffer.text) == ([], "see setup.py")
            await prompt.type("\t")
            assert (queued, prompt.editor.buffer.text) == (["see setup.py"], "")
            assert prompt.terminal.rows == ["queued: see setup.py", ">"]
            await prompt.type("\x1b[A")
            assert (queued, prompt.editor.buffer.text) == ([], "see setup.py")
            assert prompt.terminal.rows == ["> see setup.py"]
            assert prompt.taken == []

    asyncio.run(run())


# Holds: typing-11
def test_enter_right_behind_tab_takes_what_is_completed(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "setup.py").touch()
        async with drawn_prompt(tmp_path) as prompt:
            await prompt.type("/st\t\r")
            await prompt.type("/\t\r")
            await prompt.settle()
            assert prompt.taken == ["/status", "/"]
            assert prompt.terminal.rows == [">"]  # and no list for the line that is gone

    asyncio.run(run())


# Holds: typing-6
def test_an_editor_gets_what_is_typed_and_its_text_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\nsed \'s/^/edited /\' "$1" > "$1.new" && mv "$1.new" "$1"\n')
    program.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(program))

    async def run() -> None:
        async with drawn_prompt(tmp_path) as prompt:
            await prompt.type("one\x07")
            await prompt.wait_for(lambda: prompt.editor.buffer.text != "one")
            await prompt.settle()
            assert prompt.terminal.rows == ["> edited one"]

    asyncio.run(run())


def test_a_search_of_the_history_is_left_by_esc(tmp_path: Path) -> None:
    async def run() -> None:
        async with drawn_prompt(tmp_path, write_status=write_status) as prompt:
            await prompt.type("first one\r")
            await prompt.type("second\r")
            await prompt.type("\x12first")
            assert "first one" in "\n".join(prompt.terminal.rows)
            assert prompt.terminal.rows[-1] == STATUS
            await prompt.type("\x1b")
            await prompt.wait_for(lambda: prompt.editor.buffer.text == "first one")
            await prompt.settle()
            await prompt.type("\r")
            assert prompt.taken[-1] == "first one"

    asyncio.run(run())
