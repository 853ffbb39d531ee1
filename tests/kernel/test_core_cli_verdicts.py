"""`validate` gives a verdict in one way, whatever the module does to its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

GOOD = """
class Tool:
    name = "x"
    description = "does"
    async def execute(self, input): pass

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
    {in_mount}
{at_import}
"""
SLOW = "while True: pass"

ENDS = {
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit('\\x1b[31mred')": "SystemExit",
    "raise BaseException('\\x1b]0;title\\x07')": "BaseException",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise asyncio.CancelledError": "CancelledError",
    "raise BaseExceptionGroup('\\x9b2J', [GeneratorExit()])": "BaseExceptionGroup",
    "os._exit(0)": "exit code 0",
    "os._exit(7)": "exit code 7",
    "os.kill(os.getpid(), signal.SIGKILL)": "signal SIGKILL",
    "os.abort()": "signal SIGABRT",
    "os.execv(sys.executable, [sys.executable, '-c', ''])": "exit code 0",
    "os.fork() and os._exit(0); time.sleep(3600)": "exit code 0",
    SLOW: "stopped after 3 s",
    "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(3600)": "stopped after 3 s",
    "os.kill(os.getpid(), signal.SIGSTOP)": "stopped after 3 s",
    "exec('while True: os.write(1, b\"x\" * 65536)')": "stopped after 3 s",
    "os.closerange(0, 3); os._exit(5)": "exit code 5",
    "os.write(1, b'\\xff\\xfe\\x1b[2J last\\n'); os._exit(1)": "last",
    "sys.stdout.write('\\x1b[8m'); sys.stdout.flush(); os._exit(1)": "exit code 1",
}
"""What ends the process or never does, and what the verdict says."""

HARMLESS = [
    "print('\\x1b[31m')",
    "os.write(1, b'x' * 10_000_000)",
    "os.write(2, b'\\xff\\x1b[2J\\n')",
    "os.closerange(0, 3)",
    "sys.stdout = sys.stderr = sys.stdin = None",
    "atexit.register(time.sleep, 3600)",
    "threading.Thread(target=time.sleep, args=(3600,)).start()",
    "asyncio.get_running_loop().create_task(stubborn())",
    "subprocess.Popen(['sleep', '3600'])",
    "subprocess.Popen(['sleep', '20'], start_new_session=True)",
    "os.fork()",
    "os.fork() or time.sleep(3600)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "os.chdir('/')",
    "sys.path.clear()",
    "os._exit = sys.exit = lambda *_: None",
    "json.dumps = json.loads = None",
    "assert sys.stdin.read() == ''",
]
"""What a module may do and still be valid."""
TAKES_STREAMS = ("os.closerange(0, 3)", "sys.stdout = sys.stderr = sys.stdin = None")

IMPORTS = "import asyncio, atexit, json, os, signal, subprocess, sys, threading, time\n"
STUBBORN = """
async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass
"""


def run(folder: Path, module: str, *options: str) -> tuple[int, list[str]]:
    file = folder / "verdict_module.py"
    file.write_text(IMPORTS + STUBBORN + module)
    command = [sys.executable, "-c", "from amplifier_core.cli import main; main()"]
    done = subprocess.run(
        [*command, "validate", "tool", str(file), *options],
        check=False,
        capture_output=True,
        timeout=300,
    )
    assert done.stderr == b""
    out = done.stdout.decode()
    assert all(character.isprintable() or character == "\n" for character in out)
    return done.returncode, out.splitlines()


posix = pytest.mark.skipif(os.name != "posix", reason="signals and forks")


# Holds: differ-127, differ-128
@posix
@pytest.mark.parametrize("act", ENDS)
def test_a_module_that_takes_its_process_has_failed(tmp_path: Path, act: str):
    module = GOOD.format(in_mount=act, at_import="")
    # A busy machine may take longer to start Python; only what never ends needs a short limit.
    options = ["--timeout", "3"] if "stopped" in ENDS[act] else []
    code, lines = run(tmp_path, module, *options)
    assert code == 1
    assert lines[0] == "FAILED: 0/1 checks passed (1 errors, 0 warnings)"
    assert lines[1].startswith("  ✗ [error] module_process: The ")
    assert ENDS[act] in lines[1]
    assert len(lines) == 2


# Holds: differ-127, differ-128
@posix
@given(
    in_mount=st.lists(st.sampled_from(HARMLESS), max_size=3),
    at_exit=st.sampled_from([None, *ENDS]),
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_module_leaves_behind_changes_no_verdict(
    tmp_path: Path, in_mount: list[str], at_exit: str | None
):
    # Last: a module that writes into what it has closed has failed by itself.
    acts = [*sorted(in_mount, key=TAKES_STREAMS.__contains__), "pass"]
    if at_exit is not None:
        acts.insert(0, f"atexit.register(lambda: exec({at_exit!r}))")
    code, lines = run(tmp_path, GOOD.format(in_mount="\n    ".join(acts), at_import=""))
    assert lines[0] == "PASSED: 8/8 checks passed (0 errors, 0 warnings)"
    assert code == 0


@posix
@pytest.mark.parametrize("act", ["os._exit(0)", "raise BaseException('\\x1b')", SLOW])
def test_an_import_that_takes_the_process_has_failed(tmp_path: Path, act: str):
    options = ["--timeout", "3"] if act == SLOW else []
    code, lines = run(tmp_path, GOOD.format(in_mount="", at_import=act), *options)
    assert code == 1
    assert "module_process" in lines[1]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9", "soon"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, seconds: str):
    from click.testing import CliRunner

    from amplifier_core.cli import main

    done = CliRunner().invoke(main, ["validate", "tool", str(tmp_path), "--timeout", seconds])
    assert done.exit_code == 2
