"""The address of a server, in all forms that Ollama itself reads from `OLLAMA_HOST`."""

from __future__ import annotations

from ..services import OLLAMA
from ..wire.settings import base_url

LOCAL = OLLAMA.base_url
"""Where a server is that nobody set up in another way."""

_PORTS = {"http": "80", "https": "443"}
_USUAL_PORT = "11434"
_CLOUD = "ollama.com"
# Addresses on which a server listens everywhere; a client reaches it on the loopback.
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
_PATHS = ("/v1", "/api")


def server_address(text: str) -> str:
    """Return the address of a server as `http://host:port`.

    It may be a host, a host and a port, `:port`, or a whole address; without a scheme the port is
    11434. Quotes, a slash at the end and the paths of the two APIs are left out.

    Raises:
        ValueError: It has none of these forms.
    """
    given = text.strip().strip("\"'").strip()
    scheme, has_scheme, rest = given.partition("://")
    if not has_scheme:
        scheme, rest = ("https" if given.rstrip("/") == _CLOUD else "http"), given
    scheme = scheme.lower()
    if scheme not in _PORTS:
        raise ValueError
    place, _, path = rest.partition("/")
    account, at, place = place.rpartition("@")
    host, port = _host_and_port(place)
    usual = _PORTS[scheme] if has_scheme or scheme == "https" else _USUAL_PORT
    port = port or usual
    if not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError
    host = _EVERYWHERE.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    path = f"/{path}".rstrip("/")
    for known in _PATHS:
        path = path.removesuffix(known)
    is_usual = int(port) == int(_PORTS[scheme])
    return base_url(f"{scheme}://{account}{at}{shown}{'' if is_usual else f':{int(port)}'}{path}")


def _host_and_port(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        if rest and not rest.startswith(":"):
            raise ValueError
        return host, rest.removeprefix(":")
    if place.count(":") > 1:  # an address of version 6 without brackets
        return place, ""
    host, _, port = place.partition(":")
    return host, port
