"""`amplifier-core trace`: from a stored session, an export or a log to a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast


def read_page(page: str) -> dict[str, Any]:
    """What a page shows, as its script reads it."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        times = {key: fields[key] is not None for key in ("begin", "end") if key in fields}
        return {key: without_times(each) for key, each in fields.items()} | times
    return [*map(without_times, cast("list[Any]", value))] if isinstance(value, list) else value


# Holds: trace-3
def test_a_stored_session_its_export_and_its_log_are_the_same_page(
    keyed: Any, model: Any, say: Any
) -> None:
    look = {"type": "tool_use", "id": "t1", "name": "list_directory", "input": {"path": "."}}
    model.reply(*model.said(look, stop="tool_use"))
    say("Nothing is here.")
    log = keyed("run", "--json", "What is here?")
    (keyed.folder / "log.jsonl").write_text(log.stdout)
    assert keyed("session", "export", "here", "--output", "export.jsonl").returncode == 0
    stored = keyed("trace")
    assert (stored.returncode, stored.stderr) == (0, "")
    file = keyed.folder / stored.stdout.strip()
    assert re.fullmatch(r"trace-[0-9a-f]{8}\.html", file.name)
    assert file.stat().st_mode & 0o777 == 0o600
    shown = read_page(file.read_text())
    [turn] = shown["turns"]
    assert (shown["title"], turn["prompt"], turn["status"]) == ("What is here?",) * 2 + ("",)
    assert [(each["kind"], each["name"]) for each in turn["steps"]] == [
        ("model", "claude-sonnet-5-5"),
        ("tool", "list_directory"),
        ("model", "claude-sonnet-5-5"),
    ]
    times = [(each["begin"], each["end"]) for each in turn["steps"]]
    assert times == sorted(times)
    assert turn["steps"][2]["blocks"] == [["text", "Nothing is here."]]
    exported = keyed("trace", "export.jsonl", "--output", "-")
    assert read_page(exported.stdout) == shown
    logged = read_page(keyed("trace", "log.jsonl", "--output", "-").stdout)
    assert without_times(logged["turns"]) == without_times(shown["turns"])


# Holds: trace-3
def test_a_page_replaces_a_page_and_nothing_else(keyed: Any, model: Any, say: Any) -> None:
    say("Blue.")
    keyed("Which colour?")
    for _ in range(2):
        assert keyed("trace", "--last", "--output", "page.html").stdout == "page.html\n"
    (keyed.folder / "mine.html").write_text("<!doctype html>")
    done = keyed("trace", "--output", "mine.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: `mine.html` exists, and is no page of `trace`; choose another file with `--output`\n"
    )
    assert (keyed.folder / "mine.html").read_text() == "<!doctype html>"
    missing = keyed("trace", "--output", "none/page.html")
    assert (
        missing.stderr == "error: `none/page.html` cannot be written: No such file or directory\n"
    )


# Holds: trace-3
def test_a_page_has_no_key(keyed: Any, model: Any, say: Any) -> None:
    key = keyed.environment["ANTHROPIC_API_KEY"]
    say(f"It is {key}.")
    keyed("What is the key?")
    page = keyed("trace", "--output", "-").stdout
    assert key not in page
    [turn] = read_page(page)["turns"]
    assert "REDACTED" in turn["steps"][0]["blocks"][0][1]


# Holds: trace-3
def test_what_is_no_session_and_no_log_is_one_line_that_says_so(keyed: Any, tmp_path: Path) -> None:
    hint = (
        "; it must be an export (`amplifier-core session export`), the output of `--json`, or a log"
        " of `hooks-logging`"
    )
    files = {
        b"\xff": "is not UTF-8 (byte 0)",
        b"[1]": "is no log: line 1 is no object",
        b"{}\n{": "is no log: line 2 is not JSON: Expecting property name enclosed in double quotes:"
        " line 1 column 2 (char 1)",
        b'{"event": "x", "data": {}}': "is no log: it has no event of a session",
        b'{"format": "other"}': "is no log: line 1 has the format `other` (must be"
        " `amplifier-session`)",
    }
    for number, (content, problem) in enumerate(files.items()):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(content)
        done = keyed("trace", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: `{path}` {problem}{hint}\n"
    assert keyed("trace", "--last", "x").stderr == (
        "error: `--last` and `x` are two sessions; leave one of them out\n"
    )
    assert keyed("trace", "x").stderr.startswith("error: no stored session has the id")
