"""What a server has signed or sent, so that it can tell its own from what was changed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets


class Issued:
    """Signs texts with a key of its own, and knows foreign signatures that it has sent.

    Equal secrets sign alike, so a conversation can go on with another server.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        """Sign with `secret`, else with a random key."""
        self._secret = secret or secrets.token_bytes(32)
        self._sent: set[tuple[str, str]] = set()

    def sign(self, text: str) -> str:
        """Return the signature of a text."""
        digest = hmac.digest(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return base64.b64encode(digest).decode()

    def is_signed(self, text: str, signature: str) -> bool:
        """Return whether `signature` is that of exactly this text."""
        return signature == self.sign(text) or (text, signature) in self._sent

    def remember(self, text: str, signature: str) -> None:
        """Take a foreign signature, as of a recorded stream, for one of this server."""
        self._sent.add((text, signature))
