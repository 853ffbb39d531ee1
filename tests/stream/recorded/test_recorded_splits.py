"""However a recorded stream is cut into chunks, it says the same.

With `PROVE` set, as `make prove` does, large streams are cut at every byte too.
"""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import pytest

PROVE = bool(os.environ.get("PROVE"))
EVERY_SPLIT_BELOW = 20_000
EVERY_TWO_SPLITS_BELOW = 1_000
RANDOM_SPLITS = 10_000 if PROVE else 1_000

pytestmark = pytest.mark.timeout(6_000 if PROVE else 600)


def test_a_recorded_stream_says_the_same_byte_by_byte(stream: Any) -> None:
    places = range(1, len(stream.body))
    assert stream.decode(stream.cut(*places)) == stream.decode()


# Holds: stream-1
def test_a_recorded_stream_says_the_same_at_every_two_way_split(stream: Any) -> None:
    if len(stream.body) >= EVERY_SPLIT_BELOW and not PROVE:
        pytest.skip("every split of a stream of this size is a proof: `make prove`")
    whole = stream.decode()
    for place in range(1, len(stream.body)):
        assert stream.decode(stream.cut(place)) == whole


@pytest.mark.skipif(not PROVE, reason="it takes minutes: `make prove`")
def test_a_small_recorded_stream_says_the_same_at_every_three_way_split(stream: Any) -> None:
    if len(stream.body) >= EVERY_TWO_SPLITS_BELOW:
        pytest.skip("too many splits")
    whole = stream.decode()
    for places in itertools.combinations(range(1, len(stream.body)), 2):
        assert stream.decode(stream.cut(*places)) == whole


def test_a_recorded_stream_says_the_same_at_random_splits(stream: Any) -> None:
    whole = stream.decode()
    choose = random.Random(stream.name)
    for _ in range(RANDOM_SPLITS):
        count = choose.randint(2, min(12, len(stream.body) - 1))
        places = choose.sample(range(1, len(stream.body)), count)
        assert stream.decode(stream.cut(*places)) == whole
