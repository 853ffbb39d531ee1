"""`hooks-logging`, `hooks-redaction`, `hooks-status-context` and `hooks-notify`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.hooks import logging, notify, redaction, status_context
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("shell-hooks")]

KEY = "sk-ant-api03-" + "Zk4vQ9xT2mLr7wYc8Np3" * 4


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def read_rows(folder: Path, name: str = "session") -> list[dict[str, Any]]:
    [file] = folder.iterdir()
    assert (file.name, file.stat().st_mode & 0o777) == (f"{name}.jsonl", 0o600)
    return [json.loads(line) for line in file.read_text().splitlines()]


# Holds: shellhooks-17
async def test_each_event_is_a_line_without_secrets(bench: Any, say: Any, tmp_path: Path) -> None:
    turn = bench("basic", say.text(f"it is {KEY}"))
    await logging.mount(turn.coordinator, {"folder": str(tmp_path)})

    await turn.run("go")

    rows = read_rows(tmp_path)
    logged = [each["event"] for each in rows if each["event"] in turn.names()]
    assert logged == turn.names()
    assert KEY not in json.dumps(rows)
    assert {each["level"] for each in rows} == {"info"}


# Holds: shellhooks-17
@pytest.mark.parametrize("strips", [True, False])
async def test_raw_is_left_out_unless_it_is_asked_for(
    bench: Any, tmp_path: Path, *, strips: bool
) -> None:
    turn = bench("basic")
    config = {"folder": str(tmp_path), "events": ["my:*"], "without": [], "strip_raw": strips}
    await logging.mount(turn.coordinator, config)
    data: dict[str, Any] = {
        "session_id": "../a",
        "error": {"msg": "no"},
        "blocks": [{"raw": {}, "text": "t"}],
    }

    await turn.coordinator.hooks.emit("other:event", {})
    await turn.coordinator.hooks.emit("my:event", data)

    [row] = read_rows(tmp_path, "___a")
    assert row["level"] == "error"
    assert row["data"]["blocks"] == [{"text": "t"} if strips else {"raw": {}, "text": "t"}]


# Holds: shellhooks-18
@pytest.mark.parametrize("prompts", [True, False])
async def test_no_secret_of_a_prompt_reaches_the_model(
    bench: Any, say: Any, *, prompts: bool
) -> None:
    turn = bench("basic", say.text("ok"))
    await redaction.mount(turn.coordinator, {"prompts": prompts})

    await turn.run(f"use {KEY}")

    sent = str(turn.provider.requests[0].messages[-1].content)
    assert (KEY in sent) is not prompts


# Holds: shellhooks-18
async def test_hooks_behind_it_see_no_secret_and_calls_run_as_they_are(
    bench: Any, say: Any
) -> None:
    turn = bench("basic", say.calls(("1", "echo", {"x": KEY})), say.text(KEY))
    tool = turn.tool("echo", str)
    tool.input_schema = {"type": "object"}
    await redaction.mount(turn.coordinator)
    seen: list[Any] = []

    def look(_event: str, data: dict[str, Any]) -> None:
        seen.append(data)

    turn.coordinator.hooks.register("prompt:complete", look, priority=50)

    await turn.run("go")

    assert tool.inputs == [{"x": KEY}]
    assert KEY not in json.dumps(seen)
    assert len(seen) == 1


def make_repository(folder: Path, monitor: str) -> None:
    (folder / "new.txt").touch()
    for arguments in (["init", "-q", "-b", "trunk"], ["config", "core.fsmonitor", monitor]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)


# Holds: shellhooks-19
async def test_each_request_tells_of_the_folder_and_nothing_of_it_stays(
    bench: Any, say: Any, tmp_path: Path
) -> None:
    ran = tmp_path.parent / f"{tmp_path.name}-ran"
    make_repository(tmp_path, monitor=f"touch {ran}; false")
    turn = bench("basic", say.text("ok"))
    await status_context.mount(turn.coordinator, {"root": str(tmp_path)})

    await turn.run("go")

    told = str(turn.provider.requests[0].messages[-1].content)
    assert f"The working folder is `{tmp_path}`." in told
    if find_tier().tier is not Tier.NONE:
        assert "## No commits yet on trunk\n?? new.txt" in told
    assert not ran.exists()
    assert [message["role"] for message in await turn.history()] == ["user", "assistant"]


# Holds: shellhooks-20
@pytest.mark.parametrize(("seconds", "expected"), [(0, "the turn has ended: completed"), (900, "")])
async def test_a_person_is_notified_of_the_end_of_a_long_turn(
    bench: Any, say: Any, tmp_path: Path, seconds: float, expected: str
) -> None:
    turn = bench("basic", say.text("secret words"))
    file = tmp_path / "said"
    file.touch()
    config = {"command": f'printf %s "$NOTIFY_TEXT" > {file}', "min_seconds": seconds}
    await notify.mount(turn.coordinator, config)

    await turn.run("go")

    assert file.read_text() == expected


# Holds: shellhooks-20
async def test_a_notification_that_fails_is_one_warning(
    bench: Any, say: Any, caplog: pytest.LogCaptureFixture
) -> None:
    turn = bench("basic", say.text("a"), say.text("b"))
    await notify.mount(turn.coordinator, {"command": "no-such-program", "min_seconds": 0})

    await turn.run("one")
    await turn.run("two")

    assert len([each for each in caplog.records if "hooks-notify" in each.message]) == 1
