"""What comes back from the browser: the redirect that ends a person's part of a login."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import parse_qs, urlsplit

from amplifier_guard import TerminalText

from .login_errors import LoginError

_MAX_CHARS = 16_384
_CODE = re.compile(r"[\x21-\x7e]{1,4096}")


@dataclass(frozen=True)
class Redirect:
    """The answer of an authorization server."""

    code: str
    state: str
    issuer: str | None = None


def find_state(authorization_url: str) -> str:
    """Return the `state` of the address that a person opens."""
    return _read_query(urlsplit(authorization_url).query).get("state", "")


def read_redirect(target: str, state: str) -> Redirect | None:
    """Return the answer that an address holds; None if it belongs to no login, or to another one.

    Raises:
        LoginError: The authorization server has refused, or sends no code.
    """
    try:
        values = _read_query(urlsplit(target).query)
    except ValueError:
        return None
    if not compare_digest(values.get("state", "").encode(), state.encode()):
        return None
    if error := values.get("error"):
        said = ": ".join(filter(None, (error, values.get("error_description"))))
        raise LoginError(f"the login was refused: {TerminalText.line(said, 300)}")
    code = values.get("code", "")
    if not code:
        raise LoginError("the login was refused: the redirect holds no code")
    return Redirect(code, state, values.get("iss"))


def read_pasted(text: str, state: str) -> Redirect:
    """Return the answer that a person pastes: the address that the browser was sent to, or its code.

    Raises:
        LoginError: It is neither, or of another login.
    """
    text = text.strip()
    if "://" in text or "code=" in text or "error=" in text:
        target = text if "?" in text else f"?{text}"
        found = read_redirect(target, state) if len(text) <= _MAX_CHARS else None
        if found is None:
            raise LoginError("what was pasted belongs to another login: its `state` is another")
        return found
    if not _CODE.fullmatch(text):
        raise LoginError("what was pasted is neither an address nor a code")
    return Redirect(text, state)


def _read_query(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query, max_num_fields=50).items()}
