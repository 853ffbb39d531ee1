"""What importing the package costs, and that its lazy names behave like ordinary ones."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import amplifier_core
from amplifier_core import _engine

HEAVY = [
    "amplifier_modules",
    "amplifier_providers",
    "anyio",
    "asyncio",
    "grpc",
    "httpx2",
    "importlib.metadata",
    "logging",
    "pydantic",
    "pytest",
    "rich",
    "trio",
    "typing",
    "unittest.mock",
]


def run_fresh(program: str) -> Any:
    """What a program prints as JSON, run by an interpreter of its own."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def loaded_by(statement: str) -> list[str]:
    return run_fresh(
        f"import sys; before = set(sys.modules); {statement}; new = set(sys.modules) - before; "
        f"import json; print(json.dumps([name for name in {HEAVY!r} if name in new]))"
    )


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_by("import amplifier_core") == []


def test_events_capabilities_and_errors_import_nothing_heavy():
    statement = "from amplifier_core import capabilities, events, llm_errors"
    assert loaded_by(statement) == []


def test_loading_a_module_does_not_import_the_test_tools_or_what_it_does_not_need():
    statement = "import amplifier_core.loader, amplifier_core._session_init"
    found = loaded_by(statement)
    assert not {"pydantic", "pytest", "unittest.mock", "anyio", "amplifier_modules"} & set(found)


def test_every_listed_name_resolves():
    assert isinstance(amplifier_core.__all__, list)
    assert sorted(amplifier_core.__all__) == amplifier_core.__all__
    assert len(set(amplifier_core.__all__)) == len(amplifier_core.__all__)
    assert [name for name in amplifier_core.__all__ if not hasattr(amplifier_core, name)] == []
    assert set(amplifier_core.__all__) <= set(dir(amplifier_core))


def test_the_stub_gives_the_listed_names_and_no_others():
    stub = Path(inspect.getfile(amplifier_core)).with_suffix(".pyi")
    tree = ast.parse(stub.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    told = {
        alias.name: f"amplifier_core.{node.module or alias.name}"
        for node in imports
        for alias in node.names
        if alias.name == alias.asname
    }
    further = [node for node in tree.body if isinstance(node, ast.AnnAssign | ast.Assign)]
    names = [*told, *(ast.unparse(node).split(" ")[0].rstrip(":") for node in further)]
    assert sum(len(node.names) for node in imports) == len(told)
    assert sorted(names) == sorted([*amplifier_core.__all__, "__version__"])
    for name, module in told.items():
        value = getattr(importlib.import_module(module), name, sys.modules[module])
        assert getattr(amplifier_core, name) is value


def test_a_star_import_gives_exactly_the_listed_names():
    names = run_fresh(
        "import json; space = {}; exec('from amplifier_core import *', space); "
        "space.pop('__builtins__'); print(json.dumps(sorted(space)))"
    )
    assert names == sorted(amplifier_core.__all__)


def test_the_top_level_names_are_the_classes_of_the_engine():
    names = {
        "AmplifierSession": _engine.RustSession,
        "CancellationToken": _engine.RustCancellationToken,
        "HookRegistry": _engine.RustHookRegistry,
        "ModuleCoordinator": _engine.RustCoordinator,
        "RustCancellationToken": _engine.RustCancellationToken,
        "RustCoordinator": _engine.RustCoordinator,
        "RustHookRegistry": _engine.RustHookRegistry,
        "RustSession": _engine.RustSession,
    }
    assert {name: getattr(amplifier_core, name) for name in names} == names
    assert amplifier_core.AmplifierSession.__name__ == "RustSession"
    assert amplifier_core.RUST_AVAILABLE is True
    assert amplifier_core.__version__ == _engine.__version__


def test_the_version_is_three_numbers():
    parts = amplifier_core.__version__.split(".")
    assert [part.isdecimal() for part in parts] == [True, True, True]


def test_the_source_imports_the_coordinator_from_the_engine():
    source = inspect.getfile(amplifier_core)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    assert "from ._engine import RustCoordinator as ModuleCoordinator" in text


def test_a_submodule_is_there_after_a_bare_import():
    program = (
        "import amplifier_core, json; "
        "print(json.dumps(amplifier_core.llm_errors.RateLimitError('slow').retryable))"
    )
    assert run_fresh(program) is True


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'amplifier_core' has no attribute 'Sesion'"):
        _ = amplifier_core.Sesion  # pyright: ignore[reportAttributeAccessIssue]


def test_a_name_can_be_set_before_its_first_use():
    program = (
        "import amplifier_core, json; amplifier_core.HookResult = 5; "
        "from amplifier_core import HookResult; print(json.dumps(HookResult))"
    )
    assert run_fresh(program) == 5


def test_a_name_can_be_deleted_before_its_first_use_and_set_again():
    program = (
        "import amplifier_core, json; del amplifier_core.HookResult; "
        "gone = not hasattr(amplifier_core, 'HookResult') and 'HookResult' not in dir("
        "amplifier_core); amplifier_core.HookResult = 5; "
        "print(json.dumps([gone, amplifier_core.HookResult]))"
    )
    assert run_fresh(program) == [True, 5]


def test_deleting_a_name_twice_is_an_error():
    program = (
        "import amplifier_core, json; del amplifier_core.Usage\n"
        "try: del amplifier_core.Usage\n"
        "except AttributeError: print(json.dumps('gone'))"
    )
    assert run_fresh(program) == "gone"


def test_a_patch_is_seen_and_undone():
    original = amplifier_core.ToolResult
    with mock.patch("amplifier_core.ToolResult") as stand_in:
        assert amplifier_core.ToolResult is stand_in
    assert amplifier_core.ToolResult is original


def test_a_patch_of_a_name_not_used_before_is_undone():
    program = (
        "import amplifier_core, json; from unittest import mock\n"
        "with mock.patch('amplifier_core.Usage', 1): inside = amplifier_core.Usage\n"
        "from amplifier_core.message_models import Usage\n"
        "print(json.dumps([inside, amplifier_core.Usage is Usage]))"
    )
    assert run_fresh(program) == [1, True]


def test_a_monkeypatch_can_delete_and_restore(monkeypatch: pytest.MonkeyPatch):
    original = amplifier_core.Message
    monkeypatch.delattr(amplifier_core, "Message")
    assert not hasattr(amplifier_core, "Message")
    monkeypatch.undo()
    assert amplifier_core.Message is original


@pytest.mark.parametrize("name", ["_rust_wrappers", "_hooks_bridge"])
def test_modules_of_long_ago_are_not_there(name: str):
    with pytest.raises(ImportError):
        __import__(f"amplifier_core.{name}")


def test_the_core_can_be_imported_where_pytest_cannot():
    program = (
        "import json, sys; sys.modules['pytest'] = sys.modules['pytest_asyncio'] = None\n"
        "import amplifier_core, amplifier_core.loader, amplifier_core._session_init\n"
        "[getattr(amplifier_core, name) for name in amplifier_core.__all__]\n"
        "print(json.dumps('imported'))"
    )
    assert run_fresh(program) == "imported"
