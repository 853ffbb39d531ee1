"""Answers as objects: native schemas, a tool to answer by, and the second try."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from fake_step import FakeStep, response
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_testing.servers import Answer, AnthropicServer, Call, ChatServer
from arcllm import (
    ArcLLMParseError,
    LLMResponse,
    Message,
    Model,
    RetractedDelta,
    StructuredResponse,
    TextDelta,
    Tool,
    ToolCall,
    Usage,
    clear_cache,
    load_model,
)

PARIS = '{"name": "Paris", "people": 2100000}'
WEATHER = Tool(name="weather", description="Forecast.", parameters={"type": "object"})
FIT = "Answer again, with JSON that fits and nothing else."


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCLLM_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    clear_cache()


class City(BaseModel):
    name: str
    people: int


class Plain:
    """A class that has no schema."""


@dataclass
class Point:
    x: int
    y: int


class NativeStep(FakeStep):
    """Its service holds the model to a schema."""

    holds_to_schema = True


def model_of(*answers: Any, native: bool = True) -> tuple[Model, FakeStep]:
    step = (NativeStep if native else FakeStep)(list(answers))
    return Model(step, step, lambda: None), step


def final(arguments: dict[str, Any], **fields: Any) -> LLMResponse:
    call = ToolCall(id="c", name="final_answer", arguments=arguments)
    return response(None, tool_calls=[call], stop_reason="tool_use", **fields)  # type: ignore[arg-type]


async def test_an_object_is_the_output_of_its_response() -> None:
    model, step = model_of(response(PARIS))

    answer = await model.complete("The largest?", output=City, temperature=0)

    assert answer.output == City(name="Paris", people=2_100_000)
    assert isinstance(answer, LLMResponse)
    assert (answer.content, answer.stop_reason) == (PARIS, "end_turn")
    assert json.loads(answer.model_dump_json())["output"] == json.loads(PARIS)
    form = {"type": "json_schema", "json_schema": City.model_json_schema()}
    assert step.calls[0].options == {"temperature": 0, "response_format": form}
    assert step.calls[0].tools is None


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (City, f"```json\n{PARIS}\n```", City(name="Paris", people=2_100_000)),
        (Point, '{"x": 1, "y": 2}', Point(1, 2)),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Literal["yes", "no"], "yes", "yes"),
        (Literal["yes", "no"], '"no"', "no"),
        (int, " 7 ", 7),
        (str, "any text", "any text"),
        (City | None, "null", None),
    ],
)
async def test_any_type_with_a_schema_can_be_asked_for(type_: Any, text: str, value: Any) -> None:
    model, _ = model_of(response(text))

    assert (await model.complete("?", output=type_)).output == value


async def test_a_type_without_a_schema_is_refused_before_anything_is_sent() -> None:
    model, step = model_of(response("x"))

    with pytest.raises(TypeError, match="`output` is `Plain`, which has no JSON schema"):
        await model.complete("?", output=Plain)
    assert step.calls == []


async def test_a_service_without_schemas_gets_a_tool_to_answer_by() -> None:
    model, step = model_of(final({"name": "Paris", "people": 1}), native=False)

    answer = await model.complete("?", output=City)

    assert answer.output == City(name="Paris", people=1)
    assert (answer.content, answer.tool_calls) == ('{"name":"Paris","people":1}', [])
    assert answer.stop_reason == "end_turn"
    assert answer.message == Message(role="assistant", content='{"name":"Paris","people":1}')
    (tool,) = step.calls[0].tools or []
    assert (tool.name, tool.parameters) == ("final_answer", City.model_json_schema())
    assert step.calls[0].options == {"tool_choice": "required"}


async def test_what_is_no_object_is_the_value_of_the_tool() -> None:
    model, step = model_of(final({"value": [1, 2]}), native=False)

    answer = await model.complete("?", output=list[int])

    assert answer.output == [1, 2]
    (tool,) = step.calls[0].tools or []
    assert tool.parameters["required"] == ["value"]


@pytest.mark.parametrize("native", [True, False])
async def test_while_the_model_calls_tools_there_is_no_output(native: bool) -> None:
    call = ToolCall(id="1", name="weather", arguments={})
    model, step = model_of(response(None, tool_calls=[call]), native=native)  # type: ignore[arg-type]

    answer = await model.complete("?", [WEATHER], output=City)

    assert (answer.output, answer.tool_calls) == (None, [call])
    names = [tool.name for tool in step.calls[0].tools or []]
    assert names == (["weather"] if native else ["weather", "final_answer"])


@pytest.mark.parametrize("known", [0, 1])
async def test_what_is_not_known_of_one_answer_is_not_known_of_both(known: int) -> None:
    most = Usage(input_tokens=2**63 - 1, output_tokens=5, total_tokens=2**63 - 1)
    metadata = [{"cost_usd": 0.25}, {"unreported": ["output_tokens"]}]
    model, _ = model_of(
        response("Paris!", metadata=metadata[known], usage=most),
        response(PARIS, metadata=metadata[1 - known], usage=most),
    )

    answer = await model.complete("The largest?", output=City)

    total = Usage(input_tokens=2**63 - 1, output_tokens=10, total_tokens=2**63 - 1)
    assert answer.usage == total
    assert answer.metadata == {"unreported": ["output_tokens"], "output_retries": 1}


# Holds: arcllm-22
async def test_an_answer_that_does_not_fit_is_asked_for_once_more() -> None:
    model, step = model_of(
        response("Paris!", metadata={"cost_usd": 0.25}),
        response(PARIS, metadata={"cost_usd": 0.5}),
    )

    answer = await model.complete("The largest?", output=City)

    assert answer.output.name == "Paris"
    assert answer.usage == Usage(input_tokens=20, output_tokens=10, total_tokens=30)
    assert answer.metadata == {"cost_usd": 0.75, "output_retries": 1}
    asked, refused, told = step.calls[1].messages
    assert asked == Message(role="user", content="The largest?")
    assert refused == Message(role="assistant", content="Paris!")
    assert "Invalid JSON" in str(told.content)
    assert FIT in str(told.content)
    assert '"people"' in str(told.content)


# Holds: arcllm-22
async def test_two_answers_that_do_not_fit_are_an_error_with_the_text() -> None:
    model, step = model_of(response("Paris!"), response('{"name": "Paris"}'))

    with pytest.raises(ArcLLMParseError, match="people: Field required") as caught:
        await model.complete("?", output=City)
    assert caught.value.raw_string == '{"name": "Paris"}'
    assert len(step.calls) == 2


@pytest.mark.parametrize("reason", ["max_tokens", "content_filter", "refusal"])
async def test_an_answer_that_was_cut_short_is_not_asked_for_again(reason: str) -> None:
    model, step = model_of(response('{"name": "Par', stop_reason=reason))

    with pytest.raises(ArcLLMParseError, match=f"it ended with `{reason}`"):
        await model.complete("?", output=City)
    assert len(step.calls) == 1


async def test_arguments_that_are_no_json_are_asked_for_once_more() -> None:
    broken = ArcLLMParseError('{"name": Par', ValueError("no JSON"))
    broken.response = response("", metadata={"unparsed_calls": [{"name": "final_answer"}]})
    model, step = model_of(broken, final({"name": "Paris", "people": 1}), native=False)

    answer = await model.complete("?", output=City)

    assert answer.output == City(name="Paris", people=1)
    assert step.calls[1].messages[1] == Message(role="assistant", content='{"name": Par')


async def test_a_stream_ends_with_the_object() -> None:
    model, _ = model_of(response("[1, 2]"))

    pieces = [piece async for piece in model.stream("?", output=list[int])]

    assert pieces[:-1] == [TextDelta("[1,"), TextDelta("2]")]
    assert isinstance(pieces[-1], StructuredResponse)
    assert pieces[-1].output == [1, 2]


async def test_a_stream_takes_back_what_does_not_fit() -> None:
    model, _ = model_of(response("No idea"), response("[3]"))

    stream = model.stream("?", output=list[int])
    pieces = [piece async for piece in stream]

    assert stream.response is not None
    assert pieces == [
        TextDelta("No"), TextDelta("idea"), RetractedDelta(0), TextDelta("[3]"), stream.response,
    ]  # fmt: skip
    assert (stream.response.output, stream.response.usage.total_tokens) == ([3], 30)


async def test_a_stream_that_is_left_early_ends_its_call() -> None:
    model, step = model_of(response("[1, 2]"))

    async with model.stream("?", output=list[int]) as stream:
        await anext(stream)
        assert step.open == 1
    assert step.open == 0


@pytest.mark.parametrize(
    ("server", "name"), [(AnthropicServer, "anthropic"), (ChatServer, "groq:gpt-4o")]
)
async def test_services_are_asked_in_their_own_way(server: Any, name: str) -> None:
    arguments = {"name": "Paris", "people": 5}
    native = name == "anthropic"
    with server() as running:
        said = json.dumps(arguments) if native else Answer(Call("final_answer", arguments))
        running.answers = [said] * 2
        async with load_model(name, base_url=running.url, api_key="a-key-of-tests") as model:
            whole = await model.complete("The largest city of France?", output=City)
            stream = model.stream("The largest city of France?", output=City)
            pieces = [piece async for piece in stream]
        assert running.refusals == []
        tools = [bool(each.body.get("tools")) for each in running.requests]

    assert tools == [not native] * 2
    assert whole.output == City(name="Paris", people=5)
    assert pieces[-1] == stream.response
    assert stream.response is not None
    assert stream.response.output == whole.output
    texts = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    assert json.loads("".join(texts)) == arguments


@given(st.from_type(Point), st.text(max_size=20))
def test_what_a_type_writes_it_reads(point: Point, noise: str) -> None:
    from amplifier_providers.answers.output_type import OutputType

    type_ = OutputType(Point)

    assert type_.read(json.dumps(vars(point))) == (point, None)
    value, problem = type_.read(noise)
    assert (value is None) == (problem is not None)
