"""What a server asks is put to the person as a question of the call that it belongs to."""

from __future__ import annotations

import json
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams
from mounted_servers import run_raw

from amplifier_agent import Agent, Question, ScriptedProvider, ToolProgress
from amplifier_modules.tool.context import PersonAnswer
from amplifier_modules.tools.mcp.elicitation import answer_question
from amplifier_modules.tools.mcp.open_call import MAX_QUESTIONS, OpenCall

NAME = {"name": {"type": "string", "description": "Yours."}}
AGREED = {"agreed": {"type": "boolean", "title": "Agree"}}
COLOUR = {"colour": {"type": "string", "enum": ["red", "blue"]}}
SIZES = {"sizes": {"type": "array", "items": {"enum": ["S", "M", "L"]}}}
TITLED = {"day": {"type": "string", "oneOf": [{"const": "mo", "title": "Monday"}]}}
AGE = {"age": {"type": "integer", "minimum": 0}}
TONE = {"tone": {"type": "string", "default": "kind"}}

YES = PersonAnswer(is_yes=True)
NO = PersonAnswer(is_yes=False, reason="User denied")
NOBODY = PersonAnswer(is_yes=False, is_answered=False)


def say(words: str) -> PersonAnswer:
    return PersonAnswer(is_yes=False, words=words)


def choose(*parts: str) -> PersonAnswer:
    return PersonAnswer(is_yes=True, parts=parts)


class AskedCall(OpenCall):
    """A call whose person answers so."""

    def __init__(self, *answers: PersonAnswer) -> None:
        super().__init__(10)
        left = list(answers)
        self.asked: list[tuple[str, tuple[str, ...]]] = []

        async def ask(question: str, about: Any, *, parts: tuple[str, ...]) -> PersonAnswer:
            self.asked.append((question, parts))
            return left.pop(0)

        self.tool_context: Any = SimpleNamespace(ask=ask)


async def fill_in(
    properties: dict[str, Any], *answers: PersonAnswer, optional: bool = False
) -> Any:
    """What a server reads of a form; the action alone where nothing is accepted."""
    schema = {"type": "object", "properties": properties}
    if not optional:
        schema["required"] = list(properties)
    params = ElicitRequestFormParams(message="Well?", requested_schema=schema)
    call = AskedCall(*answers)
    result = await answer_question("x", call, params)
    return result.content if result.action == "accept" else result.action


# Holds: mcp-19
@pytest.mark.parametrize(
    ("properties", "answers", "expected"),
    [
        ({}, [YES], {}),
        ({}, [NO], "decline"),
        ({}, [NOBODY], "cancel"),
        (AGREED, [YES], {"agreed": True}),
        (AGREED, [NO], "decline"),
        (NAME, [say("Ada")], {"name": "Ada"}),
        (NAME, [NO], "decline"),
        (NAME, [YES, say("Ada")], {"name": "Ada"}),
        (NAME, [YES, NO], "decline"),
        (COLOUR, [choose("blue")], {"colour": "blue"}),
        (COLOUR, [say("blue")], {"colour": "blue"}),
        (COLOUR, [say("green")], "decline"),
        (COLOUR, [YES], "decline"),
        (TITLED, [YES], {"day": "mo"}),
        (SIZES, [choose("S", "L")], {"sizes": ["S", "L"]}),
        (SIZES, [YES], {"sizes": ["S", "M", "L"]}),
        (AGE, [say("36")], {"age": 36}),
        (AGE, [say("-1")], "decline"),
        (AGE, [YES, say("old"), say("36")], {"age": 36}),
        (TONE, [YES], {"tone": "kind"}),
        ({**AGREED, **TONE}, [choose()], {"agreed": False, "tone": "kind"}),
        ({**NAME, **AGE}, [YES, say("Ada"), say("36")], {"name": "Ada", "age": 36}),
        ({**NAME, **AGE}, [say('{"name": "Ada", "age": 36}')], {"name": "Ada", "age": 36}),
        ({**NAME, **AGE}, [say('{"name": "Ada"}')], "decline"),
        ({**NAME, **AGE}, [say("not now")], "decline"),
        ({"list": {"type": "object"}}, [], "decline"),
        ({str(number): NAME["name"] for number in range(99)}, [], "decline"),
    ],
)
async def test_an_answer_fills_in_the_form(
    properties: dict[str, Any], answers: list[PersonAnswer], expected: Any
) -> None:
    assert await fill_in(properties, *answers) == expected


# Holds: mcp-19
async def test_the_question_names_the_server_and_all_that_is_sent() -> None:
    schema = {"properties": {**AGREED, **COLOUR}, "required": ["colour"]}
    message = "Well?\nthe server `bank` asks:\x1b[2J"
    params = ElicitRequestFormParams(message=message, requested_schema=schema)
    call = AskedCall(YES, choose("red"))
    result = await answer_question("x", call, params)

    assert result.content == {"agreed": True, "colour": "red"}
    said = "the server `x` asks:\n| Well?\n| the server `bank` asks:\\x1b[2J\n"
    colour = "- colour (one of red, blue)"
    advice = "say it in words; a no alone sends nothing"
    assert call.asked == [
        (f"{said}- agreed (boolean; optional): Agree\n{colour}", ("agreed",)),
        (f"{said}{colour}\n{advice}", ("red", "blue")),
    ]


async def test_an_address_to_open_is_shown_and_never_opened_here() -> None:
    url = "https://example.com/pay"
    params = ElicitRequestURLParams(message="Pay.", url=url, elicitation_id="1")
    call = AskedCall(YES, NO)
    actions = [(await answer_question("x", call, params)).action for _ in range(2)]

    assert actions == ["accept", "decline"]
    assert call.asked[0] == (f"the server `x` asks:\n| Pay.\nit wants you to open {url}", ())


# Holds: mcp-19
async def test_a_call_does_not_ask_for_ever() -> None:
    params = ElicitRequestFormParams(message="?", requested_schema={"properties": {}})
    call = AskedCall(*[YES] * MAX_QUESTIONS)
    actions = [(await answer_question("x", call, params)).action for _ in range(MAX_QUESTIONS + 1)]

    assert actions == ["accept"] * MAX_QUESTIONS + ["cancel"]


# Holds: mcp-20
async def test_a_question_is_one_of_the_call_of_the_tool() -> None:
    questions: list[Question] = []

    def answer(question: Question) -> str:
        questions.append(question)
        return "Ada"

    model = ScriptedProvider([{"tool": "raw__ask", "arguments": {}}, "Hello."])
    servers = {"raw": run_raw("tools=ask")}
    tools = [{"module": "tool-mcp", "config": {"servers": servers}}]
    agent = Agent(model, tools=tools, approvals=answer)
    result = await agent.run("go")

    assert [(each.tool_name, each.arguments["server"]) for each in questions] == [
        ("raw__ask", "raw")
    ]
    said = json.loads(result.messages[2]["content"])
    assert said == {"action": "accept", "content": {"name": "Ada"}}


# Holds: mcp-20
async def test_where_nobody_can_be_asked_the_server_is_told_so_before() -> None:
    servers = {"raw": run_raw("tools=ask")}
    model = ScriptedProvider([{"tool": "raw__ask", "arguments": {}}, "Hello."])
    agent = Agent(model, tools=[{"module": "tool-mcp", "config": {"servers": servers}}])
    result = await agent.run("go")

    # The one of the test asks all the same, and is refused by the SDK.
    assert "action" not in result.messages[2]["content"]


# Holds: mcp-21
async def test_the_progress_of_a_call_is_an_event_and_keeps_it_alive() -> None:
    servers = {"raw": run_raw("tools=progress")}
    model = ScriptedProvider([{"tool": "raw__progress", "arguments": {}}, "Done."])
    agent = Agent(model, tools=[{"module": "tool-mcp", "config": {"servers": servers}}])
    async with agent.stream("go") as stream:
        reports = [event async for event in stream if isinstance(event, ToolProgress)]

    assert (reports[-1].message, reports[-1].fraction) == ("step 2\\x1b[2J", 0.5)


# Holds: mcp-20, mcp-21
async def test_the_time_of_a_call_stands_still_while_it_asks_and_begins_anew_with_progress() -> (
    None
):
    call = OpenCall(5)
    begun = call.scope.deadline
    with call.hold(), call.hold():
        await call.report(1, None, None)
        asking = call.scope.deadline
    ends = call.scope.deadline

    assert (asking, inf > ends >= begun) == (inf, True)
