"""What the validators find in modules."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import validation
from amplifier_core._loading.check import check_mount
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    ValidationCheck,
    ValidationResult,
    base,
)

TOOL = """
class Tool:
    name = "x"
    description = "does"
    input_schema = {}
    async def execute(self, input): pass

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
"""

PROVIDER = """
from amplifier_core import ProviderInfo

class Provider:
    name = "x"
    def get_info(self): return ProviderInfo(id="x", display_name="X")
    async def list_models(self): return []
    async def complete(self, request, **kwargs): pass
    def parse_tool_calls(self, response): return []

async def mount(coordinator, config=None):
    await coordinator.mount("providers", Provider(), name="x")
"""

LOOP = """
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, **kwargs): return ""

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop())
"""

CONTEXT = """
class Context:
    async def add_message(self, message): pass
    async def get_messages_for_request(self, token_budget=None, provider=None): return []
    async def get_messages(self): return []
    async def set_messages(self, messages): pass
    async def clear(self): pass

async def mount(coordinator, config=None):
    await coordinator.mount("context", Context())
"""

HOOK = """
class Observer:
    async def note(self, event, data): pass

async def mount(coordinator, config=None):
    coordinator.get("hooks").register("tool:pre", Observer().note, name="observer")
    def cleanup(): pass
    return cleanup
"""

MODULES = {
    "tool": (ToolValidator, TOOL),
    "provider": (ProviderValidator, PROVIDER),
    "orchestrator": (OrchestratorValidator, LOOP),
    "context": (ContextValidator, CONTEXT),
    "hook": (HookValidator, HOOK),
}

NOTHING = "async def mount(coordinator, config=None): pass\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes packages under names of their own, and forgets them at the end."""
    before, path = set(sys.modules), list(sys.path)

    def write_package(text: str, name: str = "checked_module") -> Path:
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(text, "utf-8")
        return package

    yield write_package
    assert sys.path == path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def failed(result: ValidationResult) -> list[tuple[str, str]]:
    return [(check.name, check.severity) for check in result.checks if not check.passed]


def message(result: ValidationResult, name: str) -> str:
    return next(check.message for check in result.checks if check.name == name)


@pytest.mark.parametrize("kind", MODULES)
async def test_a_good_module_passes_every_check(kind: str, write: Write):
    validator, text = MODULES[kind]
    package = write(text)
    result = await validator().validate(package)
    assert failed(result) == []
    assert (result.module_type, result.module_path) == (kind, str(package))
    assert {check.severity for check in result.checks} == {"info"}
    assert [check.name for check in result.checks][:4] == [
        "module_importable",
        "mount_exists",
        "mount_signature",
        "protocol_compliance",
    ]


async def test_the_checks_of_each_type_have_these_names(write: Write):
    names = {}
    for kind, (validator, text) in MODULES.items():
        result = await validator().validate(write(text, f"checked_{kind}"))
        names[kind] = [check.name for check in result.checks][4:]
    assert names == {
        "tool": ["tool_name", "tool_description", "tool_input_schema", "tool_execute"],
        "provider": [
            "provider_name",
            "provider_get_info",
            "provider_list_models",
            "provider_complete",
            "provider_parse_tool_calls",
        ],
        "orchestrator": ["orchestrator_execute"],
        "context": [
            "context_add_message",
            "context_get_messages_for_request",
            "context_get_messages",
            "context_set_messages",
            "context_clear",
        ],
        "hook": [],
    }


async def test_the_phrases_that_callers_look_for(write: Write):
    tool = await ToolValidator().validate(write(TOOL, "checked_tool"))
    assert "implements Tool interface" in message(tool, "protocol_compliance")
    provider = await ProviderValidator().validate(write(PROVIDER, "checked_provider"))
    assert "implements Provider interface" in message(provider, "protocol_compliance")


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_that_mounts_nothing_fails(kind: str, write: Write):
    result = await MODULES[kind][0]().validate(write(NOTHING))
    assert failed(result) == [("protocol_compliance", "error")]
    assert f"No {kind} was mounted" in message(result, "protocol_compliance")


async def test_a_hook_module_that_registers_nothing_fails(write: Write):
    result = await HookValidator().validate(write(NOTHING))
    assert failed(result) == [("protocol_compliance", "error")]
    assert "No hook was registered" in message(result, "protocol_compliance")


@pytest.mark.parametrize(
    "text",
    [
        "async def mount(coordinator, config=None): return lambda: None\n",
        NOTHING + "async def on_session_ready(coordinator): pass\n",
        "async def mount(c, config=None): c.register_contributor('a.b', 'n', list)\n",
    ],
)
async def test_a_hook_module_that_may_register_later_passes_with_a_warning(text: str, write: Write):
    result = await HookValidator().validate(write(text))
    assert result.checks[-1].passed
    assert result.checks[-1].severity == "warning"


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_that_gives_only_a_cleanup_passes_with_a_warning(kind: str, write: Write):
    text = "async def mount(coordinator, config=None): return lambda: None\n"
    result = await MODULES[kind][0]().validate(write(text))
    assert result.passed
    assert (result.checks[-1].name, result.checks[-1].severity) == (
        "protocol_compliance",
        "warning",
    )


async def test_an_object_that_mount_returns_is_judged(write: Write):
    returned = TOOL.partition("    await coordinator")[0] + "    return Tool()\n"
    assert (await ToolValidator().validate(write(returned))).passed


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("x = 1\n", "mount_exists", "mount"),
        ("mount = 3\n", "mount_exists", "mount"),
        ("import not_there_at_all\n", "module_importable", "not_there_at_all"),
        ("1/0\n", "module_importable", "ZeroDivisionError"),
        ("raise SystemExit(3)\n", "module_importable", "import"),
        ("def mount(c, config=None): pass\n", "mount_signature", "async"),
        ("async def mount(c): pass\n", "mount_signature", "2 parameters"),
        (
            "async def mount(c, config=None): raise ValueError('boom')\n",
            "protocol_compliance",
            "ValueError: boom",
        ),
    ],
)
async def test_what_is_wrong_is_named(text: str, name: str, words: str, write: Write):
    result = await ToolValidator().validate(write(text))
    assert not result.passed
    assert words in message(result, name)


async def test_a_folder_without_a_package_is_told(tmp_path: Path):
    result = await ToolValidator().validate(tmp_path)
    assert failed(result) == [("module_importable", "error")]
    assert "import" in message(result, "module_importable")
    assert "__init__.py" in message(result, "module_importable")


@pytest.mark.parametrize("path", ["/not/there", "not.there.at.all", "not there", ""])
async def test_a_path_to_nothing_is_told(path: str):
    result = await ToolValidator().validate(path)
    assert failed(result) == [("module_importable", "error")]
    assert "import" in message(result, "module_importable")


async def test_a_package_inside_a_project_folder_is_found(write: Write, tmp_path: Path):
    write(TOOL, "amplifier_module_tool_x")
    assert (await ToolValidator().validate(tmp_path)).passed


async def test_a_file_and_a_dotted_name_are_modules_too(tmp_path: Path, write: Write):
    file = tmp_path / "checked_file.py"
    file.write_text(TOOL)
    assert (await ToolValidator().validate(str(file))).passed
    assert (await ToolValidator().validate("checked_file")).passed
    result = await ToolValidator().validate("json")
    assert failed(result) == [("mount_exists", "error")]
    (tmp_path / "text.txt").write_text("")
    result = await ToolValidator().validate(tmp_path / "text.txt")
    assert "neither a package nor a Python file" in message(result, "module_importable")


async def test_a_file_of_a_package_can_import_from_it(write: Write):
    package = write("", "checked_package")
    (package / "parts.py").write_text(TOOL)
    file = package / "module.py"
    file.write_text("from .parts import mount\n")
    assert (await ToolValidator().validate(file)).passed
    assert "checked_package.module" in sys.modules


async def test_a_module_of_a_name_that_is_taken_is_refused(write: Write):
    result = await ToolValidator().validate(write(TOOL, "json"))
    assert failed(result) == [("module_importable", "error")]
    assert "refusing to import `json`" in message(result, "module_importable")


async def test_members_that_do_not_fit_are_told_by_severity(write: Write):
    text = (
        TOOL.replace('name = "x"', 'name = ""')
        .replace('description = "does"', "description = 3")
        .replace("input_schema = {}", "input_schema = []")
        .replace("async def execute(self, input)", "def execute(self)")
    )
    assert failed(await ToolValidator().validate(write(text))) == [
        ("tool_name", "error"),
        ("tool_description", "warning"),
        ("tool_input_schema", "warning"),
        ("tool_execute", "error"),
    ]


async def test_a_property_that_raises_is_told(write: Write):
    text = TOOL.replace(
        'name = "x"', "@property\n    def name(self): raise ValueError('no name')"
    ).replace("input_schema = {}", "@property\n    def input_schema(self): return 1 / 0")
    result = await ToolValidator().validate(write(text))
    assert failed(result) == [("tool_name", "error"), ("tool_input_schema", "warning")]
    assert "no name" in message(result, "tool_name")


async def test_a_tool_needs_neither_schema_nor_description_nor_base(write: Write):
    text = TOOL.replace('    description = "does"\n    input_schema = {}\n', "")
    result = await ToolValidator().validate(write(text))
    assert result.passed
    assert failed(result) == [("tool_description", "warning")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("raise", "raise", []),
        ('ProviderInfo(id="x", display_name="X")', "{}", [("provider_get_info", "error")]),
        ('ProviderInfo(id="x", display_name="X")', "1/0", [("provider_get_info", "warning")]),
        ("async def list_models", "def list_models", [("provider_list_models", "error")]),
        ("self, request, **kwargs", "self", [("provider_complete", "error")]),
        ("def parse_tool_calls", "async def other", [("protocol_compliance", "error")]),
    ],
)
async def test_providers_are_judged_by_their_members(
    old: str, new: str, expected: list[tuple[str, str]], write: Write
):
    result = await ProviderValidator().validate(write(PROVIDER.replace(old, new)))
    assert failed(result) == expected


async def test_a_loop_takes_what_the_kernel_gives(write: Write):
    text = LOOP.replace("prompt, context, providers, tools, hooks, **kwargs", "prompt, **kwargs")
    result = await OrchestratorValidator().validate(write(text))
    assert failed(result) == [("orchestrator_execute", "error")]


async def test_a_context_lacks_no_method(write: Write):
    text = CONTEXT.replace("async def clear(self): pass", "")
    result = await ContextValidator().validate(write(text))
    assert "missing clear" in message(result, "protocol_compliance")


@pytest.mark.parametrize("kind", ["tool", "provider"])
async def test_a_method_that_cannot_be_called_is_missing(kind: str, write: Write):
    name = {"tool": "execute", "provider": "get_info"}[kind]
    text = MODULES[kind][1].replace(
        "async def mount", f"{kind.capitalize()}.{name} = 3\nasync def mount"
    )
    result = await MODULES[kind][0]().validate(write(text))
    assert failed(result) == [("protocol_compliance", "error")]
    assert f"(missing {name})" in message(result, "protocol_compliance")


async def test_every_mounted_tool_is_judged(write: Write):
    text = TOOL + "    await coordinator.mount('tools', object(), name='y')\n"
    result = await ToolValidator().validate(write(text))
    assert failed(result) == [("protocol_compliance", "error")]
    assert "Tool 'y' does not implement Tool interface (missing name, execute)" in [
        check.message for check in result.errors
    ]


async def test_a_module_is_mounted_once_with_its_config_and_cleaned_up_once(write: Write):
    text = TOOL + (
        "    calls.append(config)\n"
        "    coordinator.register_cleanup(lambda: calls.append('registered'))\n"
        "    async def cleanup(): calls.append('returned')\n"
        "    return cleanup\n"
        "calls = []\n"
    )
    result = await ToolValidator().validate(write(text), config={"a": 1})
    assert result.passed
    assert sys.modules["checked_module"].calls == [{"a": 1}, "returned", "registered"]


async def test_a_cleanup_runs_also_when_mount_fails_and_may_fail_itself(write: Write):
    text = (
        "calls = []\n"
        "def cleanup(): calls.append(1); raise ValueError('late')\n"
        "async def mount(coordinator, config=None):\n"
        "    coordinator.register_cleanup(cleanup); raise ValueError('boom')\n"
    )
    result = await ToolValidator().validate(write(text))
    assert sys.modules["checked_module"].calls == [1]
    assert "boom" in message(result, "protocol_compliance")


@pytest.mark.parametrize(
    ("ready", "word"),
    [
        ("def on_session_ready(coordinator): pass", "async"),
        ("async def on_session_ready(): pass", "coordinator"),
        ("async def on_session_ready(coordinator=None): pass", "coordinator"),
        ("async def on_session_ready(coordinator, **kwargs): pass", None),
        ("", None),
    ],
)
async def test_a_wrong_on_session_ready_stands_after_the_signature(
    ready: str, word: str | None, write: Write
):
    result = await ToolValidator().validate(write(f"{TOOL}\n{ready}\n"))
    names = [check.name for check in result.checks]
    found = base.check_on_session_ready(sys.modules["checked_module"])
    if word is None:
        assert found is None
        assert "on_session_ready_async" not in names
    else:
        assert names[2:5] == ["mount_signature", "on_session_ready_async", "protocol_compliance"]
        assert found is not None
        assert (found.severity, found.passed, word in found.message) == ("error", False, True)
        assert failed(result) == [("on_session_ready_async", "error")]


def test_the_loader_and_the_validators_have_the_same_checks(write: Write):
    write(NOTHING)
    module = base.import_module_from_path(write("def mount(c): pass\n", "checked_other"))
    assert [check.name for check in check_mount(module)] == [
        "mount_exists",
        "mount_signature",
    ]


PROJECT = """
[project]
name = "any"
version = "1.0"
[project.entry-points."amplifier.modules"]
tool-x = "checked_inner.parts:begin"
tool-y = "checked_inner.parts"
tool-z = "checked_inner.parts:missing"
"""


async def test_an_entry_point_of_the_project_is_what_is_validated(write: Write, tmp_path: Path):
    package = write("", "checked_inner")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (package / "parts.py").write_text(TOOL + "begin, ready = mount, None\n")
    validator = ToolValidator()
    assert not (await validator.validate(package)).passed
    for name in ("tool-x", "tool-y"):
        for path in (tmp_path, package):
            assert (await validator.validate(path, entry_point=name)).passed
    missing = await validator.validate(package, entry_point="tool-z")
    assert "has no `missing`" in message(missing, "module_importable")
    unknown = await validator.validate(package, entry_point="tool-q")
    assert "no entry point `tool-q`" in message(unknown, "module_importable")
    assert "`tool-x`, `tool-y`, `tool-z`" in message(unknown, "module_importable")


async def test_an_installed_entry_point_is_found_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Point:
        name = "tool-x"

        def load(self) -> Any:
            space: dict[str, Any] = {}
            exec(TOOL, space)  # noqa: S102 (our own text)
            return space["mount"]

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [Point()])
    assert (await ToolValidator().validate(tmp_path, entry_point="tool-x")).passed


async def test_a_broken_project_file_is_told(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[[[")
    result = await ToolValidator().validate(tmp_path, entry_point="tool-x")
    assert "pyproject.toml" in message(result, "module_importable")


def test_a_result_counts_its_checks():
    result = ValidationResult("tool", "x")
    assert (result.checks, result.passed, result.summary()) == (
        [],
        True,
        "PASSED: 0/0 checks passed (0 errors, 0 warnings)",
    )
    result.add(ValidationCheck("a", True, "fine", "info"))
    result.add(ValidationCheck("b", False, "odd", "warning"))
    assert result.summary() == "PASSED: 1/2 checks passed (0 errors, 1 warnings)"
    result.add(ValidationCheck("c", False, "bad", "error"))
    assert result.summary() == "FAILED: 1/3 checks passed (1 errors, 1 warnings)"
    assert ([c.name for c in result.errors], [c.name for c in result.warnings]) == (["c"], ["b"])


def test_the_exported_names_resolve():
    assert [name for name in validation.__all__ if not hasattr(validation, name)] == []


def test_validation_needs_no_test_framework():
    program = (
        "import json, sys; sys.modules['pytest'] = sys.modules['pytest_asyncio'] = None\n"
        "import amplifier_core.validation, amplifier_core.validation.base\n"
        "print(json.dumps([name for name in ('unittest.mock', 'grpc') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent/x", "no file, folder or importable module `{path}`"),
        ("empty", "no `__init__.py` in {path}"),
        ("text.txt", "{path} is neither a package nor a Python file"),
    ],
)
async def test_what_cannot_be_imported_is_told_without_the_name_of_the_error(
    name: str, words: str, tmp_path: Path
):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").touch()
    path = tmp_path / name
    result = await ToolValidator().validate(path)
    told = result.checks[0].message
    assert told == f"Failed to import module: {words.format(path=path)}"
