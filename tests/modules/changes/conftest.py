"""What the tests of changes share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest
from both_versions import Both
from kept_session import place
from overlay import project

__all__ = ["place", "project"]


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)
