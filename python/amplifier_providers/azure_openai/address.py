"""Addresses of Azure: that of the API with a version in its path, and that of one deployment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

from ..wire.settings import base_url

_DEPLOYMENT = re.compile(r"(?P<base>.*/openai/deployments/(?P<name>[^/]+))(?:/[^?]*)?")
_VERSIONED = re.compile(r"(?P<base>.*/openai/v\d+)(?:/[^?]*)?")
_UNVERSIONED = re.compile(r"(?P<base>.*?)(?:/openai(?:/responses)?)?")


@dataclass(frozen=True)
class Place:
    """Where requests go."""

    base_url: str
    deployment: str | None = None
    """The deployment that the address names: it speaks Chat Completions. Without one the address
    ends with a version, and speaks Responses."""
    api_version: str | None = None
    """The version that the query of the address names."""

    @property
    def speaks_responses(self) -> bool:
        """Whether it is an address of the Responses API."""
        return self.deployment is None


def place_of(address: str) -> Place:
    """Return where requests for an address go.

    An address of a resource or of a gateway before it gets the path of the versioned API.

    Raises:
        ValueError: It is no address of HTTP, or has a query besides the version.
    """
    path, _, query = address.strip().partition("?")
    fields = parse_qs(query, strict_parsing=bool(query))
    version = fields.pop("api-version", [None])[-1]
    if fields:
        raise ValueError
    url = base_url(path)
    if found := _DEPLOYMENT.fullmatch(url):
        return Place(found["base"], unquote(found["name"]), version)
    if found := _VERSIONED.fullmatch(url):
        return Place(found["base"], api_version=version)
    found = _UNVERSIONED.fullmatch(url)
    return Place(f"{found['base'] if found else url}/openai/v1", api_version=version)
