"""What a person must agree to before the changes of a command reach a project, and what not."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from both_versions import Both, list_reasons, write
from tracked_project import TrackedProject, open_project, run_git

from amplifier_guard import PathDenied, PathPolicy
from amplifier_modules.changes.careful import CarefulChange, find_careful_changes
from amplifier_modules.changes.careful.folded_name import fold_name
from amplifier_modules.changes.careful.git_files import (
    IS_REPOSITORY,
    IS_UNREADABLE,
    LOSES_REPOSITORY,
    REDIRECTS,
    RUNS_HOOK,
)
from amplifier_modules.changes.careful.unasked_names import find_reader
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.tracked import find_git

CHECKOUT = Path(__file__).parents[3]
needs_git = pytest.mark.skipif(find_git() is None, reason="git is not installed")


# Holds: changes-40
@needs_git
def test_everyday_git_asks_nobody(both: Both) -> None:
    project = both.before
    run_git(project, "init", "--quiet", "--initial-branch=main")
    for name in ("a", ".gitignore"):
        write(project, name)
    run_git(project, "add", ".")
    run_git(project, "commit", "--quiet", "--message=m")
    both.begin()
    project = both.after
    write(project, "a", "changed")
    run_git(project, "commit", "--quiet", "--all", "--message=n")
    run_git(project, "config", "user.name", "someone")
    run_git(project, "remote", "add", "origin", "https://host.invalid/a.git")
    run_git(project, "config", "branch.main.remote", "origin")
    run_git(project, "tag", "HEAD2")
    run_git(project, "clone", "--quiet", "--no-local", ".", "copy")
    run_git(project, "init", "--quiet", "new")
    options = ("-c", "protocol.file.allow=always")
    run_git(project, *options, "submodule", "--quiet", "add", str(project / "copy"), "sub")
    run_git(project, "checkout", "--quiet", "-b", "hooks/config")
    run_git(project, "gc", "--quiet")
    for name in (
        "node_modules/.bin/x",
        ".venv/lib/x.pth",
        "__pycache__/x.pyc",
        "node_modules/.vscode/x",
    ):
        write(project, name)
    reasons = list_reasons(both)
    # The one row is that of the guard: it names what git fetches and runs for the next person.
    assert list(reasons) == [".gitmodules"]


# Holds: changes-40
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".git/hooks/pre-commit", RUNS_HOOK),
        (".GIT/Hooks/pre-commit", RUNS_HOOK),
        (".git./hooks/pre-commit", RUNS_HOOK),
        ("git~1/hooks/pre-commit", RUNS_HOOK),
        (".g\u200cit/hooks/deep/er", RUNS_HOOK),
        ("deep/er/.git/hooks/post-checkout", RUNS_HOOK),
        (".git/modules/a/b/hooks/update", RUNS_HOOK),
        (".git/commondir", REDIRECTS),
        ("sub/.git/commondir", REDIRECTS),
        (".git/worktrees/w/commondir", REDIRECTS),
        ("sub/.git", REDIRECTS),
        (".git/config", IS_UNREADABLE),
        (".git/config.worktree", IS_UNREADABLE),
        (".git/worktrees/w/config.worktree", IS_UNREADABLE),
        (".git/modules/a/b/config", IS_UNREADABLE),
        (".git/info/attributes", "it decides which filters and programs git uses for a file"),
        (".vscode/tasks.json", "editors run or trust it when they open the project"),
        ("a/.Claude/settings.json", "agents follow it, or run what it names"),
        ("AGENTS.md", "agents follow it, or run what it names"),
        (".husky/pre-push", "it decides what git, or a manager of its hooks, runs by itself"),
        (".bashrc", "shells and terminals run it when they start"),
        (".tool-versions", "it decides which programs and settings are used in its folder"),
        (".envrc", "it decides which programs and settings are used in its folder"),
        (".mise.x.toml", "it decides which programs and settings are used in its folder"),
    ],
)
def test_what_runs_unasked_asks(path: str, reason: str, both: Both) -> None:
    both.begin()
    write(both.after, path, "[broken")
    assert list_reasons(both) == {path: reason}


# Holds: changes-40
@pytest.mark.parametrize(
    "path",
    [
        "hooks/pre-commit",
        "config",
        "HEAD",
        "src/git/hooks/a",
        ".git/hooks/pre-commit.sample",
        ".git/refs/heads/hooks/config",
        ".git/index",
        ".git/info/exclude",
        "package.json",
        "Makefile",
        "node_modules/a/.vscode/tasks.json",
        "env/.claude/settings.json",
        ".github/workflows/test.yml",
    ],
)
def test_what_only_looks_like_it_does_not(path: str, both: Both) -> None:
    both.begin()
    write(both.after, path, "[broken")
    assert list_reasons(both) == {}


SETTINGS = """\
[core]
\trepositoryformatversion = 0
[user]
\tname = a
[remote "origin"]
\turl = https://host.invalid/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


# Holds: changes-41
@pytest.mark.parametrize(
    "path", [".git/config", ".git/config.worktree", "bare/config", ".git/modules/m/config"]
)
@pytest.mark.parametrize(
    ("added", "key"),
    [
        ("[core] hooksPath = x", "core.hookspath"),
        ("[Core]\n\tFSMonitor", "core.fsmonitor"),
        ('[core "x"] sshcommand = x', "core.x.sshcommand"),
        ("[core] worktree = ../../..", "core.worktree"),
        ("[alias] st = !x", "alias.st"),
        ('[filter "a.B"] clean = x', "filter.a.B.clean"),
        ("[diff] external = x", "diff.external"),
        ('[merge "m"] driver = x', "merge.m.driver"),
        ('[credential "https://u:secret@h"] helper = x', "credential.*.helper"),
        ('[url "https://u:secret@h/"] insteadOf = x', "url.*.insteadof"),
        ("[include] path = x", "include.path"),
        ('[includeIf "onbranch:a"] path = x', "includeif.onbranch:a.path"),
        ('[remote "origin"] proxy = x', "remote.origin.proxy"),
        ('[submodule "s"] update = !x', "submodule.s.update"),
        ("[new] someCommand = x", "new.somecommand"),
    ],
)
def test_settings_that_run_or_redirect_ask_in_both_directions(
    path: str, added: str, key: str, both: Both
) -> None:
    write(both.before, path, SETTINGS)
    both.begin()
    write(both.after, path, SETTINGS + added)
    reason = f"`{key}` would change: this decides what git runs, or where it connects to"
    assert list_reasons(both) == {path: reason}
    both.before, both.after = both.after, both.before
    assert list_reasons(both) == {path: reason}


# Holds: changes-41
def test_other_settings_ask_nobody(both: Both) -> None:
    write(both.before, ".git/config", SETTINGS + "[alias] st = status\n")
    both.begin()
    changed = SETTINGS.replace("name = a", "name = b").replace("host", "other")
    more = (
        '[alias]\n# moved\n\tst = "status"\n[branch "main"]\n\tremote = origin\n[color] ui = auto\n'
    )
    write(both.after, ".git/config", changed + more)
    write(both.after, ".git/modules/a/b/config", "[core]\n\tworktree = ../../../../a/b\n")
    assert list_reasons(both) == {}


# Holds: changes-41
def test_many_keys_are_counted(both: Both) -> None:
    both.begin()
    write(both.after, ".git/config", "[alias]" + "\n".join(f"a{each} = x" for each in range(9)))
    [reason] = list_reasons(both).values()
    assert "`alias.a0`, `alias.a1`, `alias.a2`, `alias.a3`, `alias.a4` and 4 more would" in reason


# Holds: changes-40
def test_links_in_a_repository_and_files_that_lead_elsewhere_ask(both: Both) -> None:
    write(both.before, "kept/.git", "gitdir: ../.git/modules/kept")
    both.begin()
    write(both.after, "kept/.git", "gitdir: ../other")
    for name in (".git/hooks", "b/.git"):
        (both.after / name).parent.mkdir(exist_ok=True)
        (both.after / name).symlink_to("elsewhere")
    write(both.after, "new/.git", "gitdir: ../.git/modules/new\n")
    write(both.after, "out/.git", "gitdir: ../../.git/modules/new\n")
    write(both.after, "abs/.git", "gitdir: /.git/modules/new\n")
    write(both.after, "bare/HEAD", "ref: refs/heads/main\n")
    led = (".git/hooks", "abs/.git", "b/.git", "kept/.git", "out/.git")
    assert list_reasons(both) == {"bare/HEAD": IS_REPOSITORY, **dict.fromkeys(led, REDIRECTS)}


# Holds: changes-42
def test_many_deleted_files_ask_unless_they_are_ignored_or_made_again(both: Both) -> None:
    for folder in ("src", "built", "node_modules", ".git/objects"):
        for number in range(201):
            write(both.before, f"{folder}/{number}")
    both.after.mkdir()
    write(both.after, "src/0")
    changes = both.list_changes()

    def find_built(paths: object) -> set[str]:
        assert isinstance(paths, list)
        return {f"built/{number}" for number in range(201)}

    assert find_careful_changes(changes, find_built) == []
    shutil.rmtree(both.after / "src")
    changes = both.list_changes()
    paths = tuple(sorted(f"src/{number}" for number in range(201)))
    asked = [CarefulChange(paths, "201 files that git does not ignore would be deleted")]
    assert find_careful_changes(changes, find_built) == asked
    # As an overlay may list it: the folder alone.
    folders = [each for each in changes if each.type == "folder" and "/" not in each.path]
    assert find_careful_changes(folders, find_built) == asked


# Holds: changes-42
def test_what_is_in_a_new_folder_asks_also_if_the_folder_alone_is_listed(both: Both) -> None:
    both.begin()
    write(both.after, "a/.vscode/tasks.json")
    write(both.after, "a/.git/hooks/update")
    folder = ChangedPath("a", "created", "folder", None, str(both.after / "a"), 0)
    found = find_careful_changes([folder])
    assert [each.paths for each in found] == [("a/.git/hooks/update",), ("a/.vscode/tasks.json",)]


# Holds: changes-42
def test_the_loss_of_the_repository_asks(both: Both) -> None:
    for name in (".git/HEAD", "sub/.git/HEAD"):
        write(both.before, name, "ref: refs/heads/main")
    both.after.mkdir()
    assert list_reasons(both) == {".git": LOSES_REPOSITORY}


# Holds: changes-43
@pytest.mark.parametrize("mode", ["wal", "persist"])
def test_a_database_in_use_asks(mode: str, both: Both) -> None:
    journal = {"wal": "a.db-wal", "persist": "a.db-journal"}[mode]
    with closing(sqlite3.connect(both.before / "a.db")) as opened:
        opened.execute(f"PRAGMA journal_mode = {mode}")
        opened.execute("CREATE TABLE t (a)")
        opened.commit()
        both.begin()
        with closing(sqlite3.connect(both.after / "a.db")) as changed:
            changed.execute("INSERT INTO t VALUES (1)")
            changed.commit()
            reason = (
                f"the database may be in use, as `{journal}` is beside it: a change could damage it"
            )
            assert list_reasons(both) == {"a.db": reason}


# Holds: changes-43
def test_other_databases_ask_nobody(both: Both) -> None:
    with closing(sqlite3.connect(both.before / "a.db")) as opened:
        opened.execute("CREATE TABLE t (a)")
    for name in ("text", "text-wal", "lonely-journal"):
        write(both.before, name)
    both.begin()
    with closing(sqlite3.connect(both.after / "a.db")) as opened:
        opened.execute("INSERT INTO t VALUES (1)")
        opened.commit()
    shutil.copy(both.after / "a.db", both.after / "new.db")
    for name in ("text", "text-wal", "lonely-journal", "new.db-wal"):
        write(both.after, name, "changed")
    assert list_reasons(both) == {}


# Holds: changes-40
def test_the_names_are_rows_of_the_guard() -> None:
    guard = CHECKOUT / "crates/amplifier-guard/src/path/protected.txt"
    ours = CHECKOUT / "python/amplifier_modules/changes/careful/unasked.txt"
    groups = read_groups(guard)
    quiet = "packages of JavaScript, Python, Ruby and PHP"
    expected = {
        name: [row for row in groups[name] if name != quiet or row.endswith("/")]
        for name in (
            quiet,
            "git, its hooks and their managers",
            "agents",
            "editors",
            "shells, terminals and the start of a login",
            "versions of tools, and the environments that they set",
        )
    }
    found = read_groups(ours)
    secrets = found.pop("environments; the guard has them among secrets")
    assert found == expected
    assert set(secrets) <= set(guard.read_text().splitlines())


def read_groups(path: Path) -> dict[str, list[str]]:
    """Return the rows of a list of names by the comment that is above them."""
    groups: dict[str, list[str]] = {}
    group: list[str] = []
    for line in path.read_text().partition("\n\n")[2].splitlines():
        if line.startswith("# "):
            group = groups.setdefault(line.removeprefix("# "), [])
        elif line and not line.startswith("["):
            group.append(line)
    return {name: rows for name, rows in groups.items() if rows}


# Holds: changes-40
@pytest.mark.parametrize(
    "path",
    [
        ".VSCode/a",
        ".vscode /a",
        ".vscode:x/a",
        ".\uff56scode/a",
        ".vs\u200dcode/a",
        "AGENTS.MD.",
        ".zshrc",
    ],
)
def test_names_are_folded_as_the_guard_folds_them(path: str, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).touch()
    with pytest.raises(PathDenied):
        PathPolicy(tmp_path).writable(path)
    assert find_reader([fold_name(each) for each in path.split("/")])


# Holds: changes-42
@needs_git
def test_a_tracked_project_knows_what_is_ignored(tmp_path: Path) -> None:
    project: TrackedProject = open_project(tmp_path)
    project.write_at(".gitignore", "built/\n*.log\n")
    paths = ["built/gone/a", "a.log", "a", ":(top)b"]
    assert project.tree.find_ignored(paths) == {"built/gone/a", "a.log"}
    assert project.tree.find_ignored(["a"]) == set()
