"""The prompt on a screen: keys during output and resizes, pastes, Esc, Tab, the status line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from drawn_prompt import drawn_prompt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

STATUS = "model · 3 tokens"
WORDS = st.text("abc xyz", min_size=1, max_size=30)
STEPS = st.one_of(
    st.tuples(st.just("type"), WORDS),
    st.tuples(st.just("type"), st.sampled_from(["\x7f", "\x1b[D", "\x1b[C", "\x01", "\x05"])),
    st.tuples(st.just("write"), st.text("abc \n", min_size=1, max_size=120)),
    st.tuples(st.just("resize"), st.integers(20, 90)),
)


def join(rows: list[str]) -> str:
    return "".join("".join(rows).split())


# Holds: input-1
@pytest.mark.parametrize("is_reflowing", [True, False])
@settings(max_examples=25, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=12))
def test_keys_during_output_and_resizes_leave_both_whole(
    tmp_path: Path, is_reflowing: bool, steps: list[tuple[str, Any]]
) -> None:
    async def run() -> None:
        async with drawn_prompt(
            tmp_path, is_reflowing=is_reflowing, write_status=lambda _: "· state ·"
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
            assert rows.pop() == "· state ·"
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
