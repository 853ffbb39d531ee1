"""Serves Chat Completions by hand: `python -m amplifier_testing.servers.chat`."""

from __future__ import annotations

from ..serving.by_hand import serve
from . import ChatServer

if __name__ == "__main__":
    serve(ChatServer)
