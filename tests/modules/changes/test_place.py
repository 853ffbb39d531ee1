"""Where changes are kept beside a project: only where nobody else could put something.

Holds: sandbox-99
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_modules.changes.place import choose_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts are read as on Linux")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


@pytest.fixture
def beside(project: Path) -> Path:
    return project.parent / ".amplifier-changes"


def choose(project: Path) -> Path | None:
    """Choose a folder for a project in which the usual one lies."""
    return choose_folder(project, project / "state")


def test_a_new_one_is_closed_to_others(project: Path, beside: Path) -> None:
    assert choose(project) == beside
    assert beside.stat().st_mode & 0o777 == 0o700
    assert choose(project) == beside


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o702])
def test_one_that_others_may_write_is_not_used(mode: int, project: Path, beside: Path) -> None:
    beside.mkdir()
    beside.chmod(mode)
    assert choose(project) is None


def test_a_link_is_not_used(project: Path, beside: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    beside.symlink_to(tmp_path / "other")
    assert choose(project) is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only the superuser gives away")
def test_one_of_somebody_else_is_not_used(project: Path, beside: Path) -> None:
    beside.mkdir(mode=0o700)
    os.chown(beside, 12_345, 12_345)
    assert choose(project) is None
