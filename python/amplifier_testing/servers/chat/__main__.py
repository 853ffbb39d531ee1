"""Serves Chat Completions by hand: `python -m amplifier_testing.servers.chat`."""

from __future__ import annotations

from ..serving._program import run_server
from . import ChatServer

if __name__ == "__main__":
    run_server(ChatServer)
