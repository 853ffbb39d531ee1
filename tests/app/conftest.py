"""The command with a scripted model on the loopback, and with a tool that waits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_command import command, keyed, model

__all__ = ["command", "keyed", "model"]

# Takes the place of `tool-search`: a tool that runs until the test lets it go, and a clean-up
# that saves the history and can be interrupted.
WAITING_MODULE = """
import json, os, signal
from pathlib import Path

import anyio
from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"

class Wait:
    name = "wait"
    description = "waits"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input):
        gate = Path(os.environ["GATE"])
        text = await anyio.to_thread.run_sync(gate.read_text, abandon_on_cancel=True)
        return ToolResult(success=True, output=text)

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Wait(), name="wait")

    async def clean_up():
        messages = await coordinator.get("context").get_messages()
        Path(os.environ["HISTORY"]).write_text(json.dumps(messages))
        if os.environ.get("INTERRUPT_AT") == "cleanup":
            os.kill(os.getpid(), signal.SIGINT)
        if os.environ.get("STUCK"):
            await anyio.sleep_forever()

    return clean_up
"""

# Puts the tool into our own table, and presses Ctrl+C at the moment a module is imported.
INTERRUPTING_SITE = """
import os, signal, sys

from amplifier_modules import MODULES

MODULES["tool-search"] = "waiting_tool"

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("INTERRUPT_AT"):
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="session")
def waiting_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tool `wait`; one for all, as those who import from one share an interpreter."""
    modules = tmp_path_factory.mktemp("modules")
    package = modules / "waiting_tool"
    package.mkdir()
    (package / "__init__.py").write_text(WAITING_MODULE)
    (modules / "sitecustomize.py").write_text(INTERRUPTING_SITE)
    return modules


@pytest.fixture
def waiting(keyed: Any, tmp_path: Path, waiting_modules: Path) -> Any:
    """The command with the tool `wait`, whose gate is a pipe in the file system."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    keyed.environment["PYTHONPATH"] = f"{waiting_modules}:{keyed.environment['PYTHONPATH']}"
    keyed.environment |= {"GATE": str(gate), "HISTORY": str(tmp_path / "history")}
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    return keyed
