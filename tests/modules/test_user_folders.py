"""Where a user's configuration is, and a file of settings that two processes change at once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands.mcp.own_servers import change_own_servers, read_own_servers
from amplifier_modules.hooks.approval.rule_files import add_user_rule
from amplifier_modules.hooks.settings_file import read_object, write_object
from amplifier_modules.running import user_folders
from amplifier_modules.running.user_folders import find_config_folder, find_state_folder


# Holds: config-7
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_folders_are_those_of_the_library(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On Linux the library is not asked, as it is slow to import: it must say the same.
    monkeypatch.setattr(user_folders.sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert find_config_folder({}) == tmp_path / ".config" / "amplifier-core"
    assert find_state_folder({}) == tmp_path / ".local" / "state" / "amplifier-core"
    named = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"}
    assert find_config_folder(named) == Path("/c/amplifier-core")
    assert find_state_folder(named) == find_state_folder({})


# Holds: config-7
def test_a_user_without_a_home_has_no_such_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", refuse)
    assert find_config_folder({}) is None
    with pytest.raises(FileNotFoundError, match="no home folder; set `XDG_STATE_HOME`"):
        user_folders.need_state_folder({})


def run_at_once(*works: Any) -> None:
    barrier = threading.Barrier(len(works))

    def run(work: Any) -> None:
        barrier.wait()
        work()

    threads = [threading.Thread(target=run, args=(each,)) for each in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


# Holds: mcp-86
def test_servers_and_rules_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    servers, settings = tmp_path / "mcp.json", tmp_path / "settings.json"

    def add(name: str) -> None:
        change_own_servers(servers, lambda known: {**known, name: {"command": name}})
        add_user_rule(settings, f"Bash({name})")

    names = [f"server{number}" for number in range(8)]
    run_at_once(*[lambda name=name: add(name) for name in names])

    assert sorted(read_own_servers(servers)) == names
    rules = read_object(settings)["permissions"]["allow"]
    assert sorted(rules) == [f"Bash({name})" for name in names]


# Holds: mcp-86
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mcp.json"
    write_object(path, {"a": 1})
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_object(path, {"b": "x" * 10_000, "a": object()})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]
