"""A server with all that the conformance suite of the protocol asks for, through hooks and guard.

`python conformance_server.py FILE` serves at a free port of this machine and writes the address; the
file has the tools whose calls its hook has judged.
"""

from __future__ import annotations

import base64
import json
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    SamplingMessage,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

from amplifier_agent import ToolContext, ToolServer, hook, tool
from amplifier_core.models import ToolResult

PNG = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    )
).decode()
WAV = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
).decode()
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


@hook("tool:pre")
def judge(_event: str, data: dict[str, Any]) -> None:
    """Note each call."""
    with Path(sys.argv[1]).open("a") as file:
        file.write(f"{data['tool_name']}\n")


@tool
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool
def test_image_content() -> ToolResult:
    """Return an image."""
    return ToolResult(output="", content=[IMAGE])


@tool
def test_error_handling() -> str:
    """Fail."""
    raise ValueError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress."""
    for done in (0.0, 0.5, 1.0):
        context.progress("working", done)
        await anyio.sleep(0.05)
    return "done"


class SchemaTool:
    """A tool whose schema uses what JSON Schema 2020-12 has."""

    name = "json_schema_2020_12_tool"
    description = "Tool with JSON Schema 2020-12 features for conformance testing"
    input_schema: dict[str, Any] = {  # noqa: RUF012
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return the arguments."""
        return ToolResult(output=input)


server = ToolServer(
    "conformance",
    tools=[
        test_simple_text,
        test_image_content,
        test_error_handling,
        test_tool_with_progress,
        SchemaTool(),
    ],
    hooks=[judge, "hooks-guard"],
    version="1",
)


@server.tool()
def test_audio_content() -> CallToolResult:
    """Return a sound."""
    return CallToolResult(content=[AudioContent(type="audio", data=WAV, mime_type="audio/wav")])


def embed(uri: str, media_type: str, text: str) -> EmbeddedResource:
    """Return a resource in a result."""
    contents = TextResourceContents(uri=uri, mime_type=media_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


@server.tool()
def test_embedded_resource() -> CallToolResult:
    """Return a resource."""
    text = "This is an embedded resource content."
    return CallToolResult(content=[embed("test://embedded-resource", "text/plain", text)])


@server.tool()
def test_multiple_content_types() -> CallToolResult:
    """Return a text, an image and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    return CallToolResult(
        content=[
            TextContent(type="text", text="Multiple content types test:"),
            ImageContent(type="image", data=PNG, mime_type="image/png"),
            embed("test://mixed-content-resource", "application/json", data),
        ]
    )


class UserForm(BaseModel):
    """What a person is asked for."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@server.tool()
async def test_elicitation(message: str, context: Context) -> str:
    """Ask a person."""
    answer = await context.elicit(message, UserForm)
    return f"User response: {answer.action}"


async def put_form(context: Context, message: str, schema: dict[str, Any]) -> str:
    """Ask a person with a form, and return what they did."""
    answer = await context.session.elicit_form(message, schema, context.request_id)
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


@server.tool()
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Ask with defaults."""
    properties: dict[str, Any] = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    }
    return await put_form(context, "Your data", {"type": "object", "properties": properties})


@server.tool()
async def test_elicitation_sep1330_enums(context: Context) -> str:
    """Ask with all kinds of choices."""
    options = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"}
        for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    choices = [{**each, "title": each["title"].replace("Option", "Choice")} for each in titled]
    properties: dict[str, Any] = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": choices}},
    }
    return await put_form(context, "Choose", {"type": "object", "properties": properties})


def ask_for(message: str, field: str, kind: str = "string") -> ElicitRequest:
    """Return a question for one value."""
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def read_answer(context: Context, key: str) -> dict[str, Any] | None:
    """Return what a person has answered; None if there is no answer."""
    answer = (context.input_responses or {}).get(key)
    return dict(answer.content or {}) if isinstance(answer, ElicitResult) else None


@server.tool()
def test_input_required_result_elicitation(context: Context) -> str | InputRequiredResult:
    """Ask by the result."""
    answer = read_answer(context, "user_name")
    if answer is None or "name" not in answer:
        return InputRequiredResult(
            input_requests={"user_name": ask_for("What is your name?", "name")}
        )
    return f"Hello, {answer['name']}!"


@server.tool()
def test_input_required_result_request_state(context: Context) -> str | InputRequiredResult:
    """Ask by the result, with a state."""
    if context.request_state != "first" or read_answer(context, "confirm") is None:
        questions = {"confirm": ask_for("Please confirm", "ok", "boolean")}
        return InputRequiredResult(input_requests=dict(questions), request_state="first")
    return "state-ok"


@server.tool()
def test_input_required_result_tampered_state(context: Context) -> str | InputRequiredResult:
    """Ask by the result, with a state that nobody else can make."""
    return test_input_required_result_request_state(context)


@server.tool()
def test_input_required_result_multi_round(context: Context) -> str | InputRequiredResult:
    """Ask twice."""
    if context.request_state == "two" and read_answer(context, "step2") is not None:
        return "done"
    if context.request_state == "one" and read_answer(context, "step1") is not None:
        second = ask_for("Step 2: What is your favorite color?", "color")
        return InputRequiredResult(input_requests={"step2": second}, request_state="two")
    first = ask_for("Step 1: What is your name?", "name")
    return InputRequiredResult(input_requests={"step1": first}, request_state="one")


@server.tool()
def test_input_required_result_capabilities(context: Context) -> str | InputRequiredResult:
    """Ask for what the client says that it can do, and for nothing else."""
    capabilities = context.client_capabilities
    if capabilities is None or context.input_responses:
        return "done"
    questions: dict[str, InputRequest] = {}
    if capabilities.elicitation is not None:
        questions["user_name"] = ask_for("What is your name?", "name")
    if capabilities.sampling is not None:
        question = SamplingMessage(role="user", content=TextContent(type="text", text="Hello"))
        params = CreateMessageRequestParams(messages=[question], max_tokens=10)
        questions["greeting"] = CreateMessageRequest(params=params)
    return InputRequiredResult(input_requests=questions) if questions else "done"


@server.tool()
def test_missing_capability(context: Context) -> str:
    """Refuse the request of a client that cannot do what the tool needs."""
    capabilities = context.client_capabilities
    if capabilities is not None and capabilities.sampling is not None:
        return "done"
    raise MCPError(
        code=MISSING_REQUIRED_CLIENT_CAPABILITY,
        message="the client cannot do what the tool needs",
        data={"requiredCapabilities": {"sampling": {}}},
    )


@server.tool()
def test_trigger_tool_change() -> str:
    """Add a tool, or take it away; the server tells who listens."""
    names = [each.name for each in server._tool_manager.list_tools()]
    if "test_added" in names:
        server.remove_tool("test_added")
    else:
        server.add_tool(lambda: "added", name="test_added", description="Was added.")
    return "changed"


@server.tool()
async def test_trigger_prompt_change(context: Context) -> str:
    """Say that the prompts have changed."""
    await context.notify_prompts_changed()
    return "changed"


@server.resource("test://static-text", mime_type="text/plain", description="A text")
def static_text() -> str:
    """Return a text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png", description="An image")
def static_binary() -> bytes:
    """Return an image."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", mime_type="text/plain", description="A watched text")
def watched() -> str:
    """Return a text."""
    return "watched"


@server.resource("test://template/{id}/data", mime_type="application/json", description="Data")
def template(id: str) -> str:
    """Return data."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt()
def test_simple_prompt() -> str:
    """Say something."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Say something with two values."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
    """Say something with a resource."""
    resource = embed(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]


@server.prompt()
def test_prompt_with_image() -> list[Any]:
    """Say something with an image."""
    image = ImageContent(type="image", data=PNG, mime_type="image/png")
    return [UserMessage(image), UserMessage("Please analyze the image above.")]


@server.prompt()
def test_input_required_result_prompt(context: Context) -> str | InputRequiredResult:
    """Ask, and say something."""
    answer = read_answer(context, "user_context")
    if answer is None:
        question = ask_for("What context should the prompt use?", "context")
        return InputRequiredResult(input_requests={"user_context": question})
    return f"In the context {answer.get('context')}"


@server.completion()
async def complete(_ref: Any, argument: Any, _context: Any) -> Completion:
    """Complete a value."""
    known = ["paris", "park", "party"]
    values = [each for each in known if each.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


async def note_subscription(
    _context: Any, _params: SubscribeRequestParams | UnsubscribeRequestParams
) -> EmptyResult:
    """Take who wants to hear of changes of a resource, which does not change."""
    return EmptyResult()


lowlevel = server._lowlevel_server
lowlevel.add_request_handler("resources/subscribe", SubscribeRequestParams, note_subscription)
lowlevel.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, note_subscription)


async def main() -> None:
    """Serve until the program is ended."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_config=None)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    anyio.run(main)
