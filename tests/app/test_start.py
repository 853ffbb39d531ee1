"""What the command imports, and what it shows before the rest is there."""

from __future__ import annotations

import ast
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from amplifier_app.command_line import run_command
from amplifier_core import cli as kernel

HEAVY = (
    "amplifier_core",
    "amplifier_guard",
    "amplifier_modules.tools.mcp",
    "asyncio",
    "httpx2",
    "mcp",
    "prompt_toolkit",
    "pydantic_core",
    "rich",
    "trio",
)


def imported(command: Any, *arguments: str, at_first_word: bool = False) -> list[str]:
    """Which of the heavy packages the command has imported at its end, or at its first word."""
    probe = f"""
import sys
from amplifier_app.command_line import run_command
found = []
class Words:
    encoding = "utf-8"
    def write(self, text):
        found.append([name for name in {HEAVY!r} if name in sys.modules])
    def flush(self):
        pass
sys.stderr = Words()
code = run_command({list(arguments)!r})
Words().write("at the end")
sys.__stderr__.write(repr((code, found[{0 if at_first_word else -1}])))
"""
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        check=False,
        cwd=command.folder,
        env=command.environment,
        text=True,
    )
    code, names = ast.literal_eval(done.stderr)
    assert code == 0
    return names


# Holds: command-1
@pytest.mark.parametrize("arguments", [[], ["--help"], ["run", "--help"], ["list-modules", "-h"]])
def test_help_imports_nothing_that_a_turn_needs(command: Any, arguments: list[str]) -> None:
    assert imported(command, *arguments) == []


def test_help_names_the_commands_of_the_kernel(capfd: Any) -> None:
    assert run_command(["--help"]) == 0
    rows = capfd.readouterr().out.splitlines()
    named = [each for row in rows for each in row.strip().partition("  ")[0].split(", ")]
    assert set(kernel.main.commands) <= set(named)


# Holds: command-2
def test_the_notice_of_the_demo_model_is_there_before_the_rest(command: Any) -> None:
    # The package without its names: the extension is part of it.
    assert imported(command, "run", "hello", at_first_word=True) == ["amplifier_core"]


# Holds: command-2, mcp-34
def test_a_turn_imports_neither_trio_nor_what_mcp_servers_need(command: Any) -> None:
    unwanted = {"trio", "mcp", "amplifier_modules.tools.mcp"}

    assert unwanted.isdisjoint(imported(command, "run", "hello"))


def test_a_prompt_on_the_command_line_does_not_import_the_editor(command: Any) -> None:
    assert "prompt_toolkit" not in imported(command, "run", "hello")


UNWANTED_AT_THE_PROMPT = (
    "amplifier_core._models",
    "amplifier_modules.stores",
    "decimal",
    "httpx2",
    "mcp",
    "prompt_toolkit.shortcuts",
    "pydantic_core",
    "rich",
    "shutil",
    "ssl",
    "tempfile",
    "trio",
    "wcwidth",
    "xml.dom.minidom",
)


# Holds: command-140
def test_the_first_prompt_imports_nothing_that_only_a_turn_or_a_rare_key_needs(
    command: Any,
) -> None:
    probe = f"""
import os, sys
from amplifier_app.late_imports.late_modules import is_late
from amplifier_app.line_input.whole_writes import WholeWrites
from amplifier_app.command_line import run_command
write = WholeWrites.write
def write_or_end(self, text):
    if ">" in text:
        found = [name for name in {UNWANTED_AT_THE_PROMPT!r}
                 if name in sys.modules and not is_late(name)]
        with open("found", "w") as file:
            file.write(repr(found))
        os._exit(0)
    return write(self, text)
WholeWrites.write = write_or_end
run_command([])
"""
    # A keyring that is asked may import anything.
    command.environment["ANTHROPIC_API_KEY"] = "a-key-that-nobody-uses"
    code, shown = shown_in_terminal(command, [sys.executable, "-c", probe], with_keys=True)
    assert code == 0, shown
    assert (command.folder / "found").read_text() == "[]"


def test_httpcore_works_under_trio_all_the_same(command: Any, model: Any) -> None:
    model.reply(*model.said({"type": "text", "text": "Done."}))
    probe = f"""
import sys
from amplifier_app.lazy_trio import import_httpcore
import_httpcore()
assert "trio" not in sys.modules
import httpx2, trio
async def post():
    async with httpx2.AsyncClient() as client:
        return await client.post({model.url!r}, json={{}})
print(trio.run(post).status_code)
"""
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        check=False,
        env=command.environment,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("200\n", "")


def shown_in_terminal(
    command: Any, line: Sequence[str] = (), *, with_keys: bool = False
) -> tuple[int, bytes]:
    """The exit code of a run in a terminal, and all that it wrote there.

    Args:
        command: Where it runs.
        line: What runs; a turn without it.
        with_keys: Whether its standard input is the terminal, too.
    """
    terminal, program = pty.openpty()
    process = subprocess.Popen(
        line or [*command.line, "run", "hello"],
        stdin=program if with_keys else subprocess.DEVNULL,
        stdout=program,
        stderr=program,
        env={**command.environment, "TERM": "xterm"},
        cwd=command.folder,
    )
    os.close(program)
    shown = b""
    # Linux tells by an error that the other end is closed.
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65_536):
            shown += piece
    os.close(terminal)
    return process.wait(), shown


def test_a_terminal_shows_that_the_command_is_starting(keyed: Any, model: Any) -> None:
    model.reply(*model.said({"type": "text", "text": "Done."}))
    code, shown = shown_in_terminal(keyed)
    assert code == 0
    assert b"starting" in shown.partition(b"Done.")[0]


def test_what_stops_the_command_at_its_start_erases_that_line(keyed: Any) -> None:
    keyed.environment["PROVIDER_RATE"] = "many"
    code, shown = shown_in_terminal(keyed)
    assert code == 1
    assert shown.rpartition(b"\x1b[J\r\x1b[K")[2].startswith(b"error: `PROVIDER_RATE` is 'many'")
