"""Rules in files: the user's count, a project's `deny` and `ask` too, its `allow` after a yes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.hooks.approval.rule_files import (
    WrittenRules,
    add_user_rule,
    find_user_settings,
    is_trusted,
    read_project_rules,
    read_rules,
    remember_trust,
)
from amplifier_modules.hooks.approval.rule_set import RuleSet, load_rules
from amplifier_modules.hooks.approval.settings import ApprovalSettings
from amplifier_modules.running.user_folders import find_state_folder
from amplifier_providers.settings import read_settings


def write(path: Path, **permissions: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"permissions": permissions}))
    return path


def load(project: Path, state: Path | None) -> RuleSet:
    config = {"project_rules": True, "state_folder": None if state is None else str(state)}
    return load_rules(read_settings(ApprovalSettings, config, "hooks-approval"), project)


def tell(rules: RuleSet) -> dict[str, list[str]]:
    named = {"allow": rules._allow, "ask": rules._ask, "deny": rules._deny}
    return {name: [each.text for each in listed] for name, listed in named.items()}


# Holds: approval-6
def test_what_a_project_allows_counts_after_a_yes_to_just_that_list(tmp_path: Path) -> None:
    project, state = tmp_path / "project", tmp_path / "state"
    shared, local = (project / ".claude" / name for name in ("settings.json", "settings.local.json"))  # fmt: skip
    write(shared, allow=["Bash(make:*)"], deny=["Read(.env)"], ask=["Bash(git push:*)"])
    write(local, allow=["Edit(src/**)"])
    asked = {"allow": [], "ask": ["Bash(git push:*)"], "deny": ["Read(.env)"]}
    allow = ["Bash(make:*)", "Edit(src/**)"]
    assert read_project_rules(project).allow == allow
    assert tell(load(project, state)) == tell(load(project, None)) == asked
    assert is_trusted(project, allow, state) is None

    remember_trust(project, allow, state, trusted=False)
    assert (is_trusted(project, allow, state), tell(load(project, state))) == (False, asked)
    remember_trust(project, allow, state, trusted=True)
    assert tell(load(project, state)) == {**asked, "allow": allow}

    write(local, allow=["Edit"])
    assert is_trusted(project, ["Bash(make:*)", "Edit"], state) is None
    assert tell(load(project, state)) == asked
    assert is_trusted(tmp_path / "other", allow, state) is None


# Holds: approval-6
def test_the_order_and_the_borders_of_a_list_are_part_of_what_was_agreed_to(tmp_path: Path) -> None:
    remember_trust(tmp_path, ["a", "b"], tmp_path, trusted=True)
    for other in (["b", "a"], ["ab"], ["a", "b", "b"], ["a"], []):
        assert is_trusted(tmp_path, other, tmp_path) is None


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"permissions": []}', '{"permissions": {"deny": "x"}}', "[" * 99_999, "\xff"],
)
def test_a_file_that_cannot_be_used_is_one_problem_and_no_rules(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(content, encoding="latin-1")
    rules = read_rules(path)
    assert (rules.allow, rules.ask, rules.deny, len(rules.problems)) == ([], [], [], 1)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.json")
    assert len(read_rules(tmp_path / "settings.json").problems) == 1
    assert len(read_rules(tmp_path).problems) == 1
    assert read_rules(tmp_path / "missing") == WrittenRules()


# Holds: approval-17
def test_a_rule_is_added_once_through_a_link_and_to_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    os.symlink(tmp_path / "dotfiles" / "settings.json", tmp_path / "settings.json")
    for _ in range(2):
        add_user_rule(tmp_path / "settings.json", "Edit")
    assert read_rules(tmp_path / "dotfiles" / "settings.json").allow == ["Edit"]
    assert (tmp_path / "settings.json").is_symlink()
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(ValueError, match="property name"):
        add_user_rule(broken, "Edit")
    assert broken.read_text() == "{"
    assert sorted(os.listdir(tmp_path)) == ["broken.json", "dotfiles", "settings.json"]


def test_the_files_of_the_user_are_where_the_system_wants_them(monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    given = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    assert find_user_settings(given) == Path("/c/amplifier-core/settings.json")
    assert find_state_folder(given) == Path("/s/amplifier-core")
    usual = {"XDG_CONFIG_HOME": "relative"}
    assert find_user_settings(usual) == Path("/home/ann/.config/amplifier-core/settings.json")
    assert find_state_folder(usual) == Path("/home/ann/.local/state/amplifier-core")
