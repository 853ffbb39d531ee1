"""Settings of the tool of web pages."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from amplifier_modules.hooks.approval.domains import Domain
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, MIN_RESULT_BYTES
from amplifier_providers.settings import Settings


def _check_domain(written: str) -> str:
    Domain.read(written)
    return written


class WebSettings(Settings):
    """Which pages are read, and how much of them."""

    unknown_keys = "refuse"

    domains: list[Annotated[str, AfterValidator(_check_domain)]] = Field(default_factory=list[str])
    """Hosts that nobody is asked about: `docs.python.org`, or `*.example.com` for all beneath one."""
    web_search: bool = False
    """Whether the model may search by the service that it runs at."""
    timeout: float = Field(default=30.0, gt=0, le=600)
    """Seconds that an address may take, redirects included."""
    max_bytes: int = Field(default=5 * 2**20, ge=1024, le=64 * 2**20)
    """Bytes of an answer, unpacked."""
    max_result_bytes: int = Field(default=MAX_RESULT_BYTES, ge=MIN_RESULT_BYTES)
    """Bytes of a result, at most; a page can be read on from there."""
    ports: list[Annotated[int, Field(ge=1, le=65535)]] = Field(default=[80, 443], min_length=1)
    """The ports of addresses."""
    private_addresses: bool = False
    """Whether hosts may be this machine, or in a private network."""
