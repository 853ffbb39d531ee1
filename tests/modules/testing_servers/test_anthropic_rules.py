"""What the Anthropic server accepts and refuses, a row a rule."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from amplifier_testing.servers import AnthropicModel, AnthropicServer
from amplifier_testing.servers.anthropic import MODELS, SentAnswers, judge
from amplifier_testing.servers.anthropic.judge import RULES

Body = dict[str, Any]

OLD, MIDDLE, NEW, ALWAYS = (
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-6",
    "claude-sonnet-5",
    "claude-opus-5-5",
)
USER = {"role": "user", "content": "hi"}
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
JPEG = base64.b64encode(b"\xff\xd8\xffrest").decode()
PDF = base64.b64encode(b"%PDF-1.7").decode()
EPHEMERAL = {"type": "ephemeral"}
FETCHED = {"type": "web_fetch_tool_result_error", "error_code": "unavailable"}
HEADERS = {
    "x-api-key": "key",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
}
SIGNER = AnthropicServer(secret=b"tests")
CONSULT = " Please consult our documentation at https://docs.claude.com/"


def body(*messages: Body, **fields: Any) -> Body:
    given = {"model": OLD, "max_tokens": 4_000, "messages": list(messages) or [USER], **fields}
    return {name: value for name, value in given.items() if value is not ...}


def user(*blocks: Body) -> Body:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Body) -> Body:
    return {"role": "assistant", "content": list(blocks)}


def text(said: str = "ok", **fields: Any) -> Body:
    return {"type": "text", "text": said, **fields}


def use(id: str = "t1", name: str = "look", **fields: Any) -> Body:
    return {"type": "tool_use", "id": id, "name": name, "input": {}, **fields}


def result(id: str = "t1", **fields: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": id, **fields}


def thought(said: str = "hm", signature: str | None = None) -> Body:
    signed = SIGNER.sign(said) if signature is None else signature
    return {"type": "thinking", "thinking": said, "signature": signed}


def redacted(data: str | None = None) -> Body:
    return {"type": "redacted_thinking", "data": SIGNER.redact("x") if data is None else data}


def tool(name: str = "look", **fields: Any) -> Body:
    return {"name": name, "input_schema": {"type": "object"}, **fields}


def schema(**fields: Any) -> Body:
    return tool(input_schema={"type": "object", **fields})


def image(**source: Any) -> Body:
    return {"type": "image", "source": source}


def document(**source: Any) -> Body:
    return {"type": "document", "source": source}


def base64_image(media_type: str, data: str) -> Body:
    return image(type="base64", media_type=media_type, data=data)


def formatted(given: Body) -> Body:
    return {"format": {"type": "json_schema", "schema": given}}


def searched(id: str = "srvtoolu_1", name: str = "web_search") -> Body:
    return {"type": "server_tool_use", "id": id, "name": name, "input": {"query": "x"}}


def found(id: str = "srvtoolu_1", kind: str = "web_search_tool_result", content: Any = ()) -> Body:
    return {"type": kind, "tool_use_id": id, "content": content or []}


def budget(tokens: Any = 1_024) -> Body:
    return {"type": "enabled", "budget_tokens": tokens}


ADAPTIVE = {"type": "adaptive"}
CALLED = (USER, assistant(use()))
TOOLS = [tool()]
MARKED = [text("a", cache_control=EPHEMERAL)]
LONG = {"type": "ephemeral", "ttl": "1h"}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "additionalProperties": False}


def listed(least: int) -> Body:
    return {**CLOSED, "properties": {"a": {"type": "array", "items": {}, "minItems": least}}}


def many(count: int) -> Body:
    return {**CLOSED, "properties": {f"p{number}": {"type": "null"} for number in range(count)}}


LOOK_FIRST = "`tool_use` ids were found without `tool_result` blocks immediately after: "
EACH_USE = (
    ". Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
EACH_RESULT = (
    ". Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)
START = (
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled,"
    " a final `assistant` message must start with a thinking block (preceding the lastmost set of"
    " `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous"
    " turns. To avoid this requirement, disable `thinking`."
)
BLOCK_TAGS = (
    "'bash_code_execution_tool_result', 'code_execution_tool_result', 'container_upload',"
    " 'document', 'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text',"
    " 'text_editor_code_execution_tool_result', 'thinking', 'tool_result',"
    " 'tool_search_tool_result', 'tool_use', 'web_fetch_tool_result', 'web_search_tool_result'"
)


def case(claim: str, accepted: Body, refused: Body, message: str) -> Any:
    return pytest.param(accepted, refused, message, id=claim)


CASES = [
    # Fields
    case("model is required", body(), body(model=...), "model: Field required"),
    case("model is a string", body(), body(model=5), "model: Input should be a valid string"),
    case("model has a name", body(), body(model=""), "model: String should have at least 1 character"),
    case("max_tokens is required", body(), body(max_tokens=...), "max_tokens: Field required"),
    case("max_tokens is whole", body(), body(max_tokens=1.5),
     "max_tokens: Input should be a valid integer"),
    case("max_tokens is no boolean", body(), body(max_tokens=True),
     "max_tokens: Input should be a valid integer"),
    case("max_tokens is positive", body(max_tokens=1), body(max_tokens=0),
     "max_tokens: Input should be greater than or equal to 1"),
    case("max_tokens is what the model has", body(max_tokens=64_000), body(max_tokens=64_001),
     "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for"
     " claude-sonnet-4-5-20250929"),
    case("no field is unknown", body(stream=True), body(verbosity="low"),
     "verbosity: Extra inputs are not permitted"),
    case("no field of a message is unknown", body(), body({**USER, "name": "x"}),
     "messages.0.name: Extra inputs are not permitted"),
    case("no field of a block is unknown", body(user(text())), body(user(text(id="x"))),
     "messages.0.content.0.text.id: Extra inputs are not permitted"),
    case("blocks are of a known type", body(user(text())), body(user({"type": "hologram"})),
     "messages.0.content.0: Input tag 'hologram' found using 'type' does not match any of the"
     f" expected tags: {BLOCK_TAGS}"),
    case("blocks have a type", body(user(text())), body(user({"text": "x"})),
     "messages.0.content.0.type: Field required"),
    case("blocks are objects", body(user(text())), body({"role": "user", "content": ["x"]}),
     "messages.0.content.0: Input should be a valid dictionary"),
    case("strings have no lone surrogate", body(user(text("\U0001f600"))), body(user(text("\ud83d"))),
     "The request body is not valid JSON: a lone surrogate in a string"),
    case("numbers are finite", body(temperature=0.5), body(temperature=float("nan")),
     "The request body is not valid JSON: a number that is not finite"),
    # Parameters
    case("temperature is at most 1", body(temperature=1), body(temperature=1.5),
     "temperature: Input should be less than or equal to 1"),
    case("newer models take no sampling", body(model=NEW), body(model=NEW, temperature=1),
     "`temperature` is deprecated for this model."),
    case("newer models take no top_k", body(top_k=5), body(model=ALWAYS, top_k=5),
     "`top_k` is deprecated for this model."),
    case("temperature and top_p exclude each other", body(top_p=0.5), body(top_p=0.5, temperature=1),
     "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
    case("stop sequences are not blank", body(stop_sequences=["a"]), body(stop_sequences=["\n"]),
     "stop_sequences: each stop sequence must contain non-whitespace"),
    case("stop sequences are strings", body(stop_sequences=["a"]), body(stop_sequences=[1]),
     "stop_sequences.0: Input should be a valid string"),
    case("metadata has a user", body(metadata={"user_id": "u"}), body(metadata={"name": "u"}),
     "metadata.name: Extra inputs are not permitted"),
    case("user ids are short", body(metadata={"user_id": "u" * 256}),
     body(metadata={"user_id": "u" * 257}),
     "metadata.user_id: String should have at most 256 characters"),
    case("the service tier exists", body(service_tier="auto"), body(service_tier="fast"),
     "service_tier: Input should be 'auto' or 'standard_only'"),
    case("the effort is one of the model", body(model=NEW, output_config={"effort": "max"}),
     body(model="claude-opus-4-5", output_config={"effort": "max"}),
     "This model does not support effort level 'max'."),
    case("older models take no effort", body(model="claude-opus-4-5", output_config={"effort": "low"}),
     body(output_config={"effort": "low"}), "This model does not support the effort parameter."),
    case("the effort exists", body(model=NEW, output_config={"effort": "low"}),
     body(model=NEW, output_config={"effort": "none"}),
     "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"),
    case("the schema of the output is closed", body(output_config=formatted(CLOSED)),
     body(output_config=formatted(OPEN)),
     "output_config.format.schema: 'additionalProperties' is required to be supplied and to be"
     " false"),
    case("the schema of the output has no oneOf", body(output_config=formatted(CLOSED)),
     body(output_config=formatted({**CLOSED, "properties": {"a": {"oneOf": []}}})),
     "output_config.format.schema.properties.a: 'oneOf' is not permitted"),
    case("the schema of the output has no bounds",
         body(output_config=formatted({**CLOSED, "properties": {"a": {"type": "integer"}}})),
         body(output_config=formatted({**CLOSED, "properties": {"a": {"type": "integer",
              "minimum": 1}}})),
         "output_config.format.schema.properties.a: 'minimum' is not permitted"),
    case("arrays of the output are empty or not", body(output_config=formatted(listed(1))),
         body(output_config=formatted(listed(2))),
         "output_config.format.schema.properties.a: 'minItems' is not permitted"),
    case("the schema of the output is finite",
         body(output_config=formatted({**CLOSED, "$defs": {"b": CLOSED},
              "properties": {"a": {"$ref": "#/$defs/b"}}})),
         body(output_config=formatted({**CLOSED, "properties": {"a": {"$ref": "#"}}})),
         "output_config.format.schema: recursive schemas are not permitted"),
    case("references lead somewhere", body(output_config=formatted(CLOSED)),
         body(output_config=formatted({**CLOSED, "properties": {"a": {"$ref": "#/$defs/b"}}})),
         "output_config.format.schema.properties.a: reference '#/$defs/b' can not be resolved"),
    case("at most 24 properties are optional", body(output_config=formatted(many(24))),
         body(output_config=formatted(many(25))),
         "output_config.format.schema: 24 optional properties exceeded"),
    # Thinking
    case("the budget is at least 1,024", body(thinking=budget()), body(thinking=budget(1_023)),
     "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    case("the budget is below max_tokens", body(thinking=budget(3_999)), body(thinking=budget(4_000)),
     f"`max_tokens` must be greater than `thinking.budget_tokens`.{CONSULT}"),
    case("thinking with a budget has one", body(thinking=budget()), body(thinking={"type": "enabled"}),
     "thinking.enabled.budget_tokens: Field required"),
    case("thinking is of a known type", body(thinking={"type": "disabled"}),
     body(thinking={"type": "on"}),
     "thinking: Input tag 'on' found using 'type' does not match any of the expected tags:"
     " 'adaptive', 'between_tools', 'disabled', 'enabled'"),
    case("older models have a budget", body(model=MIDDLE, thinking=ADAPTIVE), body(thinking=ADAPTIVE),
     "adaptive thinking is not supported on this model"),
    case("newer models are adaptive", body(model=MIDDLE, thinking=budget()),
     body(model=NEW, thinking=budget()),
     '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and'
     ' "output_config.effort" to control thinking behavior.'),
    case("some models cannot think", body(model="claude-3-haiku-20240307"),
     body(model="claude-3-haiku-20240307", thinking=budget()),
     "'claude-3-haiku-20240307' does not support thinking."),
    case("some models always think", body(model=NEW, thinking={"type": "disabled"}),
     body(model=ALWAYS, thinking={"type": "disabled"}),
     '"thinking.type.disabled" is not supported for this model.'),
    case("thinking has a display", body(thinking={**budget(), "display": "omitted"}),
     body(thinking={**budget(), "display": "all"}),
     "thinking.enabled.display: Input should be 'summarized' or 'omitted'"),
    case("thinking excludes another temperature", body(thinking=budget(), temperature=1),
     body(thinking=budget(), temperature=0.5),
     f"`temperature` may only be set to 1 when thinking is enabled.{CONSULT}"),
    case("thinking excludes top_k", body(thinking=budget()), body(thinking=budget(), top_k=5),
     f"`top_k` must be unset when thinking is enabled.{CONSULT}"),
    case("thinking excludes a low top_p", body(thinking=budget(), top_p=0.95),
     body(thinking=budget(), top_p=0.9),
     "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
     + CONSULT),
    case("thinking excludes a forced call",
     body(thinking=budget(), tools=TOOLS, tool_choice={"type": "auto"}),
     body(thinking=budget(), tools=TOOLS, tool_choice={"type": "any"}),
     "Thinking may not be enabled when tool_choice forces tool use."),
    case("a signature is that of its text", body(USER, assistant(thought(), use()), user(result())),
     body(USER, assistant(thought("hm.", SIGNER.sign("hm")), use()), user(result())),
     "messages.1.content.0: Invalid `signature` in `thinking` block"),
    case("a signature is not empty", body(USER, assistant(thought(), text()), USER),
     body(USER, assistant(thought("hm", ""), text()), USER),
     "messages.1.content.0: Invalid `signature` in `thinking` block"),
    case("hidden thoughts are the server's", body(USER, assistant(redacted(), use()), user(result())),
     body(USER, assistant(redacted("eA==.eA=="), use()), user(result())),
     "messages.1.content.0: Invalid `data` in `redacted_thinking` block"),
    case("the turn in progress begins with a thought",
     body(USER, assistant(thought(), use()), user(result()), thinking=budget()),
     body(*CALLED, user(result()), thinking=budget()), f"messages.1.content.0.type: {START}"),
    case("no mark on a thought", body(USER, assistant(thought(), text()), USER),
     body(USER, assistant({**thought(), "cache_control": EPHEMERAL}, text()), USER),
     "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    # Messages
    case("there is a message", body(), {**body(), "messages": []},
     "messages: at least one message is required"),
    case("the first message is the user's", body(), body(assistant(text()), USER),
     'messages: first message must use the "user" role'),
    case("there are two roles", body(), body(USER, {"role": "tool", "content": "x"}),
     "messages.1.role: Input should be 'user' or 'assistant'"),
    case("roles alternate", body(USER, assistant(text()), USER), body(USER, USER),
     'messages: roles must alternate between "user" and "assistant", but found multiple "user"'
     " roles in a row"),
    case("content is not empty", body(), body(user()),
     "messages.0: all messages must have non-empty content except for the optional final assistant"
     " message"),
    case("content is no empty string", body(), body({"role": "user", "content": ""}),
     "messages.0: all messages must have non-empty content except for the optional final assistant"
     " message"),
    case("texts are not empty", body(user(text())), body(user(text(), text(""))),
     "messages: text content blocks must be non-empty"),
    case("texts are not blank", body(user(text(" x "))), body(user(text(" \n"))),
     "messages: text content blocks must contain non-whitespace text"),
    case("the beginning of an answer ends in no whitespace", body(USER, assistant(text("So"))),
     body(USER, assistant(text("So "))),
     "messages: final assistant content cannot end with trailing whitespace"),
    case("newer models take no beginning", body(USER, assistant(text("So"))),
     body(USER, assistant(text("So")), model=NEW),
     "This model does not support assistant message prefill. The conversation must end with a user"
     " message."),
    case("blocks are in messages of their role", body(*CALLED, user(result())), body(user(use())),
     "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages"),
    case("images are the user's", body(user(base64_image("image/png", PNG))),
     body(USER, assistant(base64_image("image/png", PNG)), USER),
     "messages.1.content.0: `image` blocks can only be in `user` messages"),
    case("system texts are not empty", body(system=[text()]), body(system=[text("")]),
     "system: text content blocks must be non-empty"),
    case("system is text", body(system="x"), body(system=[base64_image("image/png", PNG)]),
     "system.0: Input tag 'image' found using 'type' does not match any of the expected tags:"
     " 'text'"),
    # Calls
    case("every call has a result", body(*CALLED, user(result())), body(*CALLED, USER),
     f"messages.1: {LOOK_FIRST}t1{EACH_USE}"),
    case("the last call has a result too", body(*CALLED, user(result())), body(*CALLED),
     f"messages.1: {LOOK_FIRST}t1{EACH_USE}"),
    case("all parallel calls have a result",
     body(USER, assistant(use(), use("t2")), user(result(), result("t2"))),
     body(USER, assistant(use(), use("t2")), user(result("t2"))),
     f"messages.1: {LOOK_FIRST}t1{EACH_USE}"),
    case("results are in the very next message", body(*CALLED, user(result())),
     body(*CALLED, USER, assistant(text()), user(result())),
     f"messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1"
     f"{EACH_RESULT}"),
    case("results come first", body(*CALLED, user(result(), text())),
     body(*CALLED, user(text(), result())),
     "messages.2.content.1: `tool_result` blocks must come before all other blocks of a `user`"
     " message"),
    case("results are of a call", body(*CALLED, user(result())), body(user(result("t9"))),
     f"messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9"
     f"{EACH_RESULT}"),
    case("a call has one result", body(*CALLED, user(result())),
     body(*CALLED, user(result(), result())),
     "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result`"
     " blocks with id: t1"),
    case("ids of calls differ", body(*CALLED, user(result()), assistant(use("t2")), user(result("t2"))),
     body(*CALLED, user(result()), assistant(use()), user(result())),
     "messages.3.content.0: `tool_use` ids must be unique"),
    case("ids have plain characters", body(*CALLED, user(result())),
     body(USER, assistant(use("call:1")), user(result("call:1"))),
     "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    case("names of calls have plain characters", body(*CALLED, user(result())),
     body(USER, assistant(use(name="a b")), user(result())),
     "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    case("arguments are an object", body(*CALLED, user(result())),
     body(USER, assistant(use(input="{}")), user(result())),
     "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    case("a search has its result", body(USER, assistant(searched(), found()), USER),
     body(USER, assistant(searched(), text()), USER),
     "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding"
     " `web_search_tool_result` block"),
    case("a result is of a search", body(USER, assistant(searched(), found()), USER),
     body(USER, assistant(found()), USER),
     "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks:"
     " srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use`"
     " block before it."),
    case("a result is of its tool", body(USER, assistant(searched(), found()), USER),
     body(USER, assistant(searched(), found(kind="web_fetch_tool_result", content=FETCHED)), USER),
     "messages.1.content.1: unexpected `tool_use_id` found in `web_fetch_tool_result` blocks:"
     " srvtoolu_1. Each `web_fetch_tool_result` block must have a corresponding `server_tool_use`"
     " block before it."),
    case("a paused answer goes on", body(USER, assistant(searched()), model=NEW),
     body(USER, assistant(searched("toolu_1")), model=NEW),
     "messages.1.content.0.server_tool_use.id: String should match pattern"
     " '^srvtoolu_[a-zA-Z0-9_]+$'"),
    # Tools
    case("names of tools have plain characters", body(tools=[tool("a-b_1")]), body(tools=[tool("a.b")]),
     "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    case("names of tools differ", body(tools=[tool("a"), tool("b")]),
     body(tools=[tool("a"), tool("a")]), "tools: Tool names must be unique."),
    case("a tool has a schema", body(tools=TOOLS), body(tools=[{"name": "look"}]),
     "tools.0.custom.input_schema: Field required"),
    case("a schema has a type", body(tools=TOOLS), body(tools=[tool(input_schema={})]),
     "tools.0.custom.input_schema.type: Field required"),
    case("a schema is of an object", body(tools=TOOLS), body(tools=[schema(type="string")]),
     "tools.0.custom.input_schema.type: Input should be 'object'"),
    case("a schema has no alternatives at the top",
     body(tools=[schema(properties={"a": {"anyOf": [{"type": "string"}]}})]),
     body(tools=[schema(anyOf=[{"type": "object"}])]),
     "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top"
     " level"),
    case("names of properties have plain characters", body(tools=[schema(properties={"a.b": {}})]),
     body(tools=[schema(properties={"a b": {}})]),
     "tools.0.custom.input_schema.properties: Property keys should match pattern"
     " '^[a-zA-Z0-9_.-]{1,64}$'"),
    case("properties are of a known type", body(tools=[schema(properties={"a": {"type": "null"}})]),
     body(tools=[schema(properties={"a": {"type": "any"}})]),
     "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft"
     " 2020-12"),
    case("a strict schema is closed", body(tools=[tool(input_schema=CLOSED, strict=True)]),
     body(tools=[tool(input_schema=OPEN, strict=True)]),
     "tools.0.custom.input_schema: 'additionalProperties' is required to be supplied and to be"
     " false"),
    case("tools of Anthropic exist", body(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
     body(tools=[{"type": "web_surf_20250305", "name": "web_surf"}]),
     "tools.0: Input tag 'web_surf_20250305' found using 'type' does not match any of the expected"
     " tags: 'custom', 'bash', 'browser_toolset', 'code_execution', 'computer_toolset',"
     " 'memory', 'text_editor', 'tool_search_tool_bm25', 'tool_search_tool_regex', 'web_fetch',"
     " 'web_search'"),
    case("tools of Anthropic have their name",
     body(tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]),
     body(tools=[{"type": "web_search_20250305", "name": "search"}]),
     "tools.0.web_search_20250305.name: Input should be 'web_search'"),
    case("a choice needs tools", body(tools=TOOLS, tool_choice={"type": "none"}),
     body(tool_choice={"type": "auto"}),
     "tool_choice may only be specified while providing tools"),
    case("a choice is of a tool that is there",
     body(tools=TOOLS, tool_choice={"type": "tool", "name": "look"}),
     body(tools=TOOLS, tool_choice={"type": "tool", "name": "see"}),
     "Tool 'see' not found in provided tools"),
    case("some models are never forced", body(model=NEW, tools=TOOLS, tool_choice={"type": "any"}),
     body(model=ALWAYS, tools=TOOLS, tool_choice={"type": "any"}),
     "tool_choice that forces tool use is not supported for this model."),
    # Media
    case("images are of four types", body(user(base64_image("image/png", PNG))),
     body(user(base64_image("image/bmp", PNG))),
     "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg',"
     " 'image/png', 'image/gif' or 'image/webp'"),
    case("images are base64", body(user(base64_image("image/jpeg", JPEG))),
     body(user(base64_image("image/jpeg", "no base64!"))),
     "messages.0.content.0.image.source.base64.data: invalid base64 data"),
    case("images are of the type that they say", body(user(base64_image("image/jpeg", JPEG))),
     body(user(base64_image("image/jpeg", PNG))),
     "messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media"
     " type, but the image appears to be a image/png image"),
    case("images can be read", body(user(base64_image("image/png", PNG))),
     body(user(base64_image("image/png", PDF))), "Could not process image"),
    case("images have one of three sources", body(user(image(type="url", url="https://a/b.png"))),
     body(user(image(type="path", path="a.png"))),
     "messages.0.content.0.image.source: Input tag 'path' found using 'type' does not match any of"
     " the expected tags: 'base64', 'file', 'url'"),
    case("addresses are of the web", body(user(image(type="url", url="https://a/b.png"))),
     body(user(image(type="url", url="file:///a.png"))),
     "messages.0.content.0.image.source.url.url: Only HTTPS URLs are supported."),
    case("a PDF is one", body(user(document(type="base64", media_type="application/pdf", data=PDF))),
     body(user(document(type="base64", media_type="application/pdf", data=PNG))),
     "messages.0.content.0.document.source.base64.data: The PDF specified was not valid."),
    case("a document of text is plain", body(user(document(type="text", media_type="text/plain",
     data="x"))), body(user(document(type="text", media_type="text/html", data="x"))),
     "messages.0.content.0.document.source.text.media_type: Input should be 'text/plain'"),
    case("a result holds blocks of few types", body(*CALLED, user(result(content=[text()]))),
     body(*CALLED, user(result(content=[use()]))),
     "messages.2.content.0.tool_result.content.0: Input tag 'tool_use' found using 'type' does not"
     " match any of the expected tags: 'browser_state', 'document', 'image', 'search_result',"
     " 'text', 'tool_reference'"),
    case("texts of a result are not empty", body(*CALLED, user(result(content=""))),
     body(*CALLED, user(result(content=[text("")]))),
     "messages: text content blocks must be non-empty"),
    case("images of a result can be read",
     body(*CALLED, user(result(content=[base64_image("image/png", PNG)]))),
     body(*CALLED, user(result(content=[base64_image("image/png", "")]))),
     "messages.2.content.0.tool_result.content.0.image.source.base64.data: image cannot be empty"),
    case("a failure is text", body(*CALLED, user(result(content=[text()], is_error=True))),
     body(*CALLED, user(result(content=[base64_image("image/png", PNG)], is_error=True))),
     'messages.2.content.0.tool_result: all content must be type "text" if `is_error` is true'),
    # Cache
    case("at most four marks", body(user(*MARKED * 4)), body(user(*MARKED * 5)),
     "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    case("a mark is ephemeral", body(user(*MARKED)),
     body(user(text(cache_control={"type": "persistent"}))),
     "messages.0.content.0.cache_control.type: Input should be 'ephemeral'"),
    case("a mark lasts minutes or an hour", body(user(text(cache_control=LONG))),
     body(user(text(cache_control={**EPHEMERAL, "ttl": "1d"}))),
     "messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'"),
    case("marks that last come first", body(user(text(cache_control=LONG), *MARKED)),
     body(user(*MARKED, text(cache_control=LONG))),
     "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a"
     " ttl='5m' cache_control block. Note that blocks are processed in the following order:"
     " `tools`, `system`, `messages`."),
]  # fmt: skip


@pytest.mark.parametrize(("accepted", "refused", "message"), CASES)
def test_the_api_accepts_one_and_refuses_the_other(
    accepted: Body, refused: Body, message: str
) -> None:
    assert judge(accepted, issued=SIGNER.issued) is None

    refusal = judge(refused, issued=SIGNER.issued)

    assert refusal is not None
    assert (refusal.status, refusal.kind, refusal.message) == (
        400,
        "invalid_request_error",
        message,
    )


@pytest.mark.parametrize(
    ("headers", "status", "kind", "message"),
    [
        ({"x-api-key": ""}, 401, "authentication_error", "x-api-key header is required"),
        ({"x-api-key": "wrong"}, 401, "authentication_error", "invalid x-api-key"),
        ({"x-api-key": "", "authorization": "Bearer no"}, 401, "authentication_error",
         "Invalid bearer token"),
        ({"anthropic-version": ""}, 400, "invalid_request_error",
         "anthropic-version: header is required"),
        ({"anthropic-version": "1"}, 400, "invalid_request_error",
         'anthropic-version: "1" is not a valid version'),
        ({"content-type": "text/plain"}, 415, "invalid_request_error",
         "Content type should be application/json"),
    ],
)  # fmt: skip
def test_headers_are_judged(headers: dict[str, str], status: int, kind: str, message: str) -> None:
    assert judge(body(), HEADERS, api_key="key") is None
    bearer = {**HEADERS, "x-api-key": "", "authorization": "Bearer key"}
    assert judge(body(), bearer, api_key="key") is None

    refusal = judge(body(), {**HEADERS, **headers}, api_key="key")

    assert refusal is not None
    assert (refusal.status, refusal.kind, refusal.message) == (status, kind, message)


def test_an_unknown_model_is_not_found_and_a_new_one_can_be_added() -> None:
    given = body(model="claude-next")
    refusal = judge(given)

    assert refusal is not None
    assert (refusal.status, refusal.kind, refusal.message) == (
        404,
        "not_found_error",
        "model: claude-next",
    )
    assert judge(given, models=[*MODELS, AnthropicModel("claude-next")]) is None


def test_roles_need_not_alternate_where_the_real_api_is_asked_for() -> None:
    assert judge(body(USER, USER), alternation=False) is None


def test_a_limit_of_a_schema_that_is_no_number_is_refused() -> None:
    held = {**CLOSED, "properties": {"a": {"type": "array", "items": {}, "minItems": []}}}
    output = {"format": {"type": "json_schema", "schema": held}}

    refusal = judge(body(output_config=output))

    assert refusal is not None
    assert refusal.message.endswith("'minItems' is not permitted")


def test_fields_and_blocks_of_a_beta_need_its_header() -> None:
    given = body(context_management={"edits": []})
    call = {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "s", "input": {}}

    assert judge(given, HEADERS) is not None
    beta = {**HEADERS, "anthropic-beta": "context-management-2025-06-27"}
    assert judge(given, beta) is None
    assert judge(body(USER, assistant(call), USER), HEADERS) is not None
    assert judge(body(USER, assistant(call), USER), beta) is None
    servers = [{"type": "mcp_toolset", "mcp_server_name": "s"}]
    assert judge(body(tools=servers), HEADERS) is not None
    assert judge(body(tools=servers), beta) is None


def test_thoughts_stay_where_they_were_in_the_turn_in_progress() -> None:
    sent = SentAnswers()
    answer = [text("First"), thought(), text("then"), use()]
    sent.remember(OLD, answer)

    def asked(*content: Body, **fields: Any) -> str | None:
        turns = (USER, assistant(*content), user(result()))
        refusal = judge(body(*turns, **fields), issued=SIGNER.issued, sent=sent)
        return refusal and refusal.message

    changed = (
        "messages.1: `thinking` or `redacted_thinking` blocks in the latest assistant message"
        " cannot be modified. These blocks must remain as they were in the original response."
    )
    assert asked(*answer) is None
    assert asked(text("First"), text(" and"), thought(), text("then"), use()) is None
    assert asked(thought(), text("First"), text("then"), use()) == changed
    assert asked(thought(), text("First"), use(), thinking=budget()) == changed
    assert asked(text("First"), text("then"), use()) is None  # nothing of it while it is off
    assert asked(thought(), thought(), text("then"), use()) == changed


def test_a_call_that_a_program_makes_leaves_the_program_without_result() -> None:
    program = searched("srvtoolu_9", "code_execution")
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_9"}
    ended = found("srvtoolu_9", "code_execution_tool_result")
    turns = (USER, assistant(program, use(caller=caller)), user(result()))

    assert judge(body(*turns)) is None
    assert judge(body(*turns, assistant({**ended, "content": {}}, text()), USER)) is None


def test_each_rule_says_what_it_holds() -> None:
    assert all(rule.__doc__ for rule in RULES)
    assert len(set(RULES)) == len(RULES)
