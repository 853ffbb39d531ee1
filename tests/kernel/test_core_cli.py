"""The commands `validate` and `list-types`, alone and in the console script."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import amplifier_core
from amplifier_app.command_line import run_command
from amplifier_core.cli import MODULE_TYPES, main

TOOL = """
class Tool:
    name = "x"
    description = "does"
    async def execute(self, input): pass

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="x")
"""

Command = Callable[[Sequence[str]], tuple[int, str]]


def alone(arguments: Sequence[str]) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(arguments))
    return done.exit_code, done.stdout


@pytest.fixture(params=["alone", "console script"])
def command(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Command:
    def console_script(arguments: Sequence[str]) -> tuple[int, str]:
        return run_command(arguments), capfd.readouterr().out

    return alone if request.param == "alone" else console_script


@pytest.fixture
def tool(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    name = f"cli_module_{abs(hash(request.node.name))}"
    file = tmp_path / f"{name}.py"
    file.write_text(TOOL)
    yield file
    sys.modules.pop(name, None)


def test_a_good_module_is_told_check_by_check(command: Command, tool: Path):
    code, out = command(["validate", "tool", str(tool)])
    assert code == 0
    assert out.splitlines() == [
        "PASSED: 8/8 checks passed (0 errors, 0 warnings)",
        f"  ✓ [info] module_importable: Module imported from {tool}",
        "  ✓ [info] mount_exists: mount() function found",
        "  ✓ [info] mount_signature: mount() has the right signature",
        "  ✓ [info] protocol_compliance: Tool 'x' implements Tool interface",
        "  ✓ [info] tool_name: Tool.name is 'x'",
        "  ✓ [info] tool_description: Tool.description is 'does'",
        "  ✓ [info] tool_input_schema: Tool.input_schema is a dict or absent",
        "  ✓ [info] tool_execute: Tool.execute() is async with the right parameters",
    ]


def test_a_bad_module_has_exit_code_one(command: Command, tool: Path):
    code, out = command(["validate", "provider", str(tool)])
    assert code == 1
    assert out.startswith("FAILED: 3/4 checks passed (1 errors, 0 warnings)\n")
    assert "  ✗ [error] protocol_compliance: No provider was mounted" in out


def test_quiet_shows_the_summary_alone(command: Command, tool: Path):
    expected = "PASSED: 8/8 checks passed (0 errors, 0 warnings)\n"
    for option in ("-q", "--quiet"):
        assert command(["validate", "tool", str(tool), option]) == (0, expected)


# Holds: differ-126
def test_the_entry_point_is_what_is_validated(command: Command, tool: Path):
    (tool.parent / "pyproject.toml").write_text(
        "[project]\nname = 'any'\n[project.entry-points.'amplifier.modules']\n"
        f"tool-x = '{tool.stem}:mount'\n"
    )
    folder = str(tool.parent)
    assert command(["validate", "tool", folder])[0] == 1
    assert command(["validate", "tool", folder, "-e", "tool-x"])[0] == 0
    code, out = command(["validate", "tool", folder, "--entry-point", "tool-y"])
    assert code == 1
    assert "no entry point `tool-y`" in out


def test_the_types_are_listed(command: Command):
    code, out = command(["list-types"])
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(MODULE_TYPES)


def test_a_message_is_one_line_of_printable_text(command: Command, tmp_path: Path):
    file = tmp_path / "cli_module_loud.py"
    file.write_text("raise ValueError('two\\nlines \\x1b[31m')\n")
    code, out = command(["validate", "tool", str(file)])
    assert code == 1
    assert len(out.splitlines()) == 2
    assert r"two\nlines \x1b[31m" in out


def test_a_terminal_without_unicode_gets_escapes(tool: Path):
    program = "from amplifier_core.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "validate", "tool", str(tool)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert r"  \u2713 [info] tool_name: Tool.name is 'x'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["validate", "tool", "/not/there"],
            (
                "error: invalid value for `MODULE_PATH`: Path `/not/there` does not exist; "
                "see `amplifier-core validate --help`\n"
            ),
        ),
        (
            ["validate", "tool"],
            "error: missing argument `MODULE_PATH`; see `amplifier-core validate --help`\n",
        ),
        (
            ["validate", "tol", "."],
            (
                "error: invalid value for `MODULE_TYPE|PLAN`: `tol` is "
                "not one of `provider`, `tool`, `hook`, `orchestrator`, `context`; "
                "see `amplifier-core validate --help`\n"
            ),
        ),
    ],
)
def test_a_wrong_call_is_told_in_one_line(
    arguments: list[str], line: str, capfd: pytest.CaptureFixture[str]
):
    assert run_command(arguments) == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", line)
    assert alone(arguments)[0] == 2


# Holds: differ-113
def test_the_version_is_the_real_one(command: Command):
    code, out = command(["--version"])
    assert code == 0
    assert amplifier_core.__version__ in out
