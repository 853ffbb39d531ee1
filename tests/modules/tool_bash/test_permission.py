"""Who must agree to a command: out of the sandbox a person always, and where there is none, too."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.network_setting import Network
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.tiers import FoundTier
from amplifier_modules.tool.context import CURRENT, ToolContext

NOT_AGREED = (
    "NotApprovedError",
    "the command was not run: a person must agree to it, and nobody has",
)


def agreed(tool: str = "bash") -> ToolContext[Any]:
    return ToolContext("1", "1", None, None, lambda _report: None, approved=tool)


# Holds: sandbox-45
@pytest.mark.parametrize("profile", ["strict", "standard", "permissive", "unrestricted"])
async def test_the_way_out_of_the_sandbox_needs_a_person(
    mount: Any, fake: Any, profile: str
) -> None:
    runner = fake(Tier.NONE if profile == "unrestricted" else Tier.NAMESPACES)
    tools = await mount(runner, safety_profile=profile)
    out = {"command": "echo out", "sandbox": "none", "reason": "to see"}
    assert tools.bash.needs_approval(out) is True
    assert await tools.run(**out) == NOT_AGREED
    assert await tools.run(**out, run_in_background=True) == NOT_AGREED
    token = CURRENT.set(agreed())
    try:
        assert await tools.run(**out) == {"output": "out\n", "exit_code": 0, "sandbox": "none"}
    finally:
        CURRENT.reset(token)
    assert runner.commands == []


# Holds: sandbox-45
async def test_a_yes_to_another_tool_does_not_count(mount: Any, fake: Any) -> None:
    tools = await mount(fake())
    token = CURRENT.set(agreed("write_file"))
    try:
        assert await tools.run("echo", sandbox="none", reason="x") == NOT_AGREED
    finally:
        CURRENT.reset(token)


async def test_nobody_is_asked_about_commands_in_a_sandbox(mount: Any, fake: Any) -> None:
    for tier in (Tier.NAMESPACES, Tier.LANDLOCK):
        tools = await mount(fake(tier))
        assert tools.bash.needs_approval({"command": "touch a"}) is False
        result = await tools.run("touch a")
        assert result == {"output": "", "exit_code": 0, "sandbox": tier.value}


# Holds: sandbox-46
@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("ls -la | head -3", False),
        ("git log && git status", False),
        ("cat a.txt", False),
        ("cat /etc/passwd", True),
        ("cat .env", True),
        ("ls; rm a", True),
        ("echo a > b", True),
        ("find . -delete", True),
        ("make", True),
        ("ls $(rm a)", True),
    ],
)
async def test_without_a_sandbox_a_person_is_asked_about_all_that_does_more_than_read(
    mount: Any, fake: Any, command: str, asks: bool
) -> None:
    runner = fake(Tier.NONE)
    tools = await mount(runner)
    assert tools.bash.needs_approval({"command": command}) is asks
    result = await tools.run(command)
    assert (result == NOT_AGREED) is asks
    assert len(runner.commands) == (not asks)


# Holds: sandbox-46
async def test_a_path_is_judged_from_the_folder_that_the_command_runs_in(
    mount: Any, fake: Any
) -> None:
    tools = await mount(fake(Tier.NONE))
    token = CURRENT.set(agreed())
    try:
        await tools.run("mkdir a; cd a; ln -s / out")
    finally:
        CURRENT.reset(token)
    assert tools.bash.needs_approval({"command": "cat a.txt"}) is False
    assert tools.bash.needs_approval({"command": "cat out/etc/passwd"}) is True


# Holds: sandbox-46
async def test_the_user_says_what_else_needs_no_approval(mount: Any, fake: Any) -> None:
    tools = await mount(fake(Tier.NONE), allow=["make test"])
    assert tools.bash.needs_approval({"command": "make test"}) is False
    assert tools.bash.needs_approval({"command": "ls"}) is True
    with pytest.raises(ValueError, match="tool-bash: `allow` cannot be used"):
        await mount(fake(Tier.NONE), allow=["make; rm"])


async def test_nobody_is_asked_where_the_user_wants_no_sandbox(mount: Any, fake: Any) -> None:
    tools = await mount(fake(Tier.NONE), safety_profile="unrestricted")
    assert tools.bash.needs_approval({"command": "touch a"}) is False
    assert (await tools.run("touch a"))["exit_code"] == 0


async def test_nobody_is_asked_about_a_call_that_cannot_run(mount: Any, fake: Any) -> None:
    tools = await mount(fake(Tier.NONE))
    for input in ({}, {"command": 3}, {"command": "rm a", "sandbox": "none"}):
        assert tools.bash.needs_approval(input) is False


# Holds: sandbox-46
@pytest.mark.parametrize(
    ("tier", "profile", "warnings"),
    [
        (
            Tier.NONE,
            "standard",
            [
                (
                    "tool-bash: nothing on this machine keeps commands to the project, so that a"
                    " person is asked about each that does more than read, and nobody can be asked:"
                    " they are denied; install `bubblewrap`, or use a kernel with user namespaces"
                )
            ],
        ),
        (Tier.NONE, "unrestricted", []),
        (Tier.LANDLOCK, "standard", []),
    ],
)
async def test_a_user_hears_once_that_there_is_no_sandbox(
    mount: Any,
    fake: Any,
    caplog: pytest.LogCaptureFixture,
    tier: Tier,
    profile: str,
    warnings: list[str],
) -> None:
    caplog.set_level(logging.WARNING)
    await mount(fake(tier), safety_profile=profile)
    assert caplog.messages == warnings


# Holds: sandbox-53
@pytest.mark.parametrize(
    ("platform", "nono", "remedy"),
    [
        ("linux", None, "install `bubblewrap`, or use a kernel with user namespaces"),
        ("darwin", None, "`pip install 'amplifier-core[seatbelt]'`"),
        ("darwin", "nono.so", "seatbelt: it does not restrict"),
        ("freebsd14", None, "there is no sandbox for `freebsd14` yet"),
    ],
)
def test_a_machine_without_a_sandbox_is_told_what_gives_it_one(
    monkeypatch: pytest.MonkeyPatch, platform: str, nono: str | None, remedy: str
) -> None:
    monkeypatch.setattr(runners, "find_nono", lambda: nono)
    reasons = (remedy,)
    monkeypatch.setattr(runners, "find_tier", lambda: FoundTier(Tier.NONE, reasons=reasons))
    assert runners.describe_remedy(platform) == remedy


# Holds: sandbox-52
@pytest.mark.parametrize(
    ("network", "reaches"), [("off", False), (("example.org",), False), ("on", True)]
)
def test_commands_under_seatbelt_reach_hosts_only_with_the_whole_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, network: Network, reaches: bool
) -> None:
    monkeypatch.setattr(runners, "find_tier", lambda: FoundTier(Tier.SEATBELT))
    folders = (tmp_path, tmp_path, tmp_path, tmp_path / "caches")
    with closing(runners.open_runner(Confinement(*folders, "project", network))) as opened:
        assert (opened.tier, opened.reaches_hosts) == (Tier.SEATBELT, reaches)
    assert (tmp_path / "caches").is_dir()


@pytest.mark.parametrize(
    ("config", "tier", "said"),
    [
        ({}, Tier.NONE, " A person is asked about commands that do more than read."),
        (
            {"network": ["a.org"]},
            Tier.LANDLOCK,
            (
                " It runs in a sandbox: only the project and temporary files are written, and of the"
                " network only a.org is reached. If that stops something which is needed, repeat it"
                ' with `sandbox: "none"` and a `reason`: a person is asked.'
            ),
        ),
        ({"safety_profile": "unrestricted"}, Tier.NONE, "see `bash_job`."),
    ],
)
async def test_the_model_reads_what_keeps_its_commands(
    mount: Any, fake: Any, config: dict[str, Any], tier: Tier, said: str
) -> None:
    tools = await mount(fake(tier), **config)
    assert tools.bash.description.endswith(said)
    assert len(tools.bash.description) < 900
