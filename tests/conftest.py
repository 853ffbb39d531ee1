"""How much the property tests try: `HYPOTHESIS_PROFILE=slow` for a long search, `few` for a look.

No test, and no program that a test starts, sees the keyring of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from amplifier_testing.servers.serving.recording import RecordingServer

# No deadline: a busy machine is not a slow parser.
settings.register_profile("fast", deadline=None)
settings.register_profile("few", deadline=None, max_examples=25)
settings.register_profile("slow", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"


@pytest.fixture
def http_server() -> Iterator[RecordingServer]:
    """A server that sends what the test says, and records what it is sent."""
    from amplifier_testing.servers.serving.recording import RecordingServer

    with RecordingServer() as server:
        yield server
