"""Each planted fault is found by the kit, by the test that is about it, in words that say what it is."""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faults_of_answers
import faults_of_calls
import faults_of_histories
import faults_of_streams
import faults_of_the_rest
import pytest
from faults_of_chunks import CHUNK_FAULTS
from planted import FAULTS

from amplifier_testing import ProviderKit
from amplifier_testing.servers import AnthropicServer

PLANTED_IN = (
    faults_of_answers, faults_of_calls, faults_of_histories, faults_of_streams, faults_of_the_rest,
)  # fmt: skip
"""Importing them enters their faults."""
ALL = {**FAULTS, **CHUNK_FAULTS}
WITHOUT_BACKEND = {"test_it_has_the_attributes_of_a_provider", "test_it_describes_itself"}

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True, scope="module")
def nothing_left_open() -> Iterator[None]:
    """Free the connections that faults leave open here, not in some later test, which would fail."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def kit_of(provider: Any) -> ProviderKit:
    class Kit(ProviderKit):
        server = AnthropicServer
        stride = 16

        def provider(self, base_url: str, hooks: Any) -> Any:
            return provider(base_url, self.key, hooks)

    return Kit()


@pytest.mark.parametrize("name", ALL)
def test_a_planted_fault_is_found(name: str) -> None:
    fault = ALL[name]
    test = getattr(kit_of(fault.provider), fault.test)
    backend = {} if fault.test in WITHOUT_BACKEND else {"backend": "asyncio"}

    with pytest.raises(AssertionError, match=fault.says):
        test(**fault.arguments, **backend)


def test_every_test_of_the_kit_finds_a_fault() -> None:
    tests = {name for name in dir(ProviderKit) if name.startswith("test_")}

    assert tests - {fault.test for fault in ALL.values()} == set()
    assert len(ALL) >= 20


def test_the_page_of_the_kit_says_what_is_said_of_a_fault() -> None:
    page = Path(__file__).parents[3] / "docs/guide/testing-a-provider.md"
    rows = re.findall(r"^\| (\w[\w -]+) \| (`.+`) \|$", page.read_text(), re.MULTILINE)
    said = {name: re.sub(r"^``? ?| ?`?`$", "", text) for name, text in rows if name in ALL}

    assert len(said) == 5
    for name, text in said.items():
        assert re.search(ALL[name].says, text), name
