"""The small provider lies beside its tests.

Where an answer is cut or split, and what is in a history, is no matter of the event loop: of our providers one
is tried with all of it under trio, too, and in `make prove` all of them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

OF_NO_LOOP = {
    "test_an_answer_cut_off_at_any_byte_is_never_a_response",
    "test_an_answer_split_at_any_byte_is_the_same",
    "test_no_history_is_refused",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another test proves of the same provider."""
    repeated = [each for each in items if _is_repeated(each)]
    if repeated and not os.environ.get("PROVE"):
        left_out = set(map(id, repeated))
        config.hook.pytest_deselected(items=repeated)
        items[:] = [each for each in items if id(each) not in left_out]


def _is_repeated(item: pytest.Item) -> bool:
    return (
        isinstance(item, pytest.Function)
        and item.path.name == "test_provider_kit_ours.py"
        and item.originalname in OF_NO_LOOP
        and item.cls.__name__ != "TestAnthropic"
        and item.callspec.params.get("backend") == "trio"
    )
