"""Changes a project in `FOLDER` while its disk is full, then while its state folder is read-only.

Run in a mount namespace in which `FOLDER` is a small file system of its own: `disk_work.py FOLDER`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from kept_session import Place, list_undone, undo

from amplifier_modules.changes.session_lock import ChangesInUseError


def report(name: str, work: Callable[[], object]) -> None:
    """Print what came of a step."""
    outcome: object
    try:
        outcome = work()
    except (OSError, ChangesInUseError) as error:
        outcome = f"{type(error).__name__}: {error}"
    print(f"{name}: {outcome}".replace(str(folder), "FOLDER"), flush=True)


def fill(path: Path) -> None:
    """Take all that is free."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return


def mount_read_only(path: Path) -> None:
    """Have nobody write in a folder."""
    for options in (["--bind", path, path], ["-o", "remount,ro,bind", path]):
        subprocess.run(["mount", *map(str, options)], check=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    place = Place(folder)
    changes = place.open()
    place.run(changes, {"a": "1"})
    place.run(changes, {"a": "2"})

    changes.begin_turn()
    change = place.begin(changes)
    Path(change.layer[0], "b").write_text("1")
    fill(folder / "ballast")
    report("commit", change.commit)
    fill(folder / "more ballast")
    report("begin", lambda: place.begin(changes))
    changes.end_turn()
    report("undo", lambda: list_undone(undo(changes)))
    report("files", place.read)
    for name in ("ballast", "more ballast"):
        os.unlink(folder / name)
    report("undo", lambda: list_undone(undo(changes)))
    report("run", lambda: place.run(changes, {"c": "1"}))
    report("files", place.read)
    report("notes", place.list_state)

    mount_read_only(place.state)
    report("begin", lambda: place.begin(changes))
    report("list", lambda: [each.number for each in changes.list_changes()])
    report("preview", lambda: list_undone(changes.undo(changes.list_last_turn(), preview=True)))
    report("undo", lambda: list_undone(undo(changes)))
    report("keep", lambda: changes.close(keep=True))
    report("remove", lambda: changes.close(keep=False))
    report("files", place.read)
