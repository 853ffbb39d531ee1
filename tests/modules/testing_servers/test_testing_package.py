"""Where the package stands: for tests alone."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import amplifier_modules
from amplifier_testing import servers

PACKAGES = Path(amplifier_modules.__file__).parents[1]
TESTING = Path(servers.__file__).parents[1]


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def test_nothing_outside_of_it_names_it() -> None:
    rooms = {path.parent for path in PACKAGES.glob("*/__init__.py")} - {TESTING}
    sources = [path for room in rooms for path in room.rglob("*.py*") if path.suffix != ".pyc"]

    assert {room.name for room in rooms} >= {"amplifier_agent", "amplifier_core", "arcllm"}
    assert [path for path in sources if "amplifier_testing" in path.read_text()] == []


def test_its_paths_are_servers_and_kit() -> None:
    folders = {path.parent.name for path in TESTING.glob("*/__init__.py")}

    assert folders == {"servers", "kit"}
    assert importlib.util.find_spec("amplifier_modules.testing") is None


def test_what_the_contract_names_for_tests_stays_in_the_kernel() -> None:
    names = ("_testing", "pytest_plugin", "testing", "validation")
    (plugin,) = importlib.metadata.entry_points(group="pytest11", name="amplifier_module")

    assert [importlib.import_module(f"amplifier_core.{name}").__name__ for name in names] == [
        f"amplifier_core.{name}" for name in names
    ]
    assert plugin.value == "amplifier_core.pytest_plugin"


def test_only_the_kit_imports_pytest() -> None:
    importing = [
        path
        for path in TESTING.rglob("*.py")
        if {name.partition(".")[0] for name in imported(path)} & {"pytest", "hypothesis", "trio"}
    ]
    program = (
        "import sys, amplifier_testing, amplifier_testing.servers\n"
        "print({'pytest', 'hypothesis', 'trio', 'amplifier_testing.kit'} & {*sys.modules})\n"
        "amplifier_testing.ProviderKit; print('pytest' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert {path.parent.name for path in importing} == {"kit"}
    assert done.stdout == "set()\nTrue\n"


def packages_of(folder: str) -> set[str]:
    """The packages from outside that a part of it imports."""
    names = {name for path in (TESTING / folder).rglob("*.py") for name in imported(path)}
    return {name.partition(".")[0] for name in names if not name.startswith(".")} - {
        "__future__",
        *sys.stdlib_module_names,
    }


def test_it_imports_nothing_that_it_judges() -> None:
    assert packages_of("servers") == set()
    assert packages_of("kit") == {
        "amplifier_core", "amplifier_modules", "amplifier_providers", "anyio", "hypothesis", "pydantic",
        "pytest", "sniffio", "trio",
    }  # fmt: skip
    files = list((TESTING / "kit").rglob("*.py"))
    rooms = {name for path in files for name in imported(path) if name.startswith("amplifier_pro")}
    assert {room.rpartition(".")[0] for room in rooms} == {
        "amplifier_providers.answers", "amplifier_providers.running",
    }  # fmt: skip
    modules = {
        name for path in files for name in imported(path) if name.startswith("amplifier_mod")
    }
    assert modules == {"amplifier_modules.stores"}  # what a store is, and none of them


def test_servers_need_no_pytest() -> None:
    program = (
        "import sys; sys.modules['pytest'] = None; import amplifier_testing.servers\n"
        "try: import amplifier_testing.kit\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "`ProviderKit` needs pytest: `pip install pytest`\n"


def test_every_name_is_there_and_documented() -> None:
    assert sorted(servers.__all__) == servers.__all__
    assert [name for name in servers.__all__ if name not in vars(servers)] == []
    classes = [
        value for name in servers.__all__ if isinstance(value := getattr(servers, name), type)
    ]
    assert [each.__name__ for each in classes if not each.__doc__] == []


def test_the_program_of_the_page_of_the_package_runs(tmp_path: Path) -> None:
    page = servers.__doc__ or ""
    blocks = [block for block in page.split("\n\n") if block.startswith("    ")]
    program = "\n\n".join(blocks).replace("\n    ", "\n").removeprefix("    ")
    client = """
import anthropic

async def run_my_provider(base_url):
    client = anthropic.AsyncAnthropic(base_url=base_url, api_key="key")
    tools = [{"name": "read_file", "input_schema": {"type": "object"}}]
    turns = [{"role": "user", "content": "What is in a.py?"}]
    while True:
        answer = await client.messages.create(
            model="claude-sonnet-5", max_tokens=99, messages=turns, tools=tools
        )
        content = [block.to_dict() for block in answer.content]
        if answer.stop_reason != "tool_use":
            await client.close()
            return content[0]["text"]
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
            for block in content
            if block["type"] == "tool_use"
        ]
        turns += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
"""
    (tmp_path / "test_page.py").write_text(client + program)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"]
    options = ["-o", "anyio_mode=auto", "test_page.py"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
