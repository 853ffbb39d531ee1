"""The wheel on every CPython of this machine: an agent on both engines, one call, the command."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from interpreters import find_interpreters

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]

INTERPRETERS = find_interpreters() if sys.platform != "win32" else {}

AGENT = """
import sys
import amplifier_core
from amplifier_agent import Agent, ScriptedProvider, tool
from arcllm import Message


@tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b


model = ScriptedProvider([{"tool": "add", "arguments": {"a": 2, "b": 3}}, "Five."])
result = Agent(model, tools=[add]).run_sync("2 + 3?")
seen = model.requests[1].messages[-1].content
print(sys.version_info.minor, amplifier_core.AmplifierSession.__module__, seen, result.text)
print(Message(role="user", content="Hello").content)
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module", params=INTERPRETERS or [None])
def minor(request: pytest.FixtureRequest) -> int:
    if request.param is None:
        pytest.skip("this machine has no other CPython from 3.11 on")
    return request.param


@pytest.fixture(scope="module")
def run(minor: int, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the interpreter with the wheel; what it needs in plain Python comes from this one."""
    folder = tmp_path_factory.mktemp(f"python3.{minor}")
    python = INTERPRETERS[minor]
    compiled = f"pydantic-core=={version('pydantic-core')}"
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-compile"]
    quiet = ["--disable-pip-version-check", "--root-user-action", "ignore"]
    subprocess.run(
        [sys.executable, *install, *quiet, "--target", folder / "site", wheel, compiled], check=True
    )
    names = ("PATH", "HOME", "LANG", "PYTHON_KEYRING_BACKEND")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    paths = {
        "PYTHONPATH": os.pathsep.join([str(folder / "site"), sysconfig.get_path("purelib")]),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }

    def run(*arguments: Any, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [python, "-W", "error", *arguments]
        return subprocess.run(
            command,
            cwd=folder,
            env=kept | paths | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(("engine", "module"), [("rust", "_engine"), ("python", "session")])
def test_an_agent_runs_on_another_cpython(run: Run, minor: int, engine: str, module: str) -> None:
    done = run("-c", AGENT, AMPLIFIER_ENGINE=engine)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{minor} amplifier_core.{module} 5 Five.\nHello\n"


def test_the_command_runs_on_another_cpython(run: Run) -> None:
    done = run("-m", "amplifier_core", "--model", "demo", "--quiet", "Give me a tour")

    assert (done.returncode, done.stderr) == (0, "")
    assert "site" in done.stdout
