"""No test of the provider kit stumbles over what a provider returned, whatever that is."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "modules" / "provider_kit"))

from rude_providers import RUDE
from said_of_providers import Kit, said

TESTS = sorted(name for name in dir(Kit) if name.startswith("test_"))

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


# Holds: provider-2
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", list(dict.fromkeys(kind for kind, _, _ in RUDE)))
def test_whatever_a_provider_returns_no_test_stumbles(kind: Any) -> None:
    words = {test: said(test, kind) for test in TESTS}
    gc.collect()  # what they leave open is found here, not in a later test

    assert any(words.values())
