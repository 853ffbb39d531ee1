"""The variables of commands: what programs need, caches of the project, and no key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.sandbox.environment import build_environment, find_caches

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-1",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "GITHUB_TOKEN": "ghp",
    "MY_OWN_PASSWORD": "secret",
    "HTTPS_PROXY": "http://user:secret@proxy",
    "SSH_AUTH_SOCK": "/run/agent",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus",
    "BASH_ENV": "/tmp/x",
    "ENV": "/tmp/x",
    "BASH_FUNC_ls%%": "() { :; }",
    "LD_PRELOAD": "/tmp/x.so",
    "PYTHONPATH": "/tmp/x",
    "PROMPT_COMMAND": "x",
}
NEEDED = {
    "HOME": "/home/a",
    "JAVA_HOME": "/opt/java",
    "LC_ALL": "de_DE.UTF-8",
    "PATH": "/bin",
    "VIRTUAL_ENV": "/venv",
}


# Holds: sandbox-41
def test_a_command_gets_what_it_needs_and_no_more() -> None:
    found = build_environment({**KEYS, **NEEDED}, Path("/t"), Path("/c"))
    assert found == {
        **NEEDED,
        "BUN_INSTALL_CACHE_DIR": "/c/bun",
        "CCACHE_DIR": "/c/ccache",
        "COMPOSER_CACHE_DIR": "/c/composer",
        "DEBIAN_FRONTEND": "noninteractive",
        "DENO_DIR": "/c/deno",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GOCACHE": "/c/go-build",
        "PAGER": "cat",
        "PIP_CACHE_DIR": "/c/pip",
        "PYTHONUNBUFFERED": "1",
        "SCCACHE_DIR": "/c/sccache",
        "TERM": "dumb",
        "TMPDIR": "/t",
        "UV_CACHE_DIR": "/c/uv",
        "XDG_CACHE_HOME": "/c",
        "YARN_CACHE_FOLDER": "/c/yarn",
        "npm_config_cache": "/c/npm",
    }


# Holds: sandbox-104
def test_on_windows_a_command_gets_what_programs_need_there() -> None:
    needed = {"SYSTEMROOT": "C:\\Windows", "USERPROFILE": "C:\\Users\\a", "PATHEXT": ".EXE"}
    ours = {**KEYS, **needed, "PATH": "C:\\bin"}
    places = Path("/t"), Path("/c")
    usual = build_environment(ours, *places, platform="linux")
    assert build_environment(ours, *places, platform="win32") == {
        **usual,
        **needed,
        "PYTHONIOENCODING": "utf-8",
        "TEMP": "/t",
        "TMP": "/t",
    }


def test_there_is_a_path_where_we_have_none() -> None:
    assert build_environment({}, Path("/t"), Path("/c"))["PATH"]


# Holds: sandbox-41
async def test_a_key_of_ours_does_not_reach_a_command(
    mount: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    tools = await mount(safety_profile="unrestricted")
    output = (await tools.run("env -0 | tr '\\0' '\\n'; declare -p"))["output"]
    assert "PATH=" in output
    assert [value for value in KEYS.values() if len(value) > 3 and value in output] == []
    assert [name for name in KEYS if f"{name}=" in output and name != "ENV"] == []


# Holds: sandbox-41
async def test_the_user_says_what_else_a_command_gets(
    mount: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp")
    monkeypatch.setenv("MY_A", "1")
    monkeypatch.setenv("MY_B", "2")
    tools = await mount(
        safety_profile="unrestricted",
        environment={"LEVEL": "3", "PAGER": "less"},
        pass_environment=["GITHUB_TOKEN", "MY_*"],
    )
    result = await tools.run("echo $GITHUB_TOKEN $MY_A $MY_B $LEVEL $PAGER")
    assert result["output"] == "ghp 1 2 3 less\n"


async def test_a_name_that_would_pass_everything_is_refused(mount: Any) -> None:
    with pytest.raises(ValueError, match=r"`\*` must be the name of a variable"):
        await mount(pass_environment=["*"])


def test_each_project_has_caches_of_its_own(caches: Path) -> None:
    found = {find_caches(Path("/a")), find_caches(Path("/b")), find_caches(Path("/a"))}
    assert len(found) == 2
    assert all(each.is_relative_to(caches) for each in found)
