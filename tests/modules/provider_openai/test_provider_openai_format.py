"""Structured answers of `provider-openai`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from responses_wire import Answer, Server, message

from amplifier_agent import Agent
from amplifier_core.message_models import (
    ChatRequest,
    Message,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    ResponseFormatText,
)
from amplifier_providers.openai import OpenAIProvider

Make = Callable[..., OpenAIProvider]


class City(BaseModel):
    name: str
    people: int = 0


SCHEMA = City.model_json_schema()
STRICT = {
    "title": "City",
    "type": "object",
    "properties": {
        "name": {"title": "Name", "type": "string"},
        "people": {"title": "People", "type": "integer"},
    },
    "required": ["name", "people"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"any": {"type": "object"}}}
LISTED = {"type": "array", "items": {"type": "string"}}


async def sent(
    server: Server, provider: OpenAIProvider, form: Any
) -> tuple[dict[str, Any], str | None]:
    server.answers = [Answer.of(message('{"name": "Paris", "people": 2}'))]
    messages = [Message(role="user", content="hi")]
    answer = await provider.complete(ChatRequest(messages=messages, response_format=form))
    degradation = answer.degradation
    return server.bodies[-1], degradation.actual if degradation else None


@pytest.mark.parametrize(
    ("schema", "strict", "wanted", "told"),
    [
        (SCHEMA, None, {"name": "City", "schema": STRICT, "strict": True}, None),
        (SCHEMA, False, {"name": "City", "schema": SCHEMA, "strict": False}, None),
        (
            {"name": "of mine", "schema": SCHEMA},
            True,
            {"name": "of_mine", "schema": STRICT, "strict": True},
            None,
        ),
        (OPEN, None, {"name": "answer", "schema": OPEN, "strict": False}, None),
        (
            OPEN,
            True,
            {"name": "answer", "schema": OPEN, "strict": False},
            "a schema that guides the model",
        ),
    ],
)
async def test_an_answer_is_held_to_a_schema(
    server: Server,
    make: Make,
    schema: dict[str, Any],
    strict: bool | None,
    wanted: dict[str, Any],
    told: str | None,
) -> None:
    form = ResponseFormatJsonSchema(json_schema=schema, strict=strict)
    body, degraded = await sent(server, make(), form)
    assert body["text"] == {"format": {"type": "json_schema", **wanted}}
    assert degraded == told
    assert len(body["input"]) == 1


@pytest.mark.parametrize(
    ("model", "schema", "form", "told"),
    [
        (
            "gpt-4-turbo",
            SCHEMA,
            {"format": {"type": "json_object"}},
            "a JSON object, and a text with the schema",
        ),
        ("gpt-4", SCHEMA, None, "a text with the schema"),
        ("gpt-5.5", LISTED, None, "a text with the schema"),
        ("gpt-4-turbo", LISTED, None, "a text with the schema"),
    ],
)
async def test_where_no_schema_can_be_held_to_it_is_asked_for_in_a_text(
    server: Server, make: Make, model: str, schema: dict[str, Any], form: Any, told: str
) -> None:
    asked = ResponseFormatJsonSchema(json_schema=schema)
    body, degraded = await sent(server, make(default_model=model), asked)
    assert body.get("text") == form
    assert degraded == told
    last = body["input"][-1]
    assert last["role"] == "developer"
    assert '"type": "' in last["content"][0]["text"]


async def test_any_json_and_any_text(server: Server, make: Make) -> None:
    body, degraded = await sent(server, make(), ResponseFormatJson())
    assert (body["text"], degraded) == ({"format": {"type": "json_object"}}, None)
    assert "JSON" in body["input"][-1]["content"][0]["text"]
    body, degraded = await sent(server, make(default_model="gpt-4"), ResponseFormatJson())
    assert ("text" in body, degraded) == (False, "a text that asks for it")
    body, _ = await sent(server, make(), ResponseFormatText())
    assert "text" not in body
    assert len(body["input"]) == 1


async def test_an_agent_gets_its_object_without_a_further_tool(server: Server) -> None:
    server.answers = [Answer.of(message('{"name": "Paris", "people": 2}'))]
    config = {"api_key": "k", "base_url": f"{server.url}/v1"}
    plan = {"providers": [{"module": "provider-openai", "config": config}]}
    agent = Agent(plan=plan, output=City)
    result = await agent.run("Where?")
    assert result.output == City(name="Paris", people=2)
    assert server.bodies[0]["text"]["format"]["schema"]["required"] == ["name", "people"]
    assert "tools" not in server.bodies[0]
