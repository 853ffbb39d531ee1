"""`amplifier-core validate` by name, without a key, and with the place of each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from amplifier_app.command_line import run_command
from amplifier_core.cli import main
from amplifier_modules import MODULES

KINDS = {"hooks": "hook", "loop": "orchestrator"}
SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}
WEATHER = """
class Tool:
    name = "weather"
    description = "does"
    input_schema = {"type": "object", "properties": {"city": {"type": "sting"}}}
    async def execute(self, input): pass

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Tool(), name="weather")
"""
NEEDS_KEY = """
async def mount(coordinator, config=None):
    if (config or {}).get("api_key"):
        raise RuntimeError("a key: " + config["api_key"])
"""


def validate(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["validate", *arguments])
    return done.exit_code, done.stdout


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


@pytest.mark.parametrize("name", MODULES)
def test_each_module_of_our_own_is_found_by_its_name_and_passes(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    if name == "store-postgres":
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres").dsn)
    code, out = validate(name)
    assert (code, out.splitlines()[0][:6]) == (0, "PASSED"), out
    assert f"Module imported from {MODULES[name]}" in out


def test_a_name_can_follow_its_type():
    assert validate("tool", "tool-search")[0] == 0
    code, out = validate("tool", "loop-basic")
    assert code == 1
    assert "No tool was mounted" in out


@pytest.mark.parametrize("arguments", [["tool-serach"], ["tool", "tool-serach"]])
def test_a_wrong_name_is_told_with_the_one_that_may_be_meant(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
):
    assert run_command(["validate", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.endswith("; did you mean `tool-search`?\n")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("provider", "amplifier_providers/anthropic"),
        ("provider", "amplifier_providers/demo"),
        ("hook", "amplifier_modules/hooks/guard"),
    ],
)
def test_a_folder_within_a_package_is_imported_as_a_part_of_it(kind: str, name: str):
    import amplifier_modules

    folder = Path(amplifier_modules.__file__).parents[1] / name
    assert validate(kind, str(folder))[0] == 0


# Holds: differ-125
def test_a_provider_is_looked_at_without_a_key(tmp_path: Path):
    code, out = validate("provider", "provider-anthropic")
    assert code == 0
    assert "provider_key: It mounts nothing without a key" in out
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"session": SESSION, "providers": ["provider-anthropic"]}))
    code, out = validate(str(plan))
    assert code == 0
    assert "provider_key: 'provider-anthropic' has no key here" in out


def test_what_a_provider_does_with_a_made_up_key_counts(tmp_path: Path):
    file = tmp_path / "cli_needs_key.py"
    file.write_text(NEEDS_KEY)
    code, out = validate("provider", str(file))
    assert code == 1
    assert "RuntimeError: a key: made-up-for-validation" in out


# Holds: differ-124
def test_a_tool_with_an_unknown_type_in_its_schema_is_refused(tmp_path: Path):
    file = tmp_path / "cli_weather.py"
    file.write_text(WEATHER)
    code, out = validate("tool", str(file))
    assert code == 1
    assert (
        "✗ [error] tool_schema_types: Tool 'weather': input_schema: `properties.city.type` is "
        "'sting', an unknown type (did you mean `string`?)"
    ) in out


def test_a_syntax_error_is_placed_in_the_file_that_has_it(tmp_path: Path):
    package = tmp_path / "cli_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import mount\n")
    (package / "inner.py").write_text("x = 1\ndef mount(:\n")
    code, out = validate("tool", str(package))
    assert code == 1
    assert f"SyntaxError: invalid syntax (at {package / 'inner.py'}:2)\n" in out


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("plan.toml", b'[session]\ncontext == "x"\n', ":2: Invalid value (column 10)"),
        (
            "plan.json",
            b'{"session":\n {,}}',
            ":2: Expecting property name enclosed in double quotes (column 3)",
        ),
        ("plan.toml", b" \n", ": it is empty"),
        ("plan.json", b"", ": it is empty"),
        ("plan.json", b"{}\xff", ": it is not UTF-8 text (byte 2)"),
        ("plan.toml", b"\0\1\2", ":1: Invalid statement (column 1)"),
        ("plan.json", b"[" * 100_000, ": it is nested too deep"),
        (
            "plan.json",
            b" " * (4 << 20) + b"{}",
            ": it is larger than 4 MiB, the most a plan may have",
        ),
    ],
)
def test_a_plan_that_cannot_be_read_is_told_in_one_line_with_its_place(
    tmp_path: Path, name: str, content: bytes, complaint: str
):
    file = tmp_path / name
    file.write_bytes(content)
    code, out = validate(str(file))
    assert code == 1
    assert out.splitlines()[1:] == [f"  ✗ [error] plan_readable: Cannot read {file}{complaint}"]


def test_a_plan_with_such_a_tool_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "amplifier_module_tool_weather.py").write_text(WEATHER)
    monkeypatch.syspath_prepend(tmp_path)
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"session": SESSION, "tools": ["tool-weather"]}))
    code, out = validate(str(plan))
    assert code == 1
    assert "Tool 'weather': input_schema: `properties.city.type` is 'sting'" in out
