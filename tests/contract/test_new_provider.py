"""What must be known of a service stands in one table; the guide for a new one lists every file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from amplifier_providers.services import CHAT_SERVICES, SERVICES, KnownService

CHECKOUT = Path(__file__).resolve().parents[2]
GUIDE = (CHECKOUT / "docs" / "development.md").read_text()
NEW_PROVIDER = GUIDE.partition("### A new provider")[2].partition("### ")[0]
TABLE = "python/amplifier_providers/services.py"
MENTIONS = {
    "python/amplifier_agent/model_names.py",  # says whose name a model has
    "python/amplifier_providers/prices/pricing.py",  # one service says what it charged
}
"""Files that name a service of Chat Completions for a reason of their own."""


@cache
def sources() -> dict[str, str]:
    """The files of the product and their texts."""
    return {
        path.relative_to(CHECKOUT).as_posix(): path.read_text()
        for path in (CHECKOUT / "python").rglob("*.py")
        if "amplifier_testing" not in path.parts
    }


def sources_with(text: str) -> set[str]:
    """The files of the product that hold a text."""
    return {file for file, source in sources().items() if text in source}


def test_the_guide_lists_at_most_twelve_files_and_all_of_them_exist() -> None:
    named = set(re.findall(r"`([\w.-]+(?:/[\w.-]+)+|[A-Z]+\.md)`", NEW_PROVIDER))

    assert len(named) <= 12
    assert [file for file in named if not (CHECKOUT / file).exists()] == []


@pytest.mark.parametrize("service", CHAT_SERVICES.values(), ids=CHAT_SERVICES)
def test_a_chat_service_is_known_to_the_files_of_the_guide_alone(service: KnownService) -> None:
    places = {TABLE, "python/amplifier_providers/openai_chat/presets.py"}
    module = service.module.replace(".", "/")

    assert sources_with(f'"{service.name}"') <= {*places, f"python/{module}.py"} | MENTIONS


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
def test_an_address_and_a_key_stand_in_the_table_alone(service: KnownService) -> None:
    texts = [f'"{text}"' for text in (service.key_variable, service.base_url) if text]

    assert [text for text in texts if sources_with(text) != {TABLE}] == []
