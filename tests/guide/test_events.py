"""`docs/guide/events.md` has every event, every key and every type, and nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core import AmplifierSession, HookResult, events
from amplifier_core import session as plain
from amplifier_core.known_modules import list_own_events

sys.path.insert(0, str(Path(__file__).parent))
from command_sessions import of_commands
from event_sessions import PLAN, SESSIONS, Seen, add, one_turn, opened
from file_sessions import of_a_later_answer, of_files
from overload_sessions import of_overload
from prompt_sessions import of_prompts
from pull_sessions import of_a_download
from response_sessions import of_responses
from server_sessions import of_servers
from tagged_sessions import of_tags

PAGE = (Path(__file__).parents[2] / "docs/guide/events.md").read_text()
EVERYWHERE = {"session_id": {"str"}, "parent_id": {"str", "None"}, "timestamp": {"str"}}
WITH_REQUEST = ("llm:", "provider:")
KEY = re.compile(r"`(\w+)`(\?)?((?: (?:or )?(?:str|int|float|bool|dict|list|None)\b)*)")

Shape = dict[str, tuple[bool, set[str]]]
"""Whether a key is always there, and its types."""


def rows(first: str) -> list[list[str]]:
    """The cells of the tables whose first column has this title."""
    found: list[list[str]] = []
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        if lines[0][0] == first:
            found.extend(lines[2:])
    return found


def shape(text: str) -> Shape:
    return {
        name: (not optional, set(types.replace("or", "").split()))
        for name, optional, types in KEY.findall(text)
    }


def seen_shape(payloads: list[dict[str, Any]]) -> Shape:
    keys = {key for payload in payloads for key in payload}
    return {
        key: (
            all(key in payload for payload in payloads),
            {_type(payload[key]) for payload in payloads if key in payload},
        )
        for key in keys
    }


def _type(value: Any) -> str:
    return "None" if value is None else type(value).__name__


@pytest.fixture(scope="module")
def seen() -> Seen:
    emitted = Seen()
    for run in (
        *SESSIONS,
        of_responses,
        of_overload,
        of_prompts,
        of_a_download,
        of_tags,
        of_files,
        of_a_later_answer,
        of_commands,
        of_servers,
    ):
        anyio.run(run, emitted)
    return emitted


EVENTS = {row[0].strip("`"): row for row in rows("event")}


def test_the_page_has_every_event_that_is_emitted_and_no_other(seen: Seen) -> None:
    assert sorted(EVENTS) == sorted(seen.payloads)


def test_every_name_of_the_kernel_is_on_the_page_once() -> None:
    without = PAGE.partition("## Names without an emitter here")[2].partition("\n## ")[0]
    silent = re.findall(r"`(\w+:\w+)`", without)
    named = {*events.ALL_EVENTS, "turn:start", "turn:end", "llm:pre", "llm:post", "session:config"}

    assert sorted([*EVENTS, *silent]) == sorted(named | list_own_events())


@pytest.mark.parametrize("event", EVENTS)
def test_the_payload_of_an_event_is_what_the_page_says(seen: Seen, event: str) -> None:
    found = seen_shape(seen.payloads[event])
    for key, types in EVERYWHERE.items():
        assert found.pop(key)[1] <= types
    found.pop("parent_tool_call_id", None)
    if event.startswith(WITH_REQUEST):
        for key in ("request_id", "role", "purpose"):
            assert found.pop(key, (False, {"str"}))[1] == {"str"}

    assert shape(EVENTS[event][2]) == found


OBJECTS: dict[str, list[tuple[str, str]]] = {
    "`usage` of the loops": [("llm:post", "usage"), ("provider:response", "usage")],
    "`usage` of `llm:response`": [("llm:response", "usage")],
    "`usage` of `task:end`": [("task:end", "usage")],
    "`response`": [("provider:response", "response")],
    "`error` of `orchestrator:complete`": [("orchestrator:complete", "error")],
    "`error` of `tool:error`, `provider:error`, `llm:response`": [
        ("tool:error", "error"), ("provider:error", "error"), ("llm:response", "error"),
    ],
    "`call` of `agent:tool_call_end`": [("agent:tool_call_end", "call")],
    "`error` of `agent:error`": [("agent:error", "error")],
    "`goal_final`": [("orchestrator:complete", "goal_final")],
    "`denied`": [("orchestrator:complete", "denied")],
    "`metadata` of `content_block:start`": [("content_block:start", "metadata")],
    "an item of `findings`": [("guard:findings", "findings")],
}  # fmt: skip


@pytest.mark.parametrize("where", OBJECTS)
def test_an_object_in_a_payload_is_what_the_page_says(seen: Seen, where: str) -> None:
    [text] = [row[1] for row in rows("where") if row[0] == where]
    objects = [
        item
        for event, key in OBJECTS[where]
        for payload in seen.payloads[event]
        for value in [payload.get(key)]
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]

    assert shape(text) == seen_shape(objects)


def test_every_object_of_the_page_is_compared() -> None:
    listed = {row[0] for row in rows("where")}
    others = {
        "`result`",
        *(f"`block` of type `{kind}`" for kind in ("text", "thinking", "tool_call")),
    }

    assert listed == {*OBJECTS, *others}


def test_the_result_of_a_tool_is_what_the_page_says(seen: Seen) -> None:
    results = [payload["result"] for payload in seen.payloads["tool:post"]]
    found = seen_shape(results)

    assert found.pop("output")[0]
    assert found == {"success": (True, {"bool"}), "error": (True, {"dict", "None"})}


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_a_block_is_what_the_page_says(seen: Seen, kind: str) -> None:
    [text] = [row[1] for row in rows("where") if row[0] == f"`block` of type `{kind}`"]
    blocks = [payload["block"] for payload in seen.payloads["content_block:end"]]

    assert shape(text) == seen_shape([block for block in blocks if block["type"] == kind])


def test_the_block_of_a_call_is_what_the_page_says(seen: Seen) -> None:
    [text] = [row[1] for row in rows("where") if row[0] == "`block` of type `tool_call`"]
    usable, _, broken = text.partition("; where the arguments cannot be used")
    blocks = [payload["block"] for payload in seen.payloads["content_block:end"]]
    calls = [block for block in blocks if block["type"] == "tool_call"]
    without = shape(broken.partition(":")[2])

    assert shape(usable) == seen_shape([block for block in calls if "error" not in block])
    unusable = seen_shape([block for block in calls if "error" in block])
    expected = {**shape(usable), **without}
    for found in (expected, unusable):
        found.pop("raw", None)  # only where the provider keeps it
    assert expected == {**unusable, "input": (True, {"dict"})}


async def ending(event: str, answer: HookResult | None) -> tuple[str, list[str]]:
    """How a turn with steering and a tool ends whose hook answers this, and what is in it."""

    @hook(event)
    def judge(event: str, data: dict[str, Any]) -> HookResult | None:
        return answer

    script: list[Any] = [{"tool": "add", "arguments": {"a": 1}}, "Done."]
    goal = "Added" if event == "orchestrator:goal_progress" else None
    script += [] if goal is None else ["No: not yet.", "Done now.", "Yes."]
    model = ScriptedProvider(script, repeat=True)
    loop = {"module": "loop-streaming", "config": {"goal_summary": False}}
    seen = Seen()
    async with opened(seen, Agent(model, tools=[add], hooks=[judge], loop=loop), goal=goal) as s:
        s.steer("Quickly.")
        result = await s.run("Add")
    texts = [str(message["content"]) for message in result.messages]
    return result.status, [text for text in texts if "parallel" not in text]


@pytest.mark.parametrize("event", EVENTS)
def test_a_denial_counts_where_the_page_says_so_and_nowhere_else(event: str) -> None:
    denial = HookResult(action="deny", reason="no")
    undisturbed = anyio.run(ending, event, None)
    denied = anyio.run(ending, event, denial)

    assert (denied != undisturbed) == ("deny" in EVENTS[event][3])


def test_the_plain_session_differs_as_the_page_says() -> None:
    def announced(kind: Any) -> dict[str, set[str]]:
        seen = Seen()
        plan = {**PLAN, "session": {**PLAN["session"], "raw": True}}
        for resumed in (False, True):
            anyio.run(one_turn, seen, kind(plan, is_resumed=resumed))
        return {
            event: set().union(*payloads)
            for event, payloads in seen.payloads.items()
            if event.startswith("session:")
        }

    ours, python = announced(AmplifierSession), announced(plain.AmplifierSession)

    assert python["session:end"] - ours["session:end"] == {"status"}
    assert python["session:start"] - ours["session:start"] == {"raw"}
    assert python["session:resume"] - ours["session:resume"] == {"raw"}
    assert ours.keys() - python.keys() == {"session:config"}
