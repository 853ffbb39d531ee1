"""Servers that their users run themselves."""

from __future__ import annotations

from urllib.parse import urlsplit

OWN_SERVERS = frozenset({"ollama", "vllm", "lm-studio", "llama-cpp", "huggingface-tgi"})
"""The names of their services."""


def is_here(service: str, url: str) -> bool:
    """Whether a service is a server of the user's own, on this machine."""
    host = urlsplit(url).hostname or ""
    return service in OWN_SERVERS and (host in {"localhost", "::1"} or host.startswith("127."))
