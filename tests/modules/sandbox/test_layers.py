"""Changes of commands that go into a layer, and leave the project as it is.

Holds: sandbox-90
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sandbox_world import PATH, World, run

from amplifier_modules.sandbox.command import Command, LaunchError, Layer
from amplifier_modules.sandbox.layers import find_layer_obstacle, make_layer


@pytest.fixture
def layered(inside: World) -> World:
    """A world whose file system takes layers."""
    if (obstacle := find_obstacle(inside)) is not None:
        pytest.skip(obstacle)
    return inside


def find_obstacle(world: World) -> str | None:
    return find_layer_obstacle(world.open(), str(world.project), str(world.outside))


def run_in_layer(world: World, text: str, **settings: object) -> tuple[str, Path]:
    """Return the output of a command, and the folder of its changes."""
    layer = make_layer(world.outside)
    sandbox = world.open(**settings)
    ran = run(sandbox, text, str(world.project), layer=layer)
    sandbox.close()
    assert ran.ending.exit_code == 0, ran
    return ran.output, Path(layer.changes)


def read_tree(folder: Path) -> dict[str, str]:
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    return {str(each.relative_to(folder)): each.read_text() for each in files}


def test_changes_go_into_the_layer_and_the_command_sees_them(layered: World) -> None:
    (layered.project / "old").write_text("old\n")
    (layered.project / "gone").write_text("gone\n")
    before = read_tree(layered.project)

    text = "echo more >> old; rm gone; mkdir new; echo new > new/file; cat old new/file; ls"
    output, changes = run_in_layer(layered, text)

    assert output == "old\nmore\nnew\nnew\nold\n"
    assert read_tree(layered.project) == before
    assert read_tree(changes) == {"old": "old\nmore\n", "new/file": "new\n"}
    assert (changes / "gone").lstat().st_rdev == 0
    assert (changes / "gone").is_char_device()


def test_what_is_hidden_stays_hidden_beneath_a_layer(layered: World) -> None:
    secret = layered.project / ".env"
    secret.write_text("secret")
    output, changes = run_in_layer(
        layered, "cat .env || true; rm -f .env || true", find_hidden=lambda: [str(secret)]
    )
    assert "Permission denied" in output
    assert read_tree(changes) == {}


def test_a_name_may_hold_what_means_something_to_the_kernel(layered: World) -> None:
    project = layered.folder / 'a:b,c\\d"e'
    layered.project.rename(project)
    layered.project = project
    assert run_in_layer(layered, "echo x > x")[1].joinpath("x").read_text() == "x\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser makes files of others")
def test_what_others_let_everybody_write_stays_theirs(layered: World) -> None:
    path = layered.project / "file"
    path.write_text("before\n")
    path.chmod(0o666)
    os.chown(path, 12_345, 12_345)
    _, changes = run_in_layer(layered, "echo after >> file")
    found = (changes / "file").stat()
    assert ((changes / "file").read_text(), found.st_uid) == ("before\nafter\n", 12_345)


def test_a_layer_elsewhere_is_an_error_that_names_the_project(layered: World) -> None:
    layer = Layer(str(layered.outside), str(layered.project))
    with pytest.raises(LaunchError, match="cannot make the layer of changes over `"):
        run(layered.open(), ":", str(layered.project), layer=layer)
    assert find_layer_obstacle(layered.open(), str(layered.project), "/nowhere") is not None


def test_where_there_are_no_layers_it_is_said(world: World) -> None:
    runner = world.open(profile="read-only")
    expected = "commands of this sandbox change the project itself"
    assert not runner.takes_layers
    assert find_layer_obstacle(runner, str(world.project), str(world.outside)) == expected
    layer = make_layer(world.outside)
    with pytest.raises(LaunchError, match=expected):
        runner.start(Command(":", str(world.project), {"PATH": PATH}, layer=layer), 1)
