"""Whatever a provider returns, each test of the kit passes, is skipped, or says what is wrong."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from rude_providers import RUDE, Changed
from said_of_providers import said

from amplifier_core.message_models import ChatResponse

WITH_CALLS = [
    "test_a_conversation_of_many_turns_goes_on",
    "test_a_result_follows_its_call",
    "test_calls_of_one_answer_stay_apart_and_in_order",
    "test_calls_without_a_result_do_no_harm",
    "test_names_of_tools_come_back_as_they_were",
    "test_results_of_calls_at_once_go_back_to_their_calls",
    "test_the_answer_is_what_the_service_said",
]

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True, scope="module")
def nothing_left_open() -> Iterator[None]:
    """Free the connections that these providers leave open here, not in some later test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


# Holds: provider-2
@pytest.mark.parametrize(("kind", "test", "says"), RUDE)
def test_what_was_returned_wrongly_is_said_and_what_would_be_right(
    kind: Any, test: str, says: str
) -> None:
    text = said(test, kind)

    assert text is not None
    assert says in text


class InContentAlone(Changed):
    """Has its calls in the content alone, as the guide says."""

    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"tool_calls": None}


@pytest.mark.parametrize("test", WITH_CALLS)
def test_calls_in_the_content_alone_are_calls(test: str) -> None:
    assert said(test, InContentAlone) is None
