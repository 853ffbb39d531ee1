"""The entry point of the installed wheel in runs of pytest, with pytest-asyncio and without."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]

MODULE = """
from amplifier_core import ToolResult


class Tool:
    name = "x"
    description = "does"

    async def execute(self, input):
        return ToolResult(success=False, error={"message": "no input"})


async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
"""

INHERITED = """
import pytest
from amplifier_core.validation.behavioral import ToolBehaviorTests
from amplifier_core.validation.structural import ToolStructuralTests


class TestBehavior(ToolBehaviorTests): ...


class TestStructure(ToolStructuralTests): ...


@pytest.mark.asyncio
async def test_the_fixture_is_the_mounted_tool(tool_module):
    assert tool_module.name == "x"
"""

PLAIN = """
def test_the_plugin_is_there(request, module_type):
    assert request.config.pluginmanager.has_plugin("amplifier_module")
    assert not request.config.pluginmanager.has_plugin("asyncio")
    assert module_type == "tool"
"""


@pytest.fixture(scope="module")
def extras(installed: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders that hold pytest, and pytest-asyncio alone."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("pytest", "pytest-asyncio")}
    for name, options in (("pytest", ()), ("pytest-asyncio", ("--no-deps",))):
        target = ("--target", folders[name])
        command = ("python", "-m", "pip", "install", "--quiet", *target, *options, name)
        done = installed.call(*command, folder=folders[name])
        assert done.returncode == 0, done.stderr
    return folders


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The checkout of a module, still without tests."""
    folder = tmp_path / "amplifier-module-tool-x"
    (folder / "amplifier_module_tool_x").mkdir(parents=True)
    (folder / "amplifier_module_tool_x" / "__init__.py").write_text(MODULE)
    (folder / "tests").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def run(installed: Any, checkout: Path, tests: str, *folders: Path) -> tuple[int, str]:
    """Run tests with plugins found by their entry points, every warning an error."""
    (checkout / "tests" / "test_it.py").write_text(tests)
    options = ["-q", "-W", "error", "--strict-markers", "-p", "no:cacheprovider"]
    if len(folders) > 1:
        options += ["-o", "asyncio_default_fixture_loop_scope=function"]
    done = installed.call(
        *("python", "-m", "pytest", *options),
        folder=checkout,
        PYTHONPATH=os.pathsep.join(map(str, folders)),
    )
    return done.returncode, done.stdout + done.stderr


def test_a_run_without_pytest_asyncio_works(installed, extras, checkout):
    code, text = run(installed, checkout, PLAIN, extras["pytest"])

    assert code == 0, text
    assert "1 passed" in text


def test_a_fixture_that_needs_pytest_asyncio_says_so(installed, extras, checkout):
    test = "def test_it(tool_module): ...\n"
    code, text = run(installed, checkout, test, extras["pytest"])

    assert code == 1, text
    assert "the fixture `tool_module` needs pytest-asyncio: install it" in text


def test_the_fixtures_work_with_pytest_asyncio(installed, extras, checkout):
    code, text = run(installed, checkout, INHERITED, extras["pytest"], extras["pytest-asyncio"])

    assert code == 0, text
    assert "9 passed" in text
