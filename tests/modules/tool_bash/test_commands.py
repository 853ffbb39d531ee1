"""`bash`: real commands, what of them is kept and what is not, and what their results say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_modules.sandbox.command import Ending, LaunchError
from amplifier_modules.tools import bash
from amplifier_providers.settings import SettingError


def ok(output: str = "", **more: Any) -> dict[str, Any]:
    return {"output": output, "exit_code": 0, "sandbox": "none", **more}


async def test_both_streams_are_in_the_order_in_which_they_came(tools: Any) -> None:
    command = "echo a; echo b >&2; echo c; echo d >&2; exit 3"
    assert await tools.run(command) == ok("a\nb\nc\nd\n", exit_code=3)


async def test_a_command_runs_in_bash_without_the_files_of_a_user(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".bashrc", ".bash_profile", ".profile", "env"):
        (tmp_path / name).write_text("echo startup\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env"))
    monkeypatch.setenv("ENV", str(tmp_path / "env"))
    assert await tools.run('[[ -n "$BASH_VERSION" ]] && echo {1..3}') == ok("1 2 3\n")


# Holds: sandbox-40
async def test_the_working_folder_is_kept_within_the_project(tools: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    stays = "the working folder stays `a/b`: `/` is outside of the project"
    assert await tools.run("mkdir -p a/b; cd a/b; false") == {
        "output": "", "exit_code": 1, "directory": "a/b", "sandbox": "none",
    }  # fmt: skip
    assert await tools.run("pwd; cd /") == ok(f"{project}/a/b\n", note=stays)
    assert await tools.run("pwd; (cd ..)") == ok(f"{project}/a/b\n")
    assert await tools.run("cd ..; exit") == ok(directory="a")
    assert await tools.run("trap 'echo bye' EXIT; cd ..") == ok("bye\n", directory=".")
    assert await tools.run("pwd") == ok(f"{project}\n")


# Holds: sandbox-40
async def test_a_link_that_leads_out_of_the_project_is_not_followed(
    tools: Any, tmp_path: Path
) -> None:
    (tmp_path / "project" / "out").symlink_to(tmp_path)
    note = f"the working folder stays `.`: `{tmp_path}` is outside of the project"
    assert await tools.run("cd out") == ok(note=note)
    assert await tools.run("pwd") == ok(f"{tmp_path}/project\n")


async def test_where_the_working_folder_is_gone_commands_run_in_the_project(
    tools: Any, tmp_path: Path
) -> None:
    await tools.run("mkdir a; cd a")
    (tmp_path / "project" / "a").rmdir()
    note = "the working folder `a` is gone: commands run in the project again"
    assert await tools.run("pwd") == ok(f"{tmp_path}/project\n", note=note)


# Holds: sandbox-40
async def test_variables_functions_and_options_are_not_kept(tools: Any) -> None:
    await tools.run("export A=1; f() { echo f; }; set -e; umask 0")
    assert await tools.run('echo "[$A]"; f; false; echo on') == ok(
        "[]\nbash: line 1: f: command not found\non\n"
    )


async def test_a_command_has_no_input_and_no_arguments(tools: Any) -> None:
    assert await tools.run('cat; read a; echo "$? $# $0"') == ok("1 0 bash\n")


async def test_the_lines_of_messages_are_those_of_the_command(tools: Any) -> None:
    assert await tools.run("echo a\nnope\necho b #") == ok(
        "a\nbash: line 2: nope: command not found\nb\n"
    )


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("kill -KILL $$", {"signal": "SIGKILL"}),
        ("kill -TERM $$", {"signal": "SIGTERM"}),
        ("IFS=0; exit 10", {"exit_code": 10}),
        ("exec true", {"exit_code": 0}),
        ("# nothing", {"exit_code": 0}),
    ],
)
async def test_a_result_says_how_a_command_has_ended(
    tools: Any, command: str, end: dict[str, Any]
) -> None:
    assert await tools.run(command) == {"output": "", **end, "sandbox": "none"}


async def test_a_command_that_bash_cannot_read_says_so(tools: Any) -> None:
    result = await tools.run("if true")
    assert (result["exit_code"], "syntax error" in result["output"]) == (2, True)


async def test_a_command_ends_before_its_loop_ends_the_call(mount: Any, scripted: Any) -> None:
    runner = scripted(Ending(None, timed_out=True), b"begun")
    tools = await mount(runner)
    tools.coordinator.register_capability("guard.tool_timeout", 0.6)
    ended = {"output": "begun", "timed_out": True, "sandbox": "namespaces"}
    assert await tools.run("make") == ended
    assert await tools.run("make", timeout=600) == {
        **ended,
        "note": "the session gives a call 0.3 s (`run_in_background` has no limit)",
    }
    assert [command.timeout for command in runner.commands] == [0.3, 0.3]


# Holds: sandbox-47
async def test_commands_of_a_session_run_one_after_another(tools: Any) -> None:
    assert tools.bash.parallel is False
    command = 'for i in 1 2 3; do echo "$$" >> log; done'
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(tools.run, command)
    lines = (await tools.run("cat log"))["output"].split()
    assert len(lines) == 15
    assert all(len(set(lines[at : at + 3])) == 1 for at in range(0, 15, 3))


# Holds: sandbox-47
async def test_commands_that_only_read_run_side_by_side(mount: Any, fake: Any) -> None:
    tools = await mount(fake(), safety_profile="strict")
    assert (tools.bash.parallel, tools.bash.read_only) == (True, True)
    await tools.run("mkfifo one other")
    results: list[Any] = []

    async def run(command: str) -> None:
        results.append(await tools.run(command))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(run, "echo a > one; cat other")
            group.start_soon(run, "cat one; echo b > other")
    assert sorted(each["output"] for each in results) == ["a\n", "b\n"]


@pytest.mark.parametrize(
    ("input", "message"),
    [
        ({}, "`command` is missing (must be text)"),
        ({"command": " "}, "`command` must be text that is not empty and has no NUL"),
        ({"command": "a\0"}, "`command` must be text that is not empty and has no NUL"),
        ({"command": "a", "cwd": "/"}, "`cwd` is unknown"),
        ({"command": "a", "timeout": 601}, "`timeout` is 601"),
        ({"command": "a", "sandbox": "none"}, '`reason` is missing; `sandbox: "none"` needs it'),
        (
            {"command": "a" * 120_001},
            "`command` has 120,001 bytes, and no more than 120,000 can be run (write them to a",
        ),
        ([], "the arguments are [] (must be an object)"),
    ],
)
async def test_a_call_that_cannot_be_meant_is_refused(tools: Any, input: Any, message: str) -> None:
    result = await tools.bash.execute(input)
    assert (result.success, result.error["type"]) == (False, "invalid_arguments")
    assert result.error["message"].startswith(message)


async def test_a_long_command_runs(tools: Any) -> None:
    text = "x" * 119_000
    assert await tools.run(f"echo {text} | wc -c") == ok("119001\n")


async def test_a_command_that_cannot_be_started_is_a_failure(mount: Any, scripted: Any) -> None:
    tools = await mount(scripted(LaunchError("no room")))
    assert await tools.run("true") == ("LaunchError", "no room")
    tools = await mount(scripted(RuntimeError()))
    assert await tools.run("true") == ("LaunchError", "RuntimeError")


async def test_a_result_says_which_sandbox_the_command_had(mount: Any, scripted: Any) -> None:
    tools = await mount(scripted(Ending(0), b"fine"))
    assert await tools.run("true") == {"output": "fine", "exit_code": 0, "sandbox": "namespaces"}


async def test_a_runner_is_told_to_what_commands_are_kept(
    mount: Any, fake: Any, tmp_path: Path, caches: Path
) -> None:
    runner = fake()
    await mount(runner, safety_profile="permissive", network=["pypi.org"])
    found = runner.confinement
    assert (found.project, found.profile, found.network) == (
        tmp_path / "project", "project", ("pypi.org",),
    )  # fmt: skip
    assert found.temporary.is_dir()
    assert found.caches.is_relative_to(caches)


@pytest.mark.parametrize(
    ("config", "profile", "network"),
    [
        ({}, "project", ()),
        ({"network": "off"}, "project", "off"),
        ({"safety_profile": "permissive", "network": "off"}, "project", "on"),
        ({"safety_profile": "strict"}, "read-only", "off"),
        ({"safety_profile": "permissive"}, "project", "on"),
        ({"safety_profile": "unrestricted"}, "full", "on"),
        ({"network": ["a.org", "b.org"]}, "project", ("a.org", "b.org")),
    ],
)
def test_a_safety_profile_says_what_commands_may_do(
    config: dict[str, Any], profile: str, network: Any
) -> None:
    settings = bash.BashSettings.model_validate(config)
    assert (settings.profile, settings.reachable) == (profile, network)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"safety_profile": "none"}, "tool-bash: `safety_profile` is 'none' (must be"),
        ({"network": "on"}, "tool-bash: `network` is 'on' (must be `off` or a list of host names)"),
        ({"timeout": 601}, "tool-bash: `timeout` is 601 (must be a number, above 0, at most 600)"),
        ({"max_jobs": 0}, "tool-bash: `max_jobs` is 0 (must be a whole number, at least 1"),
    ],
)
async def test_a_setting_that_cannot_be_used_is_refused(
    config: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingError) as raised:
        await bash.mount(ModuleCoordinator(), config)
    assert message in str(raised.value)


async def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("none", "file"):
        with pytest.raises(OSError, match=name):
            await bash.mount(ModuleCoordinator(), {"root": str(tmp_path / name)})


async def test_the_folder_of_a_session_goes_with_it(mount: Any) -> None:
    tools = await mount(safety_profile="unrestricted")
    folder = (await tools.run("touch $TMPDIR/a; echo $TMPDIR"))["output"].strip()
    assert os.listdir(folder) == ["a"]
    await tools.coordinator.cleanup()
    assert not Path(folder).parent.exists()
