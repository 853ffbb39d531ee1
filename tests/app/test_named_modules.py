"""`run --module` and `run --plan` mount what the user names, strictly."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands.mount_plan import APPROVAL, GUARD, PROJECT_NOTES, mount_plan
from amplifier_app.commands.named_modules import named_modules
from amplifier_app.failure import Failure
from amplifier_core._loading.plan_keys import plan_mistakes
from amplifier_core.known_modules import Own

WEATHER = """
print("noise at import")

class Weather:
    name = "weather"
    description = "Tell the weather."
    input_schema = {"type": "object", "properties": {"city": {"type": "string"}}}

    async def execute(self, input):
        from amplifier_core.models import ToolResult

        print("noise in a call")
        return ToolResult(output=f"clear in {input['city']}")

async def mount(coordinator, config=None):
    print("noise at mount")
    await coordinator.mount("tools", Weather(), name="weather")
"""
SCRIPT = [{"tool": "weather", "arguments": {"city": "Paris"}}, "It is clear."]
SCRIPTED = f"provider-scripted={json.dumps({'script': SCRIPT})}"


@pytest.fixture
def modules(command: Any, tmp_path: Path) -> Path:
    """The folder of the modules that are importable beside ours."""
    folder = tmp_path / "modules"
    folder.mkdir()
    command.environment["PYTHONPATH"] += f":{folder}"
    (folder / "amplifier_module_tool_weather.py").write_text(WEATHER)
    return folder


def plan_of(*values: str, plan: Any = None, model: str | None = None, at: Path) -> dict[str, Any]:
    file = None
    if plan is not None:
        (at / "plan.json").write_text(json.dumps(plan))
        file = str(at / "plan.json")
    return mount_plan(at, {}, model, named=named_modules(values, file))


def ids(plan: dict[str, Any], section: str) -> list[str]:
    return [entry["module"] for entry in plan[section]]


@pytest.mark.parametrize(("text", "expected"), [("yes", {"enable_thinking": True}), ("no", {})])
def test_the_command_has_models_of_ollama_think_unless_the_environment_says_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: dict[str, Any]
) -> None:
    monkeypatch.setenv("THINKING_MODE_ENABLED", text)
    plan = mount_plan(tmp_path, {}, provider_module="provider-ollama")
    (entry,) = plan["providers"]
    found = {key: entry["config"][key] for key in entry["config"] if "thinking" in key}
    assert found == expected
    assert "extended_thinking" not in plan["session"]["orchestrator"]["config"]


def test_a_tool_or_a_hook_is_added_and_anything_else_takes_the_place_of_the_usual(
    tmp_path: Path,
) -> None:
    usual = mount_plan(tmp_path, {})
    plan = plan_of(
        "hooks-observe", "loop-basic", 'provider-scripted={"script": ["x"]}', at=tmp_path
    )
    assert ids(plan, "tools") == ids(usual, "tools")
    assert ids(plan, "hooks") == [GUARD, APPROVAL, PROJECT_NOTES, "hooks-observe"]
    assert plan["providers"] == [{"module": "provider-scripted", "config": {"script": ["x"]}}]
    assert plan["session"]["orchestrator"] == {"module": "loop-basic", "config": {}}
    assert plan["session"]["context"] == usual["session"]["context"]
    assert plan["session"]["strict"] is True
    assert list(plan_mistakes(plan)) == []


def test_the_config_of_a_module_that_is_there_is_added_to_its_own(tmp_path: Path) -> None:
    plan = plan_of('tool-search={"max_result_bytes": 5000}', at=tmp_path)
    (search,) = (entry for entry in plan["tools"] if entry["module"] == "tool-search")
    assert search["config"] == {"root": str(tmp_path), "max_result_bytes": 5000}


def test_a_section_of_the_plan_takes_the_place_of_the_usual_one(tmp_path: Path) -> None:
    given = {"tools": ["tool-search"], "session": {"context": "context-simple", "strict": False}}
    plan = plan_of("loop-basic", plan=given, at=tmp_path)
    assert plan["tools"] == [{"module": "tool-search"}]
    assert plan["session"]["context"] == "context-simple"
    assert plan["session"]["orchestrator"]["module"] == "loop-basic"
    assert plan["session"]["strict"] is True
    assert ids(plan, "providers") == ["provider-anthropic"]
    assert ids(plan, "hooks") == [GUARD, APPROVAL, PROJECT_NOTES]


@pytest.mark.parametrize("hooks", [[], [GUARD], [{"module": GUARD, "source": "/elsewhere"}]])
def test_the_guard_is_always_there_and_our_own(tmp_path: Path, hooks: list[Any]) -> None:
    for plan in (
        plan_of(plan={"hooks": hooks}, at=tmp_path),
        plan_of(GUARD, plan={"hooks": hooks}, at=tmp_path),
    ):
        (guard,) = (entry for entry in plan["hooks"] if entry["module"] == GUARD)
        assert guard["source"] is Own.TABLE


def test_the_config_of_the_usual_provider_is_added_to_its_own(tmp_path: Path) -> None:
    (usual,) = mount_plan(tmp_path, {})["providers"]
    (provider,) = plan_of('provider-anthropic={"timeout": 5}', at=tmp_path)["providers"]
    assert provider == {**usual, "config": {**usual["config"], "timeout": 5}}


def test_the_model_is_that_of_the_provider_that_was_named(tmp_path: Path) -> None:
    plan = plan_of("provider-scripted", model="large", at=tmp_path)
    assert plan["providers"][0]["config"] == {"default_model": "large"}


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("tool-serach", "there is no module `tool-serach`", "did you mean `tool-search`?"),
        ("", "there is no module ``", "see `amplifier-core list-modules`"),
        (
            "tool-search={x",
            (
                "the config of `tool-search` is not JSON: Expecting property name enclosed in"
                " double quotes: line 1 column 2 (char 1)"
            ),
            """write it as `--module 'tool-search={"root": "src"}'`""",
        ),
        (
            "tool-search=[1]",
            "the config of `tool-search` is a `list` (must be an object)",
            """write it as `--module 'tool-search={"root": "src"}'`""",
        ),
    ],
)
def test_a_wrong_value_of_module_is_told_with_what_would_be_right(
    value: str, message: str, hint: str
) -> None:
    with pytest.raises(Failure) as caught:
        named_modules([value], None)
    assert (str(caught.value), caught.value.hint, caught.value.exit_code) == (message, hint, 2)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("plan.toml", b"", ": it is empty"),
        ("plan.toml", b"a = 1\nb = = 2", ":2: Invalid value (column 5)"),
        ("plan.json", b"\xff\xfe", ": it is not UTF-8 text (byte 0)"),
        ("plan.json", b" " * (5 << 20), ": it is larger than 4 MiB, the most a plan may have"),
        ("plan.yaml", b"a: 1", ": its name must end with `.toml` or `.json`"),
        ("none.json", None, ": there is no such file"),
        ("folder.json", "folder", ": it is not a regular file"),
    ],
)
def test_a_plan_that_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, name: str, content: Any, what: str
) -> None:
    file = tmp_path / name
    if content == "folder":
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(Failure) as caught:
        named_modules([], str(file))
    assert str(caught.value) == f"the mount plan cannot be read: {file}{what}"
    assert caught.value.exit_code == 2


def test_a_plan_of_another_form_is_refused_with_each_mistake(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="a mount plan is an object, found a `list`"):
        plan_of(plan=[1], at=tmp_path)
    with pytest.raises(Failure) as caught:
        plan_of(plan={"tools": "x", "session": {"orchestrator": 5}}, at=tmp_path)
    assert str(caught.value) == (
        "the mount plan is wrong: Module spec at session.orchestrator must be a dict, got int; "
        "Section 'tools' must be a list, got str"
    )
    with pytest.raises(Failure, match="Section 'session' must be a dict, got list"):
        plan_of("loop-basic", plan={"session": []}, at=tmp_path)


def test_a_named_tool_is_mounted_and_called(command: Any, modules: Path) -> None:
    done = command("run", "Weather?", "--module", "tool-weather", "--module", SCRIPTED)
    assert done.returncode == 0, done.stderr
    assert "It is clear." in done.stdout
    assert "demo model" not in done.stderr


def test_what_a_module_prints_stays_out_of_the_output(command: Any, modules: Path) -> None:
    plan = command.folder / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "tools": ["tool-weather"],
                "providers": [{"module": "provider-scripted", "config": {"script": SCRIPT}}],
            }
        )
    )
    done = command("run", "--json", "Weather?", "--plan", str(plan))
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all("event" in line for line in lines)
    for noise in ("noise at import", "noise at mount", "noise in a call"):
        assert noise in done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("raise ValueError('broken')", "ValueError: broken (at "),
        ("def mount(:", "SyntaxError: invalid syntax (at "),
        ("import sys; sys.exit(3)", "error: a module ended the program: SystemExit: 3 (at "),
        (
            "import sys\nasync def mount(c, config=None): sys.exit()",
            "error: a module ended the program: SystemExit (at ",
        ),
    ],
)
def test_a_module_that_cannot_be_mounted_is_one_line_with_its_place(
    command: Any, modules: Path, text: str, complaint: str
) -> None:
    file = modules / "amplifier_module_tool_broken.py"
    file.write_text(text)
    done = command("run", "x", "--module", "tool-broken", "--module", SCRIPTED)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"{complaint}{file}:" in line


def test_a_mistake_in_a_plan_is_told_with_what_may_be_meant(command: Any) -> None:
    plan = command.folder / "plan.toml"
    plan.write_text('tool = []\nhooks = ["hooks-obsrve"]\n')
    done = command("run", "x", "--plan", "plan.toml", "--module", SCRIPTED)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "did you mean `hooks-observe`" in line
    assert "unknown key `tool` in the mount plan (did you mean `tools`?)" in line


@pytest.mark.parametrize("text", ["time.sleep(3600)", "\nwhile True: pass"])
def test_ctrl_c_twice_ends_the_command_while_a_module_blocks_it(
    command: Any, modules: Path, text: str
) -> None:
    reached = command.folder / "reached"
    file = modules / "amplifier_module_tool_blocks.py"
    file.write_text(f"import pathlib, time; pathlib.Path({str(reached)!r}).touch(); {text}")
    line = [*command.line, "run", "x", "--module", "tool-blocks", "--module", SCRIPTED]
    running = subprocess.Popen(
        line, env=command.environment, cwd=command.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
    )  # fmt: skip
    try:
        while not reached.exists():
            assert running.poll() is None
        while running.poll() is None:
            running.send_signal(signal.SIGINT)
    finally:
        running.kill()
    assert running.wait() == 130


def test_a_tool_that_calls_sys_exit_fails_and_the_turn_goes_on(command: Any, modules: Path) -> None:
    weather = WEATHER.replace('print("noise in a call")', "import sys; sys.exit(4)")
    (modules / "amplifier_module_tool_weather.py").write_text(weather)
    done = command("run", "Weather?", "--module", "tool-weather", "--module", SCRIPTED)
    assert (done.returncode, done.stdout) == (0, "It is clear.\n")
    assert "Traceback" not in done.stderr


def test_a_tool_that_ends_the_turn_gives_the_answer_of_the_command(command: Any) -> None:
    script = [{"tool": "task_completion", "arguments": {"result": "It is done."}}, "never"]
    provider = f"provider-scripted={json.dumps({'script': script})}"
    done = command("run", "Do it", "--module", "tool-conversation", "--module", provider)
    assert (done.returncode, done.stdout) == (0, "It is done.\n")
