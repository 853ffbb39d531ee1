"""Proofs that take minutes: `make prove` runs them, `make test` does not."""

from __future__ import annotations

import os

import pytest

collect_ignore_glob = [] if os.environ.get("PROVE") else ["test_*.py"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
