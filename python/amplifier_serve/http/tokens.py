"""Bearer tokens of owners: a file has their hashes, and nobody can read them back."""

from __future__ import annotations

import base64
import hmac
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from amplifier_core import world
from amplifier_modules.running.user_folders import need_state_folder
from amplifier_providers.limits.shared_file import MAX_BYTES, SharedFile

_PREFIX = "amp_"
_TOKEN_BYTES = 32
_ID_BYTES = 4
_MAX_OWNER_CHARS = 100
_UNREAD = -1, -1
"""The stamp of a file that is to be read again."""


class TokenFileError(RuntimeError):
    """The file of tokens cannot be used."""


@dataclass(frozen=True, slots=True)
class KnownToken:
    """What is kept of a token."""

    id: str
    """By which it is removed."""
    owner: str
    hash: str
    """SHA-256 of it: it is random, so that no slower hash is needed."""
    added: float
    """When it was made, in seconds since the epoch."""


class TokenFile:
    """The tokens of a server; it is read again when it has changed.

    Args:
        path: Its place, such as `find_token_file` returns; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = SharedFile(str(path), "the tokens")
        self._known: list[KnownToken] = []
        self._stamp: tuple[int, int] | None = _UNREAD

    def add(self, owner: str) -> tuple[str, KnownToken]:
        """Make a token; return it, which nobody can find out later, and what is kept of it.

        Raises:
            ValueError: The owner is empty, too long or has characters that cannot be shown.
            TokenFileError: The file cannot be written.
        """
        if not owner.strip() or not owner.isprintable() or len(owner) > _MAX_OWNER_CHARS:
            raise ValueError(
                f"the owner is `{owner!r}` (must be 1 to {_MAX_OWNER_CHARS} printable characters)"
            )
        random = base64.urlsafe_b64encode(world.random_bytes(_TOKEN_BYTES)).rstrip(b"=")
        token = f"{_PREFIX}{random.decode()}"
        id = world.random_bytes(_ID_BYTES).hex()
        known = KnownToken(id, owner, _hash_token(token), world.time())
        self._change(lambda before: [*before, known])
        if known not in self.list_tokens():
            raise TokenFileError(f"the token file `{self.path}` cannot be written")
        return token, known

    def remove(self, name: str) -> list[KnownToken]:
        """Remove the token with an id, or all of an owner; return them.

        Raises:
            LookupError: There is none.
            TokenFileError: The file cannot be written.
        """
        removed = [each for each in self.list_tokens() if name in (each.id, each.owner)]
        if not removed:
            raise LookupError(f"no token has the id or the owner `{name}`")
        ids = {each.id for each in removed}
        self._change(lambda before: [each for each in before if each.id not in ids])
        if any(each.id in ids for each in self.list_tokens()):
            raise TokenFileError(f"the token file `{self.path}` cannot be written")
        return removed

    def list_tokens(self) -> list[KnownToken]:
        """Return what is known of all tokens, the oldest first.

        Raises:
            TokenFileError: The file cannot be read, or others can read it.
        """
        stamp = self._check()
        if stamp != self._stamp:
            self._known, self._stamp = _read(self._file.read(), self.path), stamp
        return list(self._known)

    def find_owner(self, token: str) -> str | None:
        """Return whose token it is; None if nobody's.

        Raises:
            TokenFileError: As for `list_tokens`.
        """
        given, found = _hash_token(token), None
        for each in self.list_tokens():
            # All of them, so that the time says nothing about which one is alike.
            if hmac.compare_digest(each.hash, given):
                found = each.owner
        return found

    def _check(self) -> tuple[int, int] | None:
        try:
            facts = os.lstat(self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            message = f"the token file `{self.path}` cannot be read: {error.strerror}"
            raise TokenFileError(message) from error
        if not stat.S_ISREG(facts.st_mode):
            raise TokenFileError(f"the token file `{self.path}` is no plain file")
        if os.name != "nt" and facts.st_mode & 0o077:
            raise TokenFileError(
                f"the token file `{self.path}` can be read by others (must have mode 600)"
            )
        if facts.st_size > MAX_BYTES:
            raise TokenFileError(f"the token file `{self.path}` is larger than {MAX_BYTES} bytes")
        return facts.st_mtime_ns, facts.st_ino

    def _change(self, change: Callable[[list[KnownToken]], list[KnownToken]]) -> None:
        self._check()

        def write(before: bytes) -> bytes:
            tokens = change(_read(before, self.path))
            return json.dumps({"tokens": [asdict(each) for each in tokens]}, indent=1).encode()

        self._file.change(write)
        self._stamp = _UNREAD


class OneToken:
    """A token of a single run of a server, for the user who has started it."""

    def __init__(self, owner: str) -> None:
        """Make the token of an owner."""
        random = base64.urlsafe_b64encode(world.random_bytes(_TOKEN_BYTES)).rstrip(b"=")
        self.token = f"{_PREFIX}{random.decode()}"
        self._owner = owner

    def find_owner(self, token: str) -> str | None:
        """Return whose token it is; None if nobody's."""
        return (
            self._owner
            if hmac.compare_digest(_hash_token(self.token), _hash_token(token))
            else None
        )


def find_token_file(environment: Mapping[str, str]) -> Path:
    """Return the usual place of the file, in the state folder of the user."""
    return need_state_folder(environment) / "serve" / "tokens.json"


def _hash_token(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(content: bytes, path: Path) -> list[KnownToken]:
    if not content:
        return []
    try:
        return [KnownToken(**each) for each in json.loads(content)["tokens"]]
    except (ValueError, TypeError, KeyError) as error:
        raise TokenFileError(f"the token file `{path}` is damaged: {error}") from error
