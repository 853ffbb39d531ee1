"""Folders beside the project that a person lets the tools of a session use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core.session_capabilities import APPROVAL_POLICY, SESSION_ADDED_FOLDERS
from amplifier_guard import PathDenied, PathPolicy, PathProtected
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_modules.tools.added_folders import (
    AddedFolders,
    FolderRefusedError,
    find_added_folders,
    judge_folder,
)
from amplifier_modules.tools.folders import Folders


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def refuse(text: str, project: Path) -> str:
    with pytest.raises(FolderRefusedError) as refused:
        judge_folder(text, project, os.environ)
    return str(refused.value)


# Holds: folders-1
def test_folders_that_decide_what_may_run_and_links_are_not_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    for each in (".ssh", "project", "library", ".config/amplifier-core", ".local/state"):
        (home / each).mkdir(parents=True, exist_ok=True)
    (home / "link").symlink_to(home / "library")
    (home / "file").touch()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    config = home / ".config/amplifier-core"
    kept = (
        "decides what may run, or holds sessions or secrets: copy what is needed into the project"
    )
    refused = {
        "../library": f"`../library` has `..` in it: name `{home}/library`",
        f"{home}/none": f"`{home}/none` is not there: name a folder that is",
        "~/file": f"`{home}/file` is no folder: name a folder that is",
        "~/link": f"`{home}/link` leads by a link to `{home}/library`: name that folder itself",
        ".": f"`{project}` is in the project already",
        "/": "`/` is of the system: name a folder with what you work on",
        "/dev": "`/dev` is of the system: name a folder with what you work on",
        "~": f"`{home}` is your home, or holds it: name a folder in it",
        str(tmp_path): f"`{tmp_path}` is your home, or holds it: name a folder in it",
        "~/.config": f"`{home}/.config` holds `{config}`, which tools do not use: name a folder that"
        " does not",
        "~/.config/amplifier-core": f"`{config}` {kept}",
        "~/.ssh": f"`{home}/.ssh` {kept}",
    }
    assert {text: refuse(text, project) for text in refused} == refused
    assert judge_folder("~/library", project, os.environ) == str(home / "library")
    inner = project / "inner"
    inner.mkdir()
    assert refuse(str(project), inner) == (
        f"`{project}` holds the project: name one beside it, or work there (`-C {project}`)"
    )


# Holds: folders-2
def test_each_path_is_judged_by_the_folder_that_it_lies_in(tmp_path: Path) -> None:
    project, library, other = (tmp_path / each for each in ("project", "library", "other"))
    for each in (project, library, other):
        each.mkdir()
        (each / "a.txt").write_text(each.name)
    (library / ".env").write_text("KEY=1")
    (library / "out").symlink_to(other)
    added = AddedFolders(project)
    folders: Any = Folders(PathPolicy(project), added)
    with pytest.raises(PathDenied):
        folders.read(f"{library}/a.txt", 9)
    added.add(str(library))
    assert folders.read("a.txt", 9) == b"project"
    for path in (f"{library}/a.txt", "../library/a.txt"):
        assert folders.read(path, 9) == b"library"
        assert folders.resolve(path) == f"{library}/a.txt"
    assert folders.create(f"{library}/new/b.txt", b"b") == f"{library}/new/b.txt"
    assert sorted(each[0] for each in folders.walk(str(library)).files) == [
        f"{library}/{each}" for each in (".env", "a.txt", "new/b.txt")
    ]
    assert [each[0] for each in folders.search("library", str(library)).lines] == [
        f"{library}/a.txt"
    ]
    for path in (f"{other}/a.txt", f"{library}/../other/a.txt", f"{library}/out/a.txt"):
        with pytest.raises(PathDenied):
            folders.read(path, 9)
    with pytest.raises(PathDenied):
        folders.rename("a.txt", f"{library}/c.txt")
    with pytest.raises(PathProtected):
        folders.read(f"{library}/.env", 9)
    assert folders.with_secrets().read(f"{library}/.env", 5) == b"KEY=1"


class Reviewing:
    """A policy in the mode `review`."""

    is_reviewing = True
    lets_change = True
    mode = "review"


# Holds: folders-3
async def test_an_added_folder_is_used_by_all_tools_and_stored_with_the_session(
    tmp_path: Path,
) -> None:
    project, library = tmp_path / "project", tmp_path / "library"
    for each in (project, library / ".git"):
        each.mkdir(parents=True)
    (library / ".env").write_text("KEY=1")
    path = f"{library}/a.txt"
    calls: list[Any] = [
        {"tool": "write_file", "arguments": {"path": path, "content": "one"}},
        {"tool": "bash", "arguments": {"command": f"cat {path}; echo two > {library}/b.txt"}},
        {"tool": "bash", "arguments": {"command": f"cat {library}/.env"}},
        {"tool": "bash", "arguments": {"command": f"echo x > {library}/.git/hooks/pre-commit"}},
    ]
    again: list[Any] = [{"tool": "bash", "arguments": {"command": f"echo x > {path}"}}, "Done."]
    plan: Any = {"tools": [{"module": "tool-filesystem"}, {"module": "tool-bash"}]}
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path / "store")}}

    def make(script: list[Any]) -> Agent[None]:
        return Agent(ScriptedProvider(script), plan=plan, directory=project, store=store)

    async with make([*calls, "Done."]).session() as session:
        find_added_folders(session.session.coordinator).add(str(library))
        first = await session.run("Use the library")
        id = session.id
    results = [each for each in first.messages if each["role"] == "tool"]
    assert (library / "a.txt").read_text() == "one"
    resumed = make(2 * again).session(session_id=id)
    coordinator, folders = resumed.session.coordinator, AddedFolders(project)
    coordinator.register_capability(SESSION_ADDED_FOLDERS, folders)
    async with resumed as session:
        assert folders.paths == (str(library),)
        if find_tier().tier is Tier.NAMESPACES:
            # What a command changes there could not be shown before.
            coordinator.register_capability(APPROVAL_POLICY, Reviewing())
            await session.run("Go on")
            assert (library / "a.txt").read_text() == "one"
            coordinator.register_capability(APPROVAL_POLICY, None)
            await session.run("Go on")
            assert (library / "a.txt").read_text() == "x\n"
    if find_tier().tier is Tier.NAMESPACES:
        assert (library / "b.txt").read_text() == "two\n"
        assert "KEY=1" not in str(results[2])
        assert not (library / ".git/hooks/pre-commit").exists()
