"""A project whose states are kept, and how it is looked at."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from amplifier_modules.changes.tracked import TrackedTree

State = dict[str, tuple[str, bytes]]
"""Each path with its mode or `link`, and with its content or where it leads."""


@dataclass
class TrackedProject:
    """A project and its store."""

    root: Path
    store: Path
    tree: TrackedTree

    def write(self, **files: str | bytes) -> None:
        """Write files; `a__b` stands for `a/b`."""
        for name, content in files.items():
            self.write_at(name.replace("__", "/"), content)

    def write_at(self, path: str, content: str | bytes) -> None:
        """Write one file, and make the folders that it needs."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def read(self) -> State:
        """Return what is in the project, without `.git` and folders."""
        return read_state(self.root)

    def list_stored(self) -> bytes:
        """Return every object of the store."""
        return run_git(self.store / "git", "cat-file", "--batch", "--batch-all-objects")


def open_project(folder: Path) -> TrackedProject:
    """Return an empty project in a folder."""
    root, store = folder / "project", folder / "store"
    root.mkdir(parents=True)
    return TrackedProject(root, store, TrackedTree(str(root), str(store)))


def read_state(root: Path) -> State:
    """Return the files and links in a folder."""
    found: State = {}
    for folder, folders, files in os.walk(root):
        for name in (*files, *folders):
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            if ".git" in path.parts:
                continue
            if path.is_symlink():
                found[key] = ("link", os.fsencode(os.readlink(path)))
            elif path.is_file():
                mode = f"{path.stat().st_mode & 0o777:o}"
                found[key] = (mode, path.read_bytes())
    return found


def run_git(folder: Path, *arguments: str, content: bytes = b"") -> bytes:
    """Run git in a folder, as a user without settings would."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@localhost",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@localhost",
    }
    ended = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        input=content,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return ended.stdout
