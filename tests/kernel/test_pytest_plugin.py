"""The pytest plugin and the test classes that modules inherit, run as a module's author does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_core
from amplifier_core._testing.module_under_test import ModuleUnderTest, find_module

VALIDATION = Path(amplifier_core.__file__).parent / "validation"

SOURCES = {
    "tool": """
from amplifier_core import ToolResult

class Tool:
    name = "x"
    description = "does"
    async def execute(self, input):
        return ToolResult(success=False, error={"message": "no input"})

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
""",
    "provider": """
from amplifier_core import ProviderInfo

class Provider:
    name = "x"
    def get_info(self): return ProviderInfo(id="x", display_name="X")
    async def list_models(self): return []
    async def complete(self, request, **kwargs): pass
    def parse_tool_calls(self, response): return []

async def mount(coordinator, config=None):
    await coordinator.mount("providers", Provider(), name="x")
""",
    "hooks": """
async def note(event, data): return None

async def mount(coordinator, config=None):
    return coordinator.hooks.register("tool:pre", note, name="note")
""",
    "loop": """
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        await context.add_message({"role": "user", "content": prompt})
        response = await providers["default"].complete([])
        await hooks.emit("x:y", {})
        return response.content[0].text

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop())
""",
    "context": """
class Context:
    def __init__(self): self.messages = []
    async def add_message(self, message): self.messages.append(message)
    async def get_messages_for_request(self, token_budget=None, provider=None):
        return list(self.messages)
    async def get_messages(self): return list(self.messages)
    async def set_messages(self, messages): self.messages = list(messages)
    async def clear(self): self.messages = []
    def _should_compact(self): return False
    async def _compact_internal(self, budget): pass

async def mount(coordinator, config=None):
    await coordinator.mount("context", Context())
""",
}

KINDS = {"hooks": "hook", "loop": "orchestrator"}


def project(folder: Path, word: str) -> Path:
    """Write a checkout of a module, with tests that inherit the kernel's."""
    kind = KINDS.get(word, word)
    checkout = folder / f"amplifier-module-{word}-x"
    package = checkout / f"amplifier_module_{word}_x"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOURCES[word])
    tests = checkout / "tests"
    tests.mkdir()
    name = kind.capitalize()
    (tests / "test_rules.py").write_text(
        f"from amplifier_core.validation.behavioral import {name}BehaviorTests\n"
        f"from amplifier_core.validation.structural import {name}StructuralTests\n"
        f"class TestBehavior({name}BehaviorTests): pass\n"
        f"class TestStructure({name}StructuralTests): pass\n"
    )
    return checkout


def run(folder: Path, *arguments: str | Path, hidden: str = "") -> tuple[int, dict[str, int], str]:
    """Run pytest in a folder: its exit code, what it counted, and what it wrote."""
    plugins = ["-p", "amplifier_core.pytest_plugin"]
    if not hidden:
        scope = "asyncio_default_fixture_loop_scope=function"
        plugins += ["-p", "pytest_asyncio.plugin", "-o", scope]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden.split()!r}))\n"
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "--import-mode=importlib", "--strict-config"]
    (folder / "pytest.ini").write_text("[pytest]\n")
    command += [
        "-c",
        str(folder / "pytest.ini"),
        "--strict-markers",
        "-W",
        "error",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        *plugins,
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, *map(str, arguments)],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    text = done.stdout + done.stderr
    counts = re.findall(r"(\d+) (passed|failed|skipped|error)s?\b", text.splitlines()[-1])
    return done.returncode, {word: int(number) for number, word in counts}, text


@pytest.mark.parametrize(
    ("word", "tests"), [("tool", 8), ("provider", 6), ("hooks", 8), ("loop", 7)]
)
def test_a_module_inherits_its_tests(word: str, tests: int, tmp_path: Path):
    code, counts, text = run(project(tmp_path, word))
    assert (code, counts) == (0, {"passed": tests}), text


def test_an_internal_method_that_needs_arguments_is_left_alone(tmp_path: Path):
    code, counts, text = run(project(tmp_path, "context"))
    assert (code, counts) == (0, {"passed": 10, "skipped": 1}), text
    assert "`_compact_internal` of the context needs arguments" in text


@pytest.mark.parametrize(
    ("internals", "counted"),
    [
        ("", {"passed": 11}),
        ("async def _should_compact(self): return True\n", {"passed": 11}),
        ("def _should_compact(self): return 5\n", {"passed": 10, "failed": 1}),
        ("def _compact_internal(self): raise KeyError\n", {"passed": 10, "failed": 1}),
        ("def _compact_internal(self): self.messages = ()\n", {"passed": 11}),
        ("def _compact_internal(self): self.messages = None\n", {"passed": 10, "failed": 1}),
    ],
)
def test_a_context_may_do_without_internal_methods_but_not_have_wrong_ones(
    internals: str, counted: dict[str, int], tmp_path: Path
):
    checkout = project(tmp_path, "context")
    package = checkout / "amplifier_module_context_x" / "__init__.py"
    before, _, _ = SOURCES["context"].partition("    def _should_compact")
    _, mount, after = SOURCES["context"].partition("\nasync def mount")
    package.write_text(f"{before}    {internals}{mount}{after}")
    _, counts, text = run(checkout)
    assert counts == counted, text


def test_the_files_of_the_kernel_run_on_a_module_by_path(tmp_path: Path):
    checkout = project(tmp_path, "tool")
    files = [VALIDATION / "behavioral", VALIDATION / "structural"]
    code, counts, text = run(tmp_path, *files, "--module-path", checkout)
    # Seven tests of behaviour and one of structure are for tools.
    assert (code, counts) == (0, {"passed": 8, "skipped": 32}), text
    assert "the module is a tool, the test is for a hook" in text


def test_a_module_that_mounts_nothing_fails_its_tests(tmp_path: Path):
    checkout = project(tmp_path, "tool")
    package = checkout / "amplifier_module_tool_x" / "__init__.py"
    package.write_text("async def mount(coordinator, config=None): pass\n")
    code, counts, text = run(checkout)
    assert (code, counts) == (1, {"failed": 1, "error": 7}), text
    assert "the module mounted nothing at `tools`" in text
    assert "No tool was mounted" in text


def test_without_a_module_the_tests_are_skipped(tmp_path: Path):
    code, counts, text = run(tmp_path, VALIDATION / "behavioral" / "test_tool.py")
    assert (code, counts) == (0, {"skipped": 7}), text
    assert "name one with `--module-path`" in text


def test_the_fixtures_tell_what_was_found(tmp_path: Path):
    checkout = project(tmp_path, "loop")
    (checkout / "tests" / "test_rules.py").write_text(
        "from amplifier_core.testing import MockCoordinator\n"
        "def test_it(module_path, module_type, is_module_context, coordinator, mock_deps):\n"
        "    assert module_path.name == 'amplifier_module_loop_x'\n"
        "    assert module_type == 'orchestrator'\n"
        "    assert is_module_context is True\n"
        "    assert type(coordinator) is MockCoordinator\n"
        "    context, providers, tools, hooks = mock_deps\n"
        "    assert [*providers, *tools] == ['default', 'test_tool']\n"
        "    assert not hasattr(providers['default'], 'stream')\n"
    )
    code, counts, text = run(checkout)
    assert (code, counts) == (0, {"passed": 1}), text


# Holds: differ-111
def test_a_run_without_pytest_asyncio_is_not_disturbed(tmp_path: Path):
    (tmp_path / "test_any.py").write_text("def test_it(): pass\n")
    code, counts, text = run(tmp_path, hidden="pytest_asyncio")
    assert (code, counts) == (0, {"passed": 1}), text


def test_a_module_fixture_says_that_it_needs_pytest_asyncio(tmp_path: Path):
    checkout = project(tmp_path, "tool")
    (checkout / "tests" / "test_rules.py").write_text("def test_it(tool_module): pass\n")
    code, counts, text = run(checkout, hidden="pytest_asyncio")
    assert (code, counts) == (1, {"error": 1}), text
    assert "the fixture `tool_module` needs pytest-asyncio: install it" in text


def test_the_plugin_loads_nothing_of_the_kernel_that_costs(tmp_path: Path):
    program = (
        "import sys, pytest, amplifier_core.pytest_plugin; "
        "sys.exit(bool({'pydantic', 'unittest.mock', 'amplifier_core.testing'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_module_is_looked_for_in_this_order(tmp_path: Path):
    named, around, beside = (tmp_path / name for name in ("named", "around", "beside"))
    checkouts = [
        project(folder, word)
        for folder, word in ((named, "tool"), (around, "provider"), (beside, "context"))
    ]
    test_file = checkouts[1] / "tests" / "test_rules.py"
    found = [
        find_module(str(checkouts[0]), test_file, [checkouts[2]]),
        find_module(None, test_file, [checkouts[2]]),
        find_module(None, tmp_path / "test_x.py", [tmp_path, checkouts[2], checkouts[0]]),
        find_module(None, tmp_path / "test_x.py", [tmp_path]),
    ]
    assert found == [
        ModuleUnderTest(checkouts[0] / "amplifier_module_tool_x", "tool"),
        ModuleUnderTest(checkouts[1] / "amplifier_module_provider_x", "provider"),
        ModuleUnderTest(checkouts[2] / "amplifier_module_context_x", "context"),
        None,
    ]


def test_a_checkout_under_another_name_is_found_by_its_package(tmp_path: Path):
    checkout = project(tmp_path, "hooks").rename(tmp_path / "owner+amplifier-module-hooks-x")
    code, counts, text = run(checkout)
    assert (code, counts) == (0, {"passed": 8}), text
