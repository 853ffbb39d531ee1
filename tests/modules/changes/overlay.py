"""Commands on a real overlay of a project, as the sandbox runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from amplifier_modules.changes.change import Change, find_changes_support

OPTIONS = "lowerdir={project},upperdir={layer},workdir={work},userxattr,volatile"
SCRIPT = 'mount -t overlay overlay -o "$1" "$2" && cd "$2" && eval "$3"'


def run_on_overlay(change: Change, project: Path, command: str) -> None:
    """Run a command of the shell on an overlay of the project."""
    options = OPTIONS.format(project=project, layer=change.layer, work=change.work)
    arguments = ["unshare", "-Urm", "sh", "-ec", SCRIPT, "sh", options, str(project), command]
    subprocess.run(arguments, check=True, stdin=subprocess.DEVNULL)


@cache
def find_obstacle() -> str | None:
    """Return why no overlay can be mounted here; None if one can."""
    if not find_changes_support():
        return "changes can be kept only on Linux, with the extension"
    if shutil.which("unshare") is None:
        return "there is no `unshare`"
    with TemporaryDirectory() as folder:
        project = Path(folder, "project")
        project.mkdir()
        change = Change.begin(str(project), os.path.join(folder, "change"))
        try:
            run_on_overlay(change, project, "touch file")
        except subprocess.CalledProcessError:
            return "no overlay can be mounted here"
        finally:
            change.remove()
    return None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a few files, where an overlay can be mounted."""
    if (obstacle := find_obstacle()) is not None:
        pytest.skip(obstacle)
    project = tmp_path / "project"
    for name in ("kept", "modified", "deleted", "old/a/b", "merged/gone", "merged/stays"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    os.setxattr(project / "modified", "user.mine", b"1")
    (project / "modified").chmod(0o751)
    for path in (project / "merged", project / "old", project):
        os.utime(path, ns=(0, 1_000_000_000_123_456_789))
    return project


Look = dict[str, tuple[object, ...]]


def look(folder: Path) -> Look:
    """Return all that is seen of a folder: types, modes, owners, times, contents, attributes."""
    found: Look = {}
    paths = [folder]
    while paths:
        path = paths.pop()
        stat = path.lstat()
        content: bytes | str | None = None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_dir():
            paths.extend(path.iterdir())
        else:
            content = path.read_bytes()
        names = sorted(os.listxattr(path, follow_symlinks=False))
        attributes = [(each, os.getxattr(path, each, follow_symlinks=False)) for each in names]
        owner = (stat.st_uid, stat.st_gid)
        name = str(path.relative_to(folder))
        found[name] = (stat.st_mode, owner, stat.st_mtime_ns, content, attributes)
    return found
