"""The logins of a user: the secrets in the keyring, or all of them in files that nobody else may read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread

from amplifier_core import world
from amplifier_modules.running.user_folders import need_state_folder
from amplifier_providers.limits.shared_file import lock

from .login import Login, find_server_key, read_login
from .token_keyring import keep_in_keyring, read_from_keyring, remove_from_keyring

_VERSION = 1
_MAX_FILE_BYTES = 2**20
_LOCK_SECONDS = 60.0
_TRY_SECONDS = 0.02
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class LoginStore:
    """Keeps one login a server, by the address of the server."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in a folder; by default in that of the user's states."""
        self._folder = folder

    async def find_login(self, url: str) -> Login | None:
        """Return the login to a server; None if there is none.

        Raises:
            OSError: The file or the keyring cannot be read.
        """
        written = await anyio.to_thread.run_sync(_read_file, self._find_path(url))
        if written is None or written.get("version") != _VERSION:
            return None
        secrets = written.get("secrets")
        if secrets is None:  # they are in the keyring
            text = await read_from_keyring(_name_secrets(url))
            secrets = _read_json(text or "")
        about = written.get("login")
        if not isinstance(about, dict) or not isinstance(secrets, dict):
            return None
        return read_login(cast("dict[str, Any]", about), cast("dict[str, Any]", secrets))

    async def keep_login(self, login: Login) -> bool:
        """Keep a login in the place of another; return whether its secrets are in the keyring.

        Raises:
            OSError: It cannot be written.
        """
        # The keyring first: a file that says that they are there is never without them.
        is_in_keyring = await keep_in_keyring(_name_secrets(login.url), json.dumps(login.secrets))
        written: dict[str, Any] = {"version": _VERSION, "login": login.describe()}
        if not is_in_keyring:
            written["secrets"] = login.secrets
        path = self._find_path(login.url)
        await anyio.to_thread.run_sync(_write_file, path, json.dumps(written))
        return is_in_keyring

    async def remove_login(self, url: str) -> bool:
        """Remove the login to a server; return whether there was one.

        Raises:
            OSError: It cannot be removed.
        """
        path = self._find_path(url)
        written = await anyio.to_thread.run_sync(_read_file, path)
        if written is None:
            return False
        if "secrets" not in written:
            await remove_from_keyring(_name_secrets(url))
        await anyio.to_thread.run_sync(path.unlink)
        return True

    @asynccontextmanager
    async def hold_lock(self, url: str) -> AsyncGenerator[None]:
        """Be the only one, of all processes of the user, who changes the login to a server.

        Raises:
            TimeoutError: Another process is at it for too long.
        """
        path = self._find_path(url).with_suffix(".lock")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        try:
            end = world.monotonic() + _LOCK_SECONDS
            while not lock(descriptor):
                if world.monotonic() >= end:
                    raise TimeoutError(f"another process uses the login for {_LOCK_SECONDS:g} s")
                await world.sleep(_TRY_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def _find_path(self, url: str) -> Path:
        if self._folder is None:
            self._folder = need_state_folder(os.environ) / "mcp-logins"
        return self._folder / f"{_digest_address(url)}.json"


def _name_secrets(url: str) -> str:
    """Return what the keyring knows the secrets by."""
    return f"mcp:{_digest_address(url)}"


def _digest_address(url: str) -> str:
    return hashlib.sha256(find_server_key(url).encode("utf-8", "surrogatepass")).hexdigest()


def _read_file(path: Path) -> dict[str, Any] | None:
    """Return what a file of this user holds; None without one, or if it is not one of ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        is_own = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
        if not stat.S_ISREG(about.st_mode) or not is_own:
            raise OSError(0, "it is no file of this user", str(path))
        content = file.read(_MAX_FILE_BYTES + 1)
    return _read_json(content) if len(content) <= _MAX_FILE_BYTES else None


def _read_json(content: str | bytes) -> dict[str, Any] | None:
    try:
        written = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", written) if isinstance(written, dict) else None


def _write_file(path: Path, content: str) -> None:
    """Write a file whole or not at all, such that only its user can read it."""
    temporary = path.with_name(f"{path.name}.{world.random_bytes(8).hex()}.tmp")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            # A refresh token that is used up and one that is lost are a login that is lost.
            os.fsync(descriptor)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
