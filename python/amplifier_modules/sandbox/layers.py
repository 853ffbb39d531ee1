"""Whether the changes of commands can go into a layer: found by starting one that does nothing."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from .command import Command, CommandRunner, Layer

_SECONDS = 20


def find_layer_obstacle(runner: CommandRunner, project: str, store: str) -> str | None:
    """Return why the changes of commands cannot go into a layer; None if they can.

    Args:
        runner: What runs them.
        project: The folder that they change.
        store: A folder in which layers would lie.
    """
    if not runner.takes_layers:
        return "commands of this sandbox change the project itself"
    try:
        with TemporaryDirectory(prefix=".trial-", dir=store, ignore_cleanup_errors=True) as folder:
            layer = make_layer(Path(folder))
            with open(os.devnull, "wb") as nowhere:
                command = Command(":", project, {}, _SECONDS, layer)
                ending = runner.start(command, nowhere.fileno()).wait()
            os.chmod(Path(layer.work, "work"), 0o700)
    except OSError as error:
        return str(error)
    return None if ending.exit_code == 0 else f"a command that does nothing ended with {ending}"


def make_layer(folder: Path) -> Layer:
    """Return an empty layer in a folder.

    Raises:
        OSError: It cannot be made.
    """
    layer = Layer(str(folder / "changes"), str(folder / "work"))
    for path in (layer.changes, layer.work):
        os.mkdir(path)
    return layer
