"""Everything public with hostile values: a typed error or a result, never a panic or a hang.

The calls are made in an interpreter of their own, by the scripts in `hostile/`, so that a crash or
a hang is a failure of one test and not the end of all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "hostile"


def run(script: str, *arguments: str, **variables: str) -> list[str]:
    """Run a script to its end and give what it found: the first line counts its calls."""
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, **variables},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended in {lines[-1:]}: {done.stderr[-3_000:]}"
    (start,) = (index for index, line in enumerate(lines) if " calls of " in line)
    return lines[start:]


@pytest.mark.timeout(600)
def test_hostile_values_do_no_harm_to_what_is_compiled():
    count, *findings = run("walk.py", "short", "extension")

    assert int(count.split()[0]) > 30_000
    assert findings == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["rust", "python"])
def test_hostile_values_do_no_harm_where_the_kernel_uses_them(engine):
    count, *findings = run("uses.py", AMPLIFIER_ENGINE=engine)

    assert int(count.split()[0]) > 2_000
    assert findings == []


HARM = """
import sys
sys.path.insert(0, {scripts!r})
import surface, walk

class PanicException(BaseException): ...

def panics(value): raise PanicException("index out of bounds")
def breaks(value): raise SystemError("error return without exception set")
def overflows(value): return overflows([value])
def leaves(value): raise KeyboardInterrupt
async def hangs(value): await walk.asyncio.Event().wait()
def refuses(value): raise TypeError("`value` must be a number")

walk.PATIENCE = 0.01
walk.is_ours = lambda path: True
walk.HOSTILE = {{"none": lambda: None}}
findings = walk.Findings()
for function in (panics, breaks, overflows, leaves, hangs, refuses):
    target = surface.Target(function.__name__, lambda function=function: function)
    walk.walk_callable(target, findings, is_thorough=False)
print(*sorted({{line.split(" with ")[0] for line in findings.bad}}))
"""


def test_the_walk_notices_panics_broken_calls_overflows_exits_and_hangs():
    program = HARM.format(scripts=str(SCRIPTS))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("breaks hangs leaves overflows panics\n", "")
