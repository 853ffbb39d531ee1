"""The package `keyring` is imported unless it is certain that it would find no keyring."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from amplifier_app.late_imports.keyring_presence import can_have_keyring

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is always there")

OWN = """[console_scripts]
keyring = keyring.cli:main

[keyring.backends]
SecretService = keyring.backends.SecretService
chainer = keyring.backends.chainer
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """A server: no session bus, no file of the user, and `keyring` as it comes."""
    monkeypatch.setattr(os, "getuid", lambda: 2**31)
    install(tmp_path, "keyring-25.7.0.dist-info", OWN)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages"), str(tmp_path / "no_folder")])
    finders = [each for each in sys.meta_path if hasattr(each, "find_distributions")]
    assert len(finders) == 1
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_RUNTIME_DIR": str(tmp_path)}


def install(folder: Path, name: str, entry_points: str) -> None:
    place = folder / "packages" / name
    place.mkdir(parents=True)
    (place / "entry_points.txt").write_text(entry_points)


# Holds: command-142
def test_a_server_has_no_keyring(environment: Mapping[str, str]) -> None:
    assert not can_have_keyring(environment)


@pytest.mark.parametrize(
    "name",
    ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "PYTHON_KEYRING_BACKEND"],
)
def test_a_variable_can_name_one(environment: Mapping[str, str], name: str) -> None:
    assert can_have_keyring({**environment, name: "something"})


def test_the_session_bus_has_a_usual_place(environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "bus").touch()
    assert can_have_keyring(environment)


def test_the_user_can_choose_one_in_a_file(environment: Mapping[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config" / "python_keyring" / "keyringrc.cfg"
    file.parent.mkdir(parents=True)
    file.touch()
    assert can_have_keyring(environment)


@pytest.mark.parametrize("name", ["other-1.dist-info", "other-1.egg-info", "EGG-INFO"])
def test_another_package_can_bring_one(
    environment: Mapping[str, str], tmp_path: Path, name: str
) -> None:
    install(tmp_path, name, "[other]\na = b\n[keyring.backends]\nfile = other.file\n")
    assert can_have_keyring(environment)


def test_other_entry_points_of_a_package_are_none(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    install(tmp_path, "other-1.dist-info", "[keyring.backends]\n[other]\nfile = other.file\n")
    assert not can_have_keyring(environment)


def test_where_packages_cannot_be_listed_there_may_be_one(
    environment: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "packages.zip"
    archive.touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert can_have_keyring(environment)


def test_another_finder_may_know_of_one(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finder:
        find_distributions = find_spec = None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert can_have_keyring(environment)


def test_on_another_system_there_may_be_one(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert can_have_keyring(environment)
