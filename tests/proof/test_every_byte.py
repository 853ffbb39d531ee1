"""The streams of our providers, cut at every byte under both event loops, and thousands of histories."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "modules" / "provider_kit"))

from our_kits import KITS, OurKit

HISTORIES = 2_000
EVERY = 1_000_000

every_provider = pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.__name__)
both_loops = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def thorough(kit: type[OurKit], backend: str) -> OurKit:
    found = kit()
    found.stride, found.backends = 1, (backend,)
    found.pieces, found.histories = EVERY, HISTORIES
    return found


@pytest.mark.timeout(900)
@both_loops
@every_provider
def test_an_answer_cut_off_at_any_byte_is_never_a_response(kit: type[OurKit], backend: str) -> None:
    thorough(kit, backend).test_an_answer_cut_off_at_any_byte_is_never_a_response(backend)


@pytest.mark.timeout(900)
@both_loops
@every_provider
def test_an_answer_in_pieces_of_any_size_is_the_same(kit: type[OurKit], backend: str) -> None:
    thorough(kit, backend).test_an_answer_split_at_any_byte_is_the_same(backend)


@pytest.mark.timeout(900)
@both_loops
@every_provider
def test_no_history_is_refused(kit: type[OurKit], backend: str) -> None:
    thorough(kit, backend).test_no_history_is_refused(backend)
