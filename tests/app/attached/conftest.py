"""A scripted model for what is attached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def say(model: Any) -> Callable[..., None]:
    """Add answers of the model."""

    def add(*answers: str) -> None:
        for answer in answers:
            model.reply(*model.said({"type": "text", "text": answer}))

    return add
