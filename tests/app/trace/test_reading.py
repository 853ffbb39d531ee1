"""The turns of a session are read from its events, with times, tokens and all that was said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from recorded_sessions import BEGIN, make_sessions, said

from amplifier_app.trace.reading import RecordedSession, read_turns
from amplifier_app.trace.steps import Block, Step, Turn

USED = {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 0, "cache_write_tokens": 0}


# Holds: trace-1
def test_a_session_is_turns_of_steps_and_those_of_sub_agents_are_in_their_calls() -> None:
    look = Step(
        "model", "m-1", BEGIN + 4, BEGIN + 8, "", USED, 0.5, [Block("text", "All is well.")]
    )
    call = 'task {\n  "prompt": "Look"\n}'
    assert read_turns(make_sessions()) == [
        Turn(
            "Tidy up",
            BEGIN,
            BEGIN + 15,
            "",
            [
                Step(
                    "model", "m-1", BEGIN + 1, BEGIN + 3, "", USED, 0.5,
                    [Block("thinking", "Hm."), Block("call", call)],
                ),
                Step(
                    "tool", "task", BEGIN + 3, BEGIN + 9,
                    blocks=[Block("arguments", '{\n  "prompt": "Look"\n}'), Block("result", "All is well.")],
                    call="s/c1",
                    turns=[Turn("Look", BEGIN + 4, BEGIN + 8, "", [look])],
                ),
                Step(
                    "question", "wipe", BEGIN + 10, BEGIN + 14, "denied",
                    blocks=[Block("question", "run `wipe`?"), Block("answer", "not now")],
                ),
                Step(
                    "tool", "wipe", BEGIN + 14, BEGIN + 14.5, "error",
                    blocks=[Block("arguments", '{\n  "path": "old"\n}'), Block("result", "Denied: not now")],
                    call="s/c2",
                ),
            ],
        ),
        Turn(
            "And now?",
            BEGIN + 100,
            BEGIN + 105,
            "truncated",
            [
                Step(
                    "compaction", "compaction", BEGIN + 101,
                    blocks=[Block("text", "5 messages became 1")],
                ),
                Step(
                    "model", "m-1", BEGIN + 102, BEGIN + 104, "length",
                    {**USED, "cache_read_tokens": 90}, 0.5, [Block("text", "Nothing is")],
                ),
            ],
        ),
    ]  # fmt: skip


# Holds: trace-1
def test_a_turn_has_what_its_steps_and_sub_agents_have_used() -> None:
    first, second = (turn.describe() for turn in read_turns(make_sessions()))
    assert (first["usage"]["input_tokens"], first["cost"]) == (200, 1.0)
    assert (second["usage"]["cache_read_tokens"], second["cost"]) == (90, 0.5)


# Holds: trace-1
def test_events_of_which_the_rest_is_missing_are_read_as_far_as_they_go() -> None:
    events: list[tuple[str, Any]] = [
        ("llm:post", {"model": "m-1", "usage": {"input_tokens": "many", "cost_usd": "NaN"}}),
        ("tool:result", {"tool_call_id": "c9", "message": {"content": "lost"}}),
        said("tool", "tool", "late", 1, tool_call_id="c9", name="wipe"),
        said("hook", "user", [{"type": "image", "source": {"media_type": "image/png"}}], 2),
        ("context:message", {"message": "none"}),
        ("approval:granted", {}),
        ("approval:required", {"asked_at": float("inf"), "tool_name": "wipe"}),
        ("orchestrator:complete", {"timestamp": "no time"}),
    ]
    sessions = [RecordedSession("s", events=events), RecordedSession("child", "s", "s/c1")]
    assert read_turns(sessions) == [
        Turn(
            "",
            None,
            BEGIN + 2,
            "",
            [
                Step("model", "m-1", usage=dict.fromkeys(USED, 0)),
                Step("tool", "wipe", BEGIN + 1, BEGIN + 1, blocks=[Block("result", "late")]),
                Step("note", "hook", BEGIN + 2, BEGIN + 2,
                     blocks=[Block("image", "an image (image/png)")]),
                Step("question", "wipe", blocks=[Block("question", "")]),
                Step("note", "sub-agent"),
            ],
        )
    ]  # fmt: skip
