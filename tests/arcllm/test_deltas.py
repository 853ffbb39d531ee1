"""Deltas of streamed calls can be shown as they are."""

from __future__ import annotations

from amplifier_stream import ChunkCall, StreamChunk
from arcllm.deltas import ToolCallDelta
from arcllm.providers.streamed import Deltas


def test_the_id_and_the_name_of_a_call_cannot_control_a_terminal() -> None:
    call = ChunkCall(index=2, id="1\x1b]0;title\x07", name="look\r\nrm\u202e")
    chunk = StreamChunk('{"at":', type="tool_call", call=call)

    assert Deltas().make_delta(chunk) == ToolCallDelta(
        0, "1\\x1b]0;title\\x07", "look rm\\u{202e}", '{"at":', 2
    )
