"""Whether the package `keyring` can find a keyring here, without importing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_GROUP = "[keyring.backends]"
_OF_THE_BUS = frozenset({"KWallet", "SecretService", "chainer", "libsecret"})
"""The backends of `keyring` that ask a keyring over the session bus, or pass on to those that do."""
_ELSEWHERE = frozenset({"Windows", "macOS"})
"""Those of other systems."""
_UNKNOWN = "unknown"
"""Stands for backends that cannot be listed."""
_BUS_VARIABLES = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")
"""What says that there is a session bus, or lets a library start one."""


def can_have_keyring(environment: Mapping[str, str]) -> bool:
    """Whether a keyring may be there.

    It is false only where that is certain: on Linux without a session bus, such as on a server or in
    a container, where nobody has chosen or installed another backend. To import `keyring` and all
    of its backends costs more than all else that the command does until it says who answers.

    Args:
        environment: The environment variables.
    """
    if sys.platform != "linux" or environment.get("PYTHON_KEYRING_BACKEND") is not None:
        return True
    if any(environment.get(name) for name in _BUS_VARIABLES):
        return True
    folders = [environment.get("XDG_RUNTIME_DIR"), f"/run/user/{os.getuid()}"]
    if any(folder and os.path.exists(f"{folder}/bus") for folder in folders):
        return True
    return _is_configured(environment) or not _find_backends() <= _OF_THE_BUS | _ELSEWHERE


def _is_configured(environment: Mapping[str, str]) -> bool:
    """Whether there is a file in which the user may have chosen a backend."""
    try:
        folder = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    except RuntimeError:
        return True  # without a home, `keyring` itself says what is wrong
    return os.path.lexists(f"{folder}/python_keyring/keyringrc.cfg")


def _find_backends() -> set[str]:
    """Return the names of the installed backends; another name where they cannot all be found."""
    # A finder of somebody else may know of packages that no folder of the path has.
    finders = [each for each in sys.meta_path if hasattr(each, "find_distributions")]
    if len(finders) != 1:
        return {_UNKNOWN}
    found: set[str] = set()
    for folder in sys.path:
        found.update(_find_backends_in(folder))
    return found


def _find_backends_in(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder or ".")
    except FileNotFoundError:
        return
    except OSError:
        yield _UNKNOWN  # an archive, or a folder that cannot be read
        return
    for name in names:
        # Also `EGG-INFO`, which an egg on the path has.
        if name.lower().endswith(("dist-info", "egg-info")):
            yield from _read_backends(os.path.join(folder, name, "entry_points.txt"))


def _read_backends(path: str) -> Iterator[str]:
    is_of_group = False
    try:
        with open(path, encoding="utf-8") as file:
            for row in map(str.strip, file):
                if row.startswith("["):
                    is_of_group = row == _GROUP
                elif is_of_group and "=" in row:
                    yield row.partition("=")[0].strip()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError):
        yield _UNKNOWN
