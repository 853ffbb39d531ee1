"""Addresses of services: a key is sent to them, so it must not travel in the clear."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from ..exceptions import ArcLLMConfigError

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


def check_address(name: str, address: object) -> None:
    """Refuse an address of plain HTTP outside of the own network.

    What is no address at all, the provider refuses.

    Raises:
        ArcLLMConfigError: It is one.
    """
    if not isinstance(address, str):
        return
    try:
        parts = urlsplit(address.strip())
        is_plain, host = parts.scheme == "http", parts.hostname
    except ValueError:
        return
    if is_plain and host and not _is_local(host):
        raise ArcLLMConfigError(
            f"`base_url` of `{name}` is plain HTTP to `{host}`, which is not on the own network"
            " (must begin with `https://`)"
        )


def _is_local(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
    return address.is_loopback or address.is_private or address.is_link_local
