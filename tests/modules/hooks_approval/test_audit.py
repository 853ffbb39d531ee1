"""The audit log has each question, answer and refusal, and no secret."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.world import World, use

KEY = "sk-ant-api03-" + "a1B2c3D4" * 10


class Noon(World):
    """A clock that stands still."""

    def time(self) -> float:
        return 1_800_000_000.0


# Holds: approval-20
async def test_the_log_has_records_answers_and_refusals_without_secrets(
    case: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state" / "approvals.jsonl"
    calls = [("write_file", {"path": "a", "content": KEY}), ("wipe", {}), ("wipe", {})]
    config = {"mode": "ask", "deny": ["wipe"], "audit_log": str(path), "timeout": 60}
    with use(Noon()):
        turn = await case(*calls[:2]).begin(**config)
        turn.tool("write_file")
        turn.tool("wipe")
        turn.person.answers = ["session"]
        await turn.run()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    question = rows[0]["question_id"]
    assert question
    assert KEY not in path.read_text()
    record = {
        "at": 1_800_000_000.0, "event": "approval:required", "question_id": question, "epoch": 1,
        "session_id": "", "tool": "write_file", "effect": "writes files",
        "expires_at": 1_800_000_060.0, "arguments": {"path": "a", "content": rows[0]["arguments"]["content"]},
    }  # fmt: skip
    assert rows[0] == record
    assert rows[1] == {
        "at": 1_800_000_000.0, "event": "approval:granted", "question_id": question,
        "grant": "session", "tool": "write_file",
    }  # fmt: skip
    assert rows[2]["event"] == "approval:refused"
    assert (rows[2]["tool"], rows[2]["reason"]) == ("wipe", "the rule `wipe` denies it")
    assert len(rows) == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_log_that_cannot_be_written_is_one_warning(
    case: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    log = str(tmp_path / "file" / "approvals.jsonl")
    turn = await case(("wipe", {}), ("wipe", {})).begin(mode="ask", audit_log=log)
    turn.tool("wipe")
    assert await turn.run() == ["did it", "did it"]
    assert caplog.text.count("cannot be written") == 1
