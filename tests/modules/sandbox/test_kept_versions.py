"""No command reads the versions of files from before: they may hold secrets that are gone.

Holds: sandbox-94
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sandbox_world import World, run

from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.place import list_changes_folders, note_place
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.hidden_files import HiddenFiles
from amplifier_modules.sandbox.layers import find_layer_obstacle, make_layer
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.sandbox import Sandbox


@pytest.fixture(autouse=True)
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for changes, where a user keeps what programs know."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    usual = tmp_path / "state" / "amplifier-core" / "changes"
    plant(usual)
    return usual


def plant(folder: Path) -> Path:
    kept = folder / "session/000001/layer/notes"
    kept.parent.mkdir(parents=True)
    kept.write_text("secret")
    return kept


def hide_kept(world: World, usual: Path) -> HiddenFiles:
    def open_reader(hidden: Sequence[str]) -> closing[Sandbox]:
        return closing(world.open(profile="read-only", find_hidden=lambda: hidden))

    project = str(world.project)
    return HiddenFiles(project, open_reader, find_kept=lambda: list_changes_folders(project, usual))


def test_no_tier_shows_what_is_kept(world: World, usual: Path) -> None:
    beside = world.project.parent / ".amplifier-changes"
    other = world.outside / ".amplifier-changes"
    note_place(usual, other)
    kept = [plant(folder) for folder in (beside, other)]
    kept.append(usual / "session/000001/layer/notes")
    with closing(
        world.open(find_hidden=hide_kept(world, usual).find, shown=[str(world.folder)])
    ) as sandbox:
        places = " ".join(map(str, kept))
        text = f"cat {places}; ls {usual} {beside} {other}; echo x > {kept[0]}; echo end"
        ran = run(sandbox, text, str(world.project), LC_ALL="C")
    assert "secret" not in ran.output
    assert ran.output.count("Permission denied") + ran.output.count("Read-only") >= len(kept)
    assert ran.output.endswith("end\n")
    assert {path.read_text() for path in kept} == {"secret"}


def test_what_is_kept_of_a_project_in_the_project_is_not_shown(inside: World, usual: Path) -> None:
    inner = inside.project / "inner" / ".amplifier-changes"
    kept = plant(inner)
    note_place(usual, inner)
    text = f"cat {kept}; rm -rf inner"
    ran = inside.run(text, find_hidden=hide_kept(inside, usual).find)
    assert "secret" not in ran.output
    assert kept.read_text() == "secret"


@pytest.mark.parametrize("place", ["usual", "beside"])
def test_a_layer_lies_among_what_is_not_shown(inside: World, usual: Path, place: str) -> None:
    store = usual if place == "usual" else inside.project.parent / ".amplifier-changes"
    store.mkdir(exist_ok=True)
    if (
        obstacle := find_layer_obstacle(inside.open(), str(inside.project), str(store))
    ) is not None:
        pytest.skip(obstacle)
    (inside.project / "old").write_text("old\n")
    layer = make_layer(store)
    with closing(
        inside.open(find_hidden=hide_kept(inside, usual).find, shown=[str(inside.folder)])
    ) as sandbox:
        text = f"echo new >> old; cat old; cat {layer.changes}/old"
        ran = run(sandbox, text, str(inside.project), layer=layer, LC_ALL="C")
    assert ran.output == f"old\nnew\ncat: {layer.changes}/old: Permission denied\n"
    assert (Path(layer.changes) / "old").read_text() == "old\nnew\n"


def test_the_tool_hides_what_is_kept(inside: World, usual: Path, tmp_path: Path) -> None:
    sessions = usual.parent / "sessions.db"
    sessions.write_text("secret")
    folder = tmp_path / "session"
    folder.mkdir()
    confinement = Confinement(
        inside.project, folder, inside.temporary, tmp_path / "caches", "project", "off"
    )
    with closing(runners.open_runner(confinement)) as runner:
        text = f"cat {usual}/session/000001/layer/notes {sessions}; echo end"
        ran = run(runner, text, str(inside.project), LC_ALL="C")
    assert "secret" not in ran.output
    assert ran.output.endswith("end\n")


def test_a_place_is_noted_once(usual: Path, tmp_path: Path) -> None:
    other = tmp_path / "a b\udcff"
    for folder in (usual, other, other):
        note_place(usual, folder)
    project = str(tmp_path / "project")
    beside = str(tmp_path / ".amplifier-changes")
    assert list_changes_folders(project, usual) == [str(usual), beside, str(other)]


def test_changes_note_where_else_they_are_kept(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project, other):
        folder.mkdir(exist_ok=True)
    changes = SessionChanges(usual, "session")
    monkeypatch.setattr(changes, "find_folder", lambda _project: other)
    if (change := changes.begin(str(project), Call("bash"))) is not None:
        change.drop()
    assert os.fsencode(other) in (usual / "places").read_bytes().split(b"\n")
