"""The variables that commands get: what programs need, and no secrets."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from amplifier_guard.shell import child_environment

_PASSED = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TZ",
    "USER",
    # Where toolchains, environments and certificates are.
    "ANDROID_HOME",
    "CARGO_HOME",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CURL_CA_BUNDLE",
    "DOTNET_ROOT",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NODE_EXTRA_CA_CERTS",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""Names of variables that hold no secrets."""

_PASSED_ON_WINDOWS = (
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
)
"""Further ones there, without which programs do not start or find their files."""

_FIXED = {
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    # Else the output of a program that is ended is lost, and what it prints to both streams is out
    # of order: a pipe is written in large pieces.
    "PYTHONUNBUFFERED": "1",
    "TERM": "dumb",
}
"""There is nobody to answer, and no terminal."""

_FIXED_ON_WINDOWS = {
    # What commands write is read as UTF-8.
    "PYTHONIOENCODING": "utf-8",
}

_CACHES = {
    "BUN_INSTALL_CACHE_DIR": "bun",
    "CCACHE_DIR": "ccache",
    "COMPOSER_CACHE_DIR": "composer",
    "DENO_DIR": "deno",
    "GOCACHE": "go-build",
    "PIP_CACHE_DIR": "pip",
    "SCCACHE_DIR": "sccache",
    "UV_CACHE_DIR": "uv",
    "XDG_CACHE_HOME": "",
    "YARN_CACHE_FOLDER": "yarn",
    "npm_config_cache": "npm",
}
"""Caches by the variables that programs find them by: folders in the one of the project."""


def find_caches(project: Path) -> Path:
    """Return the folder for the caches of a project.

    A cache that commands of one project write is never read by those of another, nor by the user's
    own programs.
    """
    from platformdirs import user_cache_path

    digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:32]
    return user_cache_path("amplifier-core", appauthor=False) / "projects" / digest


def build_environment(
    ours: Mapping[str, str],
    temporary: Path,
    caches: Path,
    *,
    added: Mapping[str, str] | None = None,
    passed: Iterable[str] = (),
    platform: str = sys.platform,
) -> dict[str, str]:
    """Return all variables of a command.

    Args:
        ours: Those of this process.
        temporary: The folder for temporary files.
        caches: The folder for caches.
        added: Variables that it has in addition, or instead.
        passed: Names of variables of ours that it has too.
        platform: The system, by its name in `sys.platform`.

    Raises:
        ValueError: A name to pass would pass all.
    """
    is_windows = platform == "win32"
    names = [*_PASSED, *(_PASSED_ON_WINDOWS if is_windows else ()), *passed]
    found = {"PATH": os.defpath, **child_environment(ours, names), **_FIXED}
    found |= {name: str(caches / folder) for name, folder in _CACHES.items()}
    if is_windows:
        found |= _FIXED_ON_WINDOWS
    temporary_names = ("TMPDIR", "TEMP", "TMP") if is_windows else ("TMPDIR",)
    found |= dict.fromkeys(temporary_names, str(temporary))
    return found | dict(added or {})
