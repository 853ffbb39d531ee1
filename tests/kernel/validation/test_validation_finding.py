"""Where the validators find a module, and what they say if they do not."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

import pytest
from sample_modules import TOOL, Write, failed, message

from amplifier_core.validation import ToolValidator


# Holds: differ-89
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


# Holds: differ-92
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
