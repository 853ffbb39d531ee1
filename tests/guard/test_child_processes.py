"""Whoever starts a process hands it the variables that are allowed by name, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "python"

STARTERS = re.compile(
    r"subprocess(\.\w+)?|multiprocessing(\.\w+)?|pty|os\.(system|popen|startfile|fork|forkpty"
    r"|exec\w+|spawn\w+|posix_spawnp?)|\w+\.(create_subprocess_\w+|subprocess_\w+)"
    r"|(anyio|trio|anyio\.to_process|trio\.lowlevel)\.(run_process|open_process|run_sync_in_process)"
    r"|anyio\.to_process|concurrent\.futures\.ProcessPoolExecutor"
)
"""What starts a process, by its whole name."""


def starters(source: str) -> set[str]:
    """The names in a source that start processes: what it imports, and what it takes from that."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module} | {f"{module}.{alias.name}" for alias in names}
            case ast.Attribute():
                found.add(ast.unparse(node))
            case _:
                pass
    return {name for name in found if STARTERS.fullmatch(name)}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from subprocess import run",
        "from os import execvp",
        "import os\nos.system('ls')",
        "import os\nos.posix_spawn('ls', [], {})",
        "import asyncio\nasyncio.create_subprocess_exec('ls')",
        "import anyio\nanyio.run_process('ls')",
        "from trio import open_process",
        "from concurrent.futures import ProcessPoolExecutor",
        "import multiprocessing.pool",
    ],
)
def test_what_starts_a_process_is_seen(source: str) -> None:
    assert starters(source)


def test_nothing_else_is_taken_for_it() -> None:
    assert not starters(
        "import os, anyio.to_thread\nos.environ.get('x')\nanyio.to_thread.run_sync(f)"
    )


OTHERS = {
    "amplifier_app/commands/background/launch.py": {"os.posix_spawn"},
    "amplifier_app/commands/chat/clipboard.py": {
        "subprocess",
        "subprocess.run",
        "subprocess.DEVNULL",
        "subprocess.SubprocessError",
    },
    "amplifier_app/commands/config/file.py": {"subprocess", "subprocess.run"},
    "amplifier_app/commands/chat/own_command.py": {"asyncio.create_subprocess_exec"},
    "amplifier_app/line_input/text_editor.py": {"asyncio.create_subprocess_exec"},
    "amplifier_core/validation/_process.py": {"subprocess", "subprocess.Popen"},
    "amplifier_modules/changes/tracked/private_git.py": {
        "subprocess",
        "subprocess.TimeoutExpired",
        "subprocess.run",
    },
    "amplifier_modules/sandbox/job_object.py": {"subprocess", "subprocess.list2cmdline"},
    "amplifier_modules/sandbox/launched.py": {"subprocess", "subprocess.Popen"},
    "amplifier_modules/sandbox/seatbelt.py": {"subprocess", "subprocess.Popen"},
    "amplifier_modules/sandbox/unconfined.py": {
        "subprocess",
        "subprocess.DEVNULL",
        "subprocess.Popen",
    },
    "amplifier_modules/tools/mcp/server_process.py": {"anyio.open_process"},
}
"""A module is validated in the environment that it will have in a session, git on a store of our
own and a launcher have none of ours, and a command that of its `Command`, which `tool-bash` makes by `child_environment`, and so does an MCP server, besides what its entry names.
The user's own editor and commands, and the command itself in the background, have the user's own environment."""


# Holds: sink-18
def test_every_file_that_starts_a_process_uses_the_allowed_environment() -> None:
    starting = {
        str(path.relative_to(PYTHON)): names
        for path in sorted(PYTHON.rglob("*.py"))
        if (names := starters(text := path.read_text())) and "child_environment(" not in text
    }

    assert {name: starting[name] for name in starting if name not in OTHERS} == {}
    assert set(starting) == set(OTHERS)
