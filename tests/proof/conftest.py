"""Proofs that take minutes: `make prove` runs them, `make test` does not."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
