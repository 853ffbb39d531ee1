"""`amplifier-core validate PLAN`: a whole mount plan, by the rules of a strict session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from amplifier_app.command_line import run_command
from amplifier_core.cli import main

PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-basic", "context": {"module": "context-simple"}},
    "tools": ["tool-search"],
    "hooks": [{"module": "hooks-guard", "required": True}],
}
IN_TOML = """
tools = ["tool-search"]
[session]
orchestrator = "loop-basic"
context = {module = "context-simple"}
[[hooks]]
module = "hooks-guard"
required = true
"""
FORM = """\
  ✓ [info] root_type: Mount plan is a dict
  ✓ [info] session_present: Section 'session' is present
  ✓ [info] session.orchestrator_module_valid: Module 'loop-basic' at session.orchestrator is named well
  ✓ [info] session.context_module_valid: Module 'context-simple' at session.context is named well
  ✓ [info] tools[0]_module_valid: Module 'tool-search' at tools[0] is named well
  ✓ [info] hooks[0]_module_valid: Module 'hooks-guard' at hooks[0] is named well
"""


def validate(file: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["validate", str(file), *options])
    return done.exit_code, done.stdout


def written(folder: Path, plan: Any) -> Path:
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    return file


@pytest.mark.parametrize("name", ["plan.json", "plan.toml"])
def test_a_plan_that_is_right_passes_check_by_check(tmp_path: Path, name: str):
    file = tmp_path / name
    file.write_text(json.dumps(PLAN) if name.endswith("json") else IN_TOML)
    read = f"  ✓ [info] plan_readable: Mount plan read from {file}\n"
    mounted = "  ✓ [info] strict: Every module is mounted, and all that the plan says is known\n"
    summary = "PASSED: 8/8 checks passed (0 errors, 0 warnings)\n"
    assert validate(file) == (0, summary + read + FORM + mounted)
    assert validate(file, "--quiet") == (0, summary)


# Holds: differ-122
def test_each_mistake_is_a_check_that_failed(tmp_path: Path):
    plan = {
        **PLAN,
        "tool": [],
        "tools": [{"module": "tool-search", "config": {"rooot": "."}}, "tool-filesytem"],
    }
    code, out = validate(written(tmp_path, plan))
    failed = [line for line in out.splitlines() if line.startswith("  ✗")]
    assert code == 1
    assert failed == [
        (
            "  ✗ [error] strict: Failed to load tool 'tool-filesytem': Module 'tool-filesytem' not "
            "found via entry points or filesystem; did you mean `tool-filesystem`?"
        ),
        "  ✗ [error] strict: unknown key `tool` in the mount plan (did you mean `tools`?)",
        (
            "  ✗ [error] strict: unknown key `rooot` in the config of `tool-search` "
            "(did you mean `root`?)"
        ),
    ]


# Holds: differ-123
def test_a_form_that_is_wrong_does_not_hide_what_else_is(tmp_path: Path):
    tools = [{"modul": "tool-search"}, 3, {"module": "tool-search", "config": {"rooot": "."}}]
    plan = {"session": {"orchestrator": "loop-basic"}, "tools": tools, "hooks": ["hooks-nope"]}
    code, out = validate(written(tmp_path, plan))
    assert code == 1
    assert "session_context_present" in out
    assert "tools[0]_module_required" in out
    assert "tools[1]_type" in out
    assert messages(out)[-3:] == [
        "unknown key `modul` in `tools[0]` (did you mean `module`?)",
        (
            "Failed to load hook 'hooks-nope': Module 'hooks-nope' not found via entry points or"
            " filesystem; did you mean `hooks-notify` or `hooks-observe` or `hooks-shell`?"
        ),
        "unknown key `rooot` in the config of `tool-search` (did you mean `root`?)",
    ]


FIVE = {
    "agnet": 1,
    "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    "tools": [
        {"module": "tool-filesystem", "config": {"rooot": "."}},
        {"module": "tool-filesystem", "confg": {}},
        "tool-serch",
    ],
}
"""A plan with five mistakes: of each kind one."""
SAID_OF_FIVE = {
    "unknown key `agnet` in the mount plan (did you mean `agents`?)",
    "unknown key `confg` in `tools[1]` (did you mean `config`?)",
    "unknown key `rooot` in the config of `tool-filesystem` (did you mean `root`?)",
    (
        "two specs mount the tools `read_file`, `list_directory`, `write_file`, `edit_file`, `apply_patch`:"
        " `tool-filesystem` replaces what `tool-filesystem` mounted"
    ),
    (
        "Failed to load tool 'tool-serch': Module 'tool-serch' not found via entry points or"
        " filesystem; did you mean `tool-search`?"
    ),
}


def messages(out: str) -> list[str]:
    failed = (line for line in out.splitlines() if line.startswith("  ✗"))
    return [line.partition(": ")[2] for line in failed]


# Holds: differ-123
@pytest.mark.parametrize(
    ("change", "further"),
    [
        ({}, ()),
        (
            {"session": {"orchestrator": "loop-basik", "context": "context-simple"}},
            ("Cannot initialize without orchestrator: Module 'loop-basik' not found via",),
        ),
        (
            {
                "session": {
                    "orchestrator": {
                        "module": "loop-streaming",
                        "config": {"max_iterations": "x", "modls": 1},
                    },
                    "context": "context-simpel",
                }
            },
            (
                "Cannot initialize without orchestrator: loop-streaming: `max_iterations` is 'x'",
                "Cannot initialize without context manager: Module 'context-simpel' not found",
                "unknown key `modls` in the config of `loop-streaming` (did you mean `models`?)",
            ),
        ),
        (
            {"session": {}},
            (
                "Section 'session' is missing the required field 'orchestrator'",
                "Section 'session' is missing the required field 'context'",
            ),
        ),
        (
            {"providers": ["provider-mock", {"module": "provider-mock", "config": {"resp": 1}}]},
            (
                "Multi-instance providers require explicit 'instance_id' on all entries but one",
                "Failed to load provider 'provider-mock': provider-mock: `resp` is unknown",
            ),
        ),
        (
            {"hooks": ["hooks-observe", "hooks-observe"]},
            ("`hooks[1]` is the same as `hooks[0]` (`hooks-observe`)",),
        ),
    ],
    ids=["five", "the loop", "loop and context", "no session", "two providers", "two hooks"],
)
def test_all_mistakes_of_a_plan_are_in_one_list(
    tmp_path: Path, change: dict[str, Any], further: tuple[str, ...]
):
    code, out = validate(written(tmp_path, {**FIVE, **change}))
    said = messages(out)

    assert code == 1
    assert "Traceback" not in out
    assert [
        text for text in (*SAID_OF_FIVE, *further) if not any(text in each for each in said)
    ] == []
    assert len(said) == len(set(said)) == len(SAID_OF_FIVE) + len(further)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", b"{"),
        ("plan.json", b"\xff"),
        ("plan.json", b"[" * 100_000),
        ("plan.json", b"3"),
        ("plan.json", b"null"),
        ("plan.json", b'{"session": 3}'),
        ("plan.json", b'{"session": {"orchestrator": {"module": 3}, "context": []}}'),
        ("plan.json", b'{"session": {"orchestrator": "a", "context": "b"}, "tools": {"a": 1}}'),
        ("plan.toml", b"a ="),
        ("plan.toml", b"when = 2026-01-01\n"),
    ],
)
def test_what_is_no_plan_fails_without_a_traceback(tmp_path: Path, name: str, content: bytes):
    file = tmp_path / name
    file.write_bytes(content)
    code, out = validate(file)
    assert code == 1
    assert out.startswith("FAILED: ")
    assert "Traceback" not in out


def test_a_module_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "amplifier_module_tool_endless"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import asyncio\nasync def mount(coordinator, config=None):\n    await asyncio.sleep(1e6)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code, out = validate(written(tmp_path, {**PLAN, "tools": ["tool-endless"]}), "--timeout", "3")
    assert code == 1
    assert "The module was stopped after 3 s" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["plan.json"],
            "error: invalid value for `MODULE_TYPE|PLAN`: File `plan.json` does not exist; ",
        ),
        (
            ["plan.yaml"],
            (
                "error: invalid value for `MODULE_TYPE|PLAN`: `plan.yaml` is neither a module type "
                "(provider, tool, hook, orchestrator, context) nor a `.toml` or `.json` file; "
            ),
        ),
        (
            [__file__.replace(".py", ".json"), "-e", "tool-x"],
            "error: invalid value for `MODULE_TYPE|PLAN`: File",
        ),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: list[str], line: str, capfd: pytest.CaptureFixture[str]
):
    assert run_command(["validate", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1
