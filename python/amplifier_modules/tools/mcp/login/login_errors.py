"""What can go wrong with a login, in words that repeat neither code nor token."""

from __future__ import annotations

import re

from amplifier_modules.tools.mcp.server_errors import ServerError, describe_problem

_STATUS = re.compile(r"\((\d{3})\)|: (\d{3})\b")
_CODE = re.compile(r'"error"\s*:\s*"([A-Za-z0-9_.-]{1,64})"')


class LoginError(ServerError):
    """A login that has failed."""


class LoginEndedError(LoginError):
    """The authorization server renews a login no more: a person has to log in again."""


def describe_flow_error(error: BaseException) -> str:
    """Return why the steps of a login failed, in one line."""
    from mcp.client.auth import OAuthRegistrationError, OAuthTokenError

    if isinstance(error, OAuthRegistrationError | OAuthTokenError):
        # The SDK repeats the whole answer, and that may repeat what it was sent.
        text = str(error)
        status = next(
            (each for found in _STATUS.finditer(text) for each in found.groups() if each), ""
        )
        code = _CODE.search(text)
        said = " ".join(filter(None, (f"HTTP {status}" if status else "", code[1] if code else "")))
        what = (
            "registers no client" if isinstance(error, OAuthRegistrationError) else "gives no token"
        )
        return f"the authorization server {what}" + (f": {said}" if said else "")
    return describe_problem(error)
