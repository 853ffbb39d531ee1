"""Calls in tags as models write them: which are found, which run, and what the model is told.

How a text is cut into calls is tested in `tests/stream/test_tool_call.py` and, for all splits, in
the Rust crate; these tests say that the loop runs what the parser found, and nothing else.
"""

from __future__ import annotations

import pytest
from tagged_answers import LOOK, Pieces, blocks, ended, heard

from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.loops.answers.response import RequestedCall
from amplifier_modules.loops.boundary.cancellation import TurnCancellation
from amplifier_modules.loops.boundary.hook_points import HookPoints
from amplifier_modules.loops.pace import LastCall, Pace
from amplifier_modules.loops.request import tool_specs

SCHEMA = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "flag": {"type": "boolean"},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"line": {"type": "integer"}}},
        },
    },
}


def taking(bench, *answers, config=None):
    turn = bench("tagged", config=config)
    turn.provider = Pieces(*answers)
    turn.tool("look", lambda given: "seen").input_schema = SCHEMA
    return turn


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"tool_name": "look", "arguments": {"x": 1}}', {"x": 1}),
        ('{"name": "look", "parameters": {"x": 1}}', {"x": 1}),
        ('{"tool": "look", "input": {"x": 1}}', {"x": 1}),
        ("<tool_name>look</tool_name><arguments><x>1</x></arguments>", {"x": 1}),
        ("<tool_name>look</tool_name><arguments><flag>true</flag></arguments>", {"flag": True}),
        ("<tool_name>look</tool_name><arguments><![CDATA[{\"x\": 1}]]></arguments>", {"x": 1}),
        ('<![CDATA[{"tool_name": "look", "arguments": {"x": 1}}]]>', {"x": 1}),
        (
            "<tool_name>look</tool_name><arguments><edits><line>1</line></edits><edits><line>2"
            + "</line></edits></arguments>",
            {"edits": [{"line": 1}, {"line": 2}]},
        ),
        ("<tool_name>look</tool_name><arguments><a>1 &lt; 2 && 3</a></arguments>", {"a": "1 < 2 && 3"}),
        ("<tool_name>look</tool_name><arguments><a><![CDATA[a && </tool>]]></a></arguments>", {"a": "a && </tool>"}),
        ('{"tool_name": "look", "arguments": {"a": "</tool> &lt;"}}', {"a": "</tool> &lt;"}),
        ("<tool_name>look</tool_name>", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool_format", ["json", "xml"])
async def test_each_form_of_a_call_is_read_whatever_was_asked_for(
    bench, written, arguments, tool_format
):
    turn = taking(bench, [f"<tool>{written}</tool>"], ["done"], config={"tool_format": tool_format})

    assert await turn.run() == "done"
    assert turn.tools["look"].inputs == [arguments]
    assert ended(turn) == [(0, "look", arguments)]
    [call] = [each[3] for each in blocks(turn) if each[0] == "end" and each[2] == "tool_call"]
    assert call == arguments


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('<tool>{"tool_name": "look", "arguments": {"x": 1}}', "the call has no closing tag"),
        ('<tool>{"arguments": {"x": 1}}</tool>', "the call has no tool name (mounted: `look`)"),
        ('<tool>{"tool_name": "look", "arguments": [1]}</tool>', "`arguments` must be an object, found an array"),
        ('<tool>{"tool_name": "look", "arguments": {"x": 1, "x": 2}}</tool>', "duplicate"),
        ("<tool><tool_name>look</tool_name><arguments><x>many</x></arguments></tool>", "must be integer, found `many`"),
        ('<tool>{"tool_name": "gone", "arguments": {}}</tool>', "gone"),
        ('<tool>{"tool_name": "look", "arguments": {"x": "many"}}</tool>', "x"),
    ],
)  # fmt: skip
async def test_a_call_that_cannot_run_is_shown_and_the_model_can_correct_it(
    bench, valid, written, told
):
    turn = taking(bench, [f"a {written}"], [LOOK], ["done"])

    assert await turn.run() == "done"
    assert turn.tools["look"].inputs == [{"x": 1}]
    result = next(each for each in await turn.history() if each["role"] == "tool")
    assert told in result["content"]
    valid(await turn.context.get_messages())
    ends = [each[2] for each in blocks(turn) if each[0] == "end"]
    assert ends == ["text", "tool_call", "tool_call", "text"]
    second = turn.provider.requests[1].messages
    [said] = [message for message in second if message.role == "assistant"]
    assert "".join(block.text for block in said.content).startswith("a <tool>")
    results = [message.content for message in second if message.role == "user"][1]
    assert results[0].text.startswith("<tool_result>")


async def test_all_calls_run_in_one_round_in_their_order_each_with_its_number(bench):
    turn = taking(bench, [f"pre {LOOK}{LOOK} post {LOOK}"], ["done"])
    await turn.run()

    assert turn.tools["look"].inputs == [{"x": 1}] * 3
    names = [(each[0], *each[1:2]) for each in heard(turn)]
    starts_and_ends = [each for each in names if each[0] in ("tool_call_start", "tool_call_end")]
    assert starts_and_ends == [
        (kind, number) for number in range(3) for kind in ("tool_call_start", "tool_call_end")
    ]
    assert names.index(("message_content", "pre ")) < names.index(("tool_call_start", 0))
    groups = {data["parallel_group_id"] for data in turn.data("tool:pre")}
    assert len(groups) == 1


@pytest.mark.parametrize(
    "text",
    ["a < b and c > d", "<toolbox>{}</toolbox>", "</tool>", "< tool>{}</tool>", "<TOOL>{}</TOOL>", "<tool"],
)  # fmt: skip
async def test_what_only_looks_like_a_tag_is_text(bench, text):
    turn = taking(bench, list(text))
    assert await turn.run() == text
    assert ended(turn) == []


async def test_only_what_may_become_a_tag_is_held_back(bench):
    turn = taking(bench)
    seen = []

    async def look():
        seen.append("".join(each[1] for each in heard(turn) if each[0] == "message_content"))

    turn.provider = Pieces(["a < b <to", look, "day", look])
    await turn.run()
    assert seen == ["a < b ", "a < b <today"]


async def test_the_same_wrong_call_ends_the_turn_after_five_times(bench):
    wrong = '<tool>{"tool_name": "gone", "arguments": {}}</tool>'
    turn = taking(bench, *([wrong] for _ in range(9)))
    await turn.run()
    assert len(turn.provider.requests) == 5
    assert "error" in turn.data("orchestrator:complete")[0]


async def test_a_tool_that_ends_the_loop_does_so(bench):
    turn = taking(bench, [LOOK])
    turn.tools["look"].is_loop_breaking = True
    assert await turn.run() == "seen"


async def test_a_denied_call_is_not_run(bench):
    turn = taking(bench, [LOOK], ["done"])
    turn.answer_hook("tool:pre", action="deny", reason="no")
    assert await turn.run() == "done"
    assert turn.tools["look"].inputs == []


async def handed(bench, pieces, loop="tagged"):
    """Ask once, and return the calls that were handed over, when, and those of the response."""
    turn = taking(bench)
    turn.provider = Pieces(pieces)
    over = Handed()
    marks: list[int] = []

    async def mark():
        marks.append(len(over.calls))

    turn.provider.answers = [[mark if piece is MARK else piece for piece in pieces]]
    loop = await turn.loop()
    points = HookPoints(turn.coordinator.hooks, turn.coordinator)
    pace = Pace(loop.settings, LastCall(), TurnCancellation(turn.coordinator))
    calls = loop._choose_models({"p": turn.provider}, points, pace).own
    request = ChatRequest(
        messages=[Message(role="user", content="go")], tools=tool_specs(turn.tools)
    )

    async def shorter():
        return None

    error: Exception | None = None
    response = None
    try:
        response = await calls.ask(request, 1, shorter, early=over)
    except ValueError as raised:
        error = raised
    return over, marks, response, error


class Handed:
    """Takes the calls of an answer while it arrives."""

    def __init__(self):
        self.calls: list[RequestedCall] = []
        self.text_so_far = str

    def start(self, call):
        self.calls.append(call)


MARK = object()


async def test_a_call_is_handed_over_as_soon_as_its_tag_is_closed(bench):
    xml = "<tool><tool_name>look</tool_name><arguments><x>2</x></arguments></tool>"
    over, marks, response, _ = await handed(bench, [LOOK[:-1], MARK, ">", MARK, xml, MARK, "b"])

    assert marks == [0, 1, 2]
    assert [(call.name, call.arguments) for call in over.calls] == [
        ("look", {"x": 1}), ("look", {"x": 2}),
    ]  # fmt: skip
    assert [call.id for call in over.calls] == [call.id for call in response.tool_calls]


async def test_a_call_that_cannot_run_is_not_handed_over(bench):
    over, _, response, _ = await handed(bench, ["<tool>{}</tool>", LOOK, "<tool>{"])
    assert [call.id for call in over.calls] == [response.tool_calls[1].id]
    errors = [(call.model_extra or {}).get("error") is None for call in response.tool_calls]
    assert errors == [False, True, False]


# Holds: provider-16
async def test_calls_of_a_failed_answer_that_were_not_handed_over_never_are(bench):
    over, _, response, error = await handed(bench, [LOOK, "<tool>{", ValueError("broken")])
    assert [call.arguments for call in over.calls] == [{"x": 1}]
    assert (response, str(error)) == (None, "broken")
