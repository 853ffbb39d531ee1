"""Repositories of other names, and what else git reads of a project: changes of them ask."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from both_versions import Both, list_reasons, write

from amplifier_modules.changes.careful.git_files import (
    IS_LED_TO,
    IS_OPENED,
    IS_REPOSITORY,
    IS_UNREADABLE,
    REDIRECTS,
    RUNS_HOOK,
    RUNS_LATER,
)

MAIN = "ref: refs/heads/main\n"
SETTINGS = "[core]\n\tbare = false\n"
MONITOR = "[core]\n\tfsmonitor = x\n"
RUNS = "`core.fsmonitor` would change: this decides what git runs, or where it connects to"


# Holds: sandbox-92
@pytest.mark.parametrize("lead", ["link", "file", "nothing"])
def test_a_repository_of_another_name_is_judged_as_one(lead: str, both: Both) -> None:
    write(both.before, ".bare/HEAD", MAIN)
    if lead == "link":
        (both.before / ".git").symlink_to(".bare")
    elif lead == "file":
        write(both.before, ".git", "gitdir: ./.bare\n")
    both.begin()
    for name in ("hooks/pre-commit", "worktrees/w/hooks/pre-commit", "commondir", "config"):
        write(both.after, f".bare/{name}", "[broken")
    write(both.after, ".bare/HEAD", "ref: refs/heads/other\n")
    write(both.after, ".bare/refs/heads/other", "0" * 40)
    assert list_reasons(both) == {
        ".bare/commondir": REDIRECTS,
        ".bare/config": IS_UNREADABLE,
        ".bare/hooks/pre-commit": RUNS_HOOK,
        ".bare/worktrees/w/hooks/pre-commit": RUNS_HOOK,
    }


# Holds: sandbox-92
def test_a_project_that_is_a_bare_repository_is_judged_as_one(both: Both) -> None:
    write(both.before, "HEAD", MAIN)
    both.begin()
    write(both.after, "hooks/update")
    write(both.after, "objects/00/" + "0" * 38)
    assert list_reasons(both) == {"hooks/update": RUNS_HOOK}


# Holds: sandbox-92
@pytest.mark.parametrize(
    "content",
    [MAIN, "ref:refs/heads/a", "ref:\t\n refs/x", "F" * 40, MAIN + " " * 2_000_000],
)
def test_whatever_git_takes_for_a_head_makes_a_repository(content: str, both: Both) -> None:
    both.begin()
    write(both.after, "a/HEAD", content)
    assert list_reasons(both) == {"a/HEAD": IS_REPOSITORY}


# Holds: sandbox-92
def test_a_link_may_be_a_head_and_others_are_none(both: Both) -> None:
    both.begin()
    for name, target in (("a", "refs/heads/main"), ("b", "../text")):
        (both.after / name).mkdir()
        (both.after / name / "HEAD").symlink_to(target)
    assert list_reasons(both) == {"a/HEAD": IS_REPOSITORY}


# Holds: sandbox-92
@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        (".git/inner/config", MONITOR, RUNS),
        (".git/inner/.git/config", MONITOR, RUNS),
        (".git/objects/inner/config", MONITOR, RUNS),
        (".git/objects/inner/.git/config", MONITOR, RUNS),
        (".git/inner/HEAD", MAIN, IS_REPOSITORY),
        (".git/objects/inner/HEAD", MAIN, IS_REPOSITORY),
        (".git/refs/heads/inner/HEAD", MAIN, IS_REPOSITORY),
        (".git/inner/hooks/update", "", RUNS_HOOK),
        (".git/worktrees/w/hooks/update", "", RUNS_HOOK),
        (".git/objects/inner/commondir", "../../..", REDIRECTS),
        (".git/inner/commondir", "../..", REDIRECTS),
        (".git/rebase-merge/git-rebase-todo", "pick 1\nexec x\n", RUNS_LATER),
        (".git/rebase-merge/git-rebase-todo.backup", "x x", RUNS_LATER),
    ],
)
def test_no_repository_hides_in_another(path: str, content: str, reason: str, both: Both) -> None:
    both.begin()
    write(both.after, path, content)
    assert list_reasons(both) == {path: reason}


# Holds: sandbox-92
def test_a_program_among_branches_asks(both: Both) -> None:
    both.begin()
    for name in ("refs/heads/hooks/update", "logs/refs/heads/hooks/update"):
        write(both.after, f".git/{name}", "0" * 40)
    assert list_reasons(both) == {}
    (both.after / ".git/logs/refs/heads/hooks/update").chmod(0o755)
    assert list_reasons(both) == {".git/logs/refs/heads/hooks/update": RUNS_HOOK}


# Holds: sandbox-92
def test_what_git_itself_writes_asks_nobody(both: Both) -> None:
    write(both.before, ".git/HEAD", MAIN)
    both.begin()
    for path, content in {
        ".git/HEAD": "0" * 40,
        ".git/logs/HEAD": "0" * 40,
        ".git/refs/remotes/origin/HEAD": MAIN,
        ".git/logs/refs/remotes/origin/HEAD": "0" * 40,
        ".git/worktrees/hooks/HEAD": MAIN,
        ".git/modules/m/HEAD": MAIN,
        ".git/refs/heads/config": "0" * 40,
        ".git/refs/heads/commondir": "0" * 40,
        ".git/rebase-merge/git-rebase-todo": "pick 1 x exec\nfixup 2 x\n",
        "clone/.git/HEAD": MAIN,
        "clone/.git/config": '[remote "origin"]\n\turl = ../origin.git\n',
    }.items():
        write(both.after, path, content)
    assert list_reasons(both) == {}


# Holds: sandbox-92
@pytest.mark.parametrize(
    "settings",
    [
        "[include]\n\tpath = ../tools/a\n",
        '[includeIf "gitdir:**"]\n\tpath = ../tools/a\n',
        "[core]\n\thooksPath = tools\n",
        "[core]\n\thooksPath = linked\n",
    ],
)
def test_what_settings_of_git_name_asks(settings: str, both: Both) -> None:
    write(both.before, ".git/config", settings)
    (both.before / "linked").symlink_to("tools")
    both.begin()
    write(both.after, "tools/a")
    write(both.after, "other/a")
    assert list_reasons(both) == {"tools/a": IS_LED_TO}


# Holds: sandbox-92
def test_what_settings_of_a_worktree_elsewhere_name_asks(both: Both, tmp_path: Path) -> None:
    write(tmp_path, "main/config", "[core]\n\thooksPath = tools\n")
    write(tmp_path, "main/worktrees/w/commondir", "../..\n")
    write(both.before, ".git", f"gitdir: {tmp_path}/main/worktrees/w\n")
    both.begin()
    write(both.after, "tools/pre-commit")
    assert list_reasons(both) == {"tools/pre-commit": IS_LED_TO}


# Holds: sandbox-92
def test_a_link_in_the_place_of_a_repository_asks(both: Both) -> None:
    write(both.before, "bare/HEAD", MAIN)
    write(both.before, "checkout/.git/HEAD", MAIN)
    both.before.joinpath("plain").mkdir()
    both.after.mkdir()
    for name in ("bare", "checkout", "plain"):
        (both.after / name).symlink_to("/elsewhere")
    reasons = list_reasons(both)
    assert reasons == {"bare": REDIRECTS, "checkout": REDIRECTS}


# Holds: sandbox-92
@pytest.mark.parametrize(
    ("address", "asks"),
    [
        ("/elsewhere/a.git", True),
        ("../a.git", True),
        ("file:///elsewhere/a.git", True),
        ("FILE:///elsewhere/a.git", True),
        ("./out", True),
        ("./missing", True),
        ("./bare", False),
        ("https://host.invalid/a.git", False),
        ("host.invalid:a.git", False),
    ],
)
def test_a_remote_in_a_folder_elsewhere_asks(address: str, asks: bool, both: Both) -> None:
    write(both.before, ".git/HEAD", MAIN)
    write(both.before, ".git/config", SETTINGS)
    write(both.before, "bare/HEAD", MAIN)
    (both.before / "out").symlink_to("/elsewhere")
    both.begin()
    write(both.after, ".git/config", f'{SETTINGS}[remote "a"]\n\tpushurl = {address}\n')
    assert list(list_reasons(both)) == [".git/config"] * asks


# Holds: sandbox-92
def test_settings_that_others_may_write_ask(both: Both) -> None:
    write(both.before, ".git/config", SETTINGS)
    both.begin()
    write(both.after, ".git/config", SETTINGS + "[user]\n\tname = a\n")
    (both.after / ".git/config").chmod(0o646)
    assert list_reasons(both) == {".git/config": IS_OPENED}
