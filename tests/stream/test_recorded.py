"""Recorded streams, read from the folder that `RECORDED_STREAMS` names.

The folder has an `index.tsv` of the bodies and, beside each, its expected result.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from amplifier_stream import StreamDecoder, decode_error

FOLDER = os.environ.get("RECORDED_STREAMS", "")
ALL_SPLITS_BELOW = 5_000
RANDOM_SPLITS = 200


def rows() -> list[dict[str, str]]:
    if not FOLDER:
        return []
    with (Path(FOLDER) / "index.tsv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def named(*, errors: bool) -> list[Any]:
    found = [
        pytest.param(row, id=row["file"])
        for row in rows()
        if row["api"].startswith("messages") and row["file"].startswith("err-") == errors
    ]
    reason = "`RECORDED_STREAMS` names no folder with recorded Anthropic streams"
    return found or [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")]


def expected(row: dict[str, str]) -> dict[str, Any]:
    path = Path(FOLDER) / row["file"]
    return json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))


def decode(chunks: Iterable[bytes]) -> tuple[list[dict[str, Any]], Any]:
    decoder = StreamDecoder("anthropic")
    events = [
        {key: value for key, value in event.data.items() if key != "timestamp"}
        for chunk in chunks
        for event in decoder.feed(chunk)
    ]
    return events, decoder.finish()


def normalized(result: Any) -> dict[str, Any]:
    blocks = result.blocks
    wire_types = {"tool_call": "tool_use"}
    thinking = [block for block in blocks if block["type"] == "thinking"]
    calls = [block for block in blocks if block["type"] == "tool_call"]
    return {
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "thinking": "".join(block["thinking"] for block in thinking),
        "signatures": [block["signature"] for block in thinking if block["signature"]],
        "tool_calls": [{key: call[key] for key in ("id", "name", "arguments")} for call in calls],
        "block_types": [wire_types.get(block["type"], block["type"]) for block in blocks],
        "stop_reason": result.raw_stop_reason,
        "usage": result.raw_usage,
    }


@pytest.mark.parametrize("row", named(errors=False))
def test_a_recorded_stream_gives_its_record_however_it_is_cut(row: dict[str, str]) -> None:
    body = (Path(FOLDER) / row["file"]).read_bytes()
    record = expected(row)
    events, result = decode([body])
    assert normalized(result) == record["normalized"]
    assert (not result.truncated and result.error is None) == record["expected"]["complete"]

    assert decode(body[place : place + 1] for place in range(len(body))) == (events, result)
    choose = random.Random(row["file"])
    cuts = [choose.sample(range(len(body)), 3) for _ in range(RANDOM_SPLITS)]
    if len(body) < ALL_SPLITS_BELOW:
        cuts += [[cut] for cut in range(len(body))]
    for cut in cuts:
        places = [0, *sorted(cut), len(body)]
        pieces = [body[a:b] for a, b in itertools.pairwise(places)]
        assert decode(pieces) == (events, result)


@pytest.mark.parametrize("row", named(errors=False))
def test_a_recorded_stream_cut_short_runs_nothing(row: dict[str, str]) -> None:
    body = (Path(FOLDER) / row["file"]).read_bytes()
    for cut in range(0, len(body) - 1, 1 + len(body) // 2_000):
        _, result = decode([body[:cut]])
        assert result.truncated
        for block in result.blocks:
            assert block["type"] != "tool_call" or block["arguments"] is None


@pytest.mark.parametrize("row", named(errors=True))
def test_a_recorded_error_gives_its_type_and_message(row: dict[str, str]) -> None:
    body = (Path(FOLDER) / row["file"]).read_bytes()
    record = expected(row)["expected"]["error"]
    error = decode_error("anthropic", int(row["http_status"]), None, body)
    inner = record["body"]["error"]
    found = {key: error[key] for key in ("type", "code", "message", "status", "request_id")}
    assert found == {
        "type": inner["type"],
        "code": inner.get("code"),
        "message": inner["message"],
        "status": record["status_code"],
        "request_id": record["body"].get("request_id"),
    }
