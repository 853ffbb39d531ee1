"""What tools and the schemas of answers say is sent without personal data and secrets."""

from __future__ import annotations

from typing import Any

import pytest
from fake_step import FakeStep, ask

from arcllm import Tool
from arcllm.layers.security import ArcLLMSecurityError, SecurityLayer, SecuritySettings
from arcllm.step import Call

MAIL, MARK = "ada@example.com", "[PII:EMAIL]"
KEY = "sk-ant-api03-" + "a1B2c3D4" * 10


def layer(beneath: FakeStep, **settings: Any) -> SecurityLayer:
    return SecurityLayer(beneath, SecuritySettings.model_validate(settings))


def tool(text: str, names: str = MAIL) -> Tool:
    """A tool that has this in all that it says, and the other in all that it binds to."""
    said: dict[str, Any] = {"description": f"Like {text}.", "title": text, "$comment": text}
    field = {**said, "type": "string", "default": text, "examples": [text, {"to": text}]}
    parameters = {
        **said,
        "type": "object",
        "$defs": {"description": field},
        "properties": {
            names: {"enum": [names, "b"], "description": text},
            "default": {"anyOf": [{"const": names}, {"pattern": names}, field], "items": field},
            "password": {"type": "string"},
        },
        "required": [names],
    }
    return Tool(name="send", description=f"Sends to {text}.", parameters=parameters)


# Holds: layer-18
async def test_personal_data_leaves_from_no_text_of_a_tool_and_what_binds_stays() -> None:
    beneath, tools = FakeStep(), [tool("nobody"), tool(MAIL)]
    form = {"type": "json_schema", "json_schema": tool(MAIL).parameters}

    answer = await layer(beneath).complete(
        Call(ask().messages, tools, {"response_format": form, "stop": [MAIL]})
    )

    [call] = beneath.calls
    assert call.tools == [tool("nobody"), tool(MARK)]
    assert call.options == {
        "response_format": {"type": "json_schema", "json_schema": tool(MARK).parameters},
        "stop": [MAIL],
    }
    assert tools == [tool("nobody"), tool(MAIL)]
    assert answer.metadata["security"] == {"request": ["EMAIL"]}


async def test_secrets_leave_from_no_text_of_a_tool() -> None:
    beneath = FakeStep()

    await layer(beneath).complete(ask(tools=[tool(KEY, "to")]))

    assert KEY not in repr(beneath.calls[0].tools)
    with pytest.raises(ArcLLMSecurityError, match="the request holds `SECRET`"):
        await layer(beneath, action="block").complete(ask(tools=[tool(KEY, "to")]))
    await layer(beneath, secrets=["response"]).complete(ask(tools=[tool(KEY, "to")]))
    assert beneath.calls[1].tools == [tool(KEY, "to")]
