"""What the Chat Completions server accepts and refuses, a row a rule."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from amplifier_testing.servers import ChatServer, OpenAIModel, Preset
from amplifier_testing.servers.chat import PRESETS, judge
from amplifier_testing.servers.chat.judge import RULES

Body = dict[str, Any]

PLAIN, THINKS, BLIND = "gpt-4o", "gpt-5", "gpt-3.5-turbo"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
DATA = f"data:image/png;base64,{PNG}"
USER: Body = {"role": "user", "content": "hi"}
SYSTEM: Body = {"role": "system", "content": "Be kind."}
SIGNER = ChatServer(secret=b"tests")


def body(*messages: Any, **fields: Any) -> Body:
    given = {"model": PLAIN, "messages": list(messages) or [USER], **fields}
    return {name: value for name, value in given.items() if value is not ...}


def user(*parts: Body) -> Body:
    return {"role": "user", "content": list(parts)}


def assistant(*calls: Body, **fields: Any) -> Body:
    held = {"tool_calls": list(calls)} if calls else {}
    return {"role": "assistant", "content": None, **held, **fields}


def call(id: str = "call_1", name: str = "look", arguments: Any = "{}", **fields: Any) -> Body:
    function = {"name": name, "arguments": arguments}
    return {"id": id, "type": "function", "function": function, **fields}


def result(id: str = "call_1", content: Any = "x") -> Body:
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool(name: str = "look", **fields: Any) -> Body:
    return {"type": "function", "function": {"name": name, **fields}}


def text(said: str = "hi") -> Body:
    return {"type": "text", "text": said}


def image(url: str = DATA, **fields: Any) -> Body:
    return {"type": "image_url", "image_url": {"url": url, **fields}}


def formatted(**fields: Any) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "a", **fields}}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "additionalProperties": False, "required": ["a"]}
TURN = (USER, assistant(call()), result())
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
    " 'tool_call_id'. The following tool_call_ids did not have response messages: "
)
NO_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
    " 'tool_calls'."
)
MANY = [tool(f"tool_{number}") for number in range(129)]


def case(
    claim: str,
    accepted: Body,
    refused: Body,
    message: str,
    param: str | None,
    code: str | None = None,
) -> Any:
    return pytest.param(accepted, refused, message, param, code, id=claim)


def empty(place: str, kind: str = "string") -> tuple[str, str, str]:
    article = "an" if kind == "array" else "a"
    said = (
        f"Invalid '{place}': empty {kind}. Expected {article} {kind} with minimum length 1, but got"
        f" an empty {kind} instead."
    )
    return said, place, f"empty_{kind}"


CASES = [
    # Parameters
    case("model is required", body(), body(model=...), "Missing required parameter: 'model'.",
         "model", "missing_required_parameter"),
    case("messages are required", body(), body(messages=...),
         "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    case("no parameter is unknown", body(seed=1), body(top_k=1), "Unknown parameter: 'top_k'.",
         "top_k", "unknown_parameter"),
    case("strings have no lone surrogate", body(user(text("\U0001f600"))),
         body(user(text("\ud83d"))),
         "We could not parse the JSON body of your request: a lone surrogate in a string", None),
    case("max_tokens is positive", body(max_tokens=1), body(max_tokens=0),
         "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0"
         " instead.", "max_tokens", "integer_below_min_value"),
    case("max_tokens is what the model has", body(max_tokens=16_384), body(max_tokens=16_385),
         "max_tokens is too large: 16385. This model supports at most 16384 completion tokens,"
         " whereas you provided 16385.", "max_tokens", "invalid_value"),
    case("reasoning models take max_completion_tokens",
         body(model=THINKS, max_completion_tokens=5), body(model=THINKS, max_tokens=5),
         "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
         " 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter"),
    case("there is one limit", body(max_tokens=5), body(max_tokens=5, max_completion_tokens=5),
         "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
         "max_tokens", "invalid_parameter_combination"),
    case("temperature is at most 2", body(temperature=2), body(temperature=2.1),
         "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.1"
         " instead.", "temperature", "decimal_above_max_value"),
    case("reasoning models take the usual temperature", body(model=THINKS, temperature=1),
         body(model=THINKS, temperature=0.2),
         "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default"
         " (1) value is supported.", "temperature", "unsupported_value"),
    case("reasoning models take no stop", body(stop=["x"]), body(model=THINKS, stop=["x"]),
         "Unsupported parameter: 'stop' is not supported with this model.", "stop",
         "unsupported_parameter"),
    case("effort is for reasoning models", body(model=THINKS, reasoning_effort="low"),
         body(reasoning_effort="low"),
         "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
         "reasoning_effort", "unsupported_parameter"),
    case("the effort is one of the model", body(model="gpt-5.1", reasoning_effort="none"),
         body(model=THINKS, reasoning_effort="none"),
         "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported"
         " values are: 'high', 'low', 'medium', 'minimal'.", "reasoning_effort",
         "unsupported_value"),
    case("there are at most four stop sequences", body(stop=["a"] * 4), body(stop=["a"] * 5),
         "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array"
         " with length 5 instead.", "stop", "array_above_max_length"),
    case("options of a stream need one", body(stream=True, stream_options={"include_usage": True}),
         body(stream_options={"include_usage": True}),
         "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
         "stream_options"),
    case("a format exists", body(response_format={"type": "text"}),
         body(response_format={"type": "xml"}),
         "Invalid value: 'xml'. Supported values are: 'json_object', 'json_schema', and 'text'.",
         "response_format.type", "invalid_value"),
    case("JSON is spoken of",
         body({"role": "user", "content": "as JSON"}, response_format={"type": "json_object"}),
         body(response_format={"type": "json_object"}),
         "'messages' must contain the word 'json' in some form, to use 'response_format' of type"
         " 'json_object'.", "messages"),
    case("a format has a plain name", body(response_format=formatted(schema=CLOSED)),
         body(response_format=formatted(name="a b", schema=CLOSED)),
         "Invalid 'response_format.json_schema.name': string does not match pattern. Expected a"
         " string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
         "response_format.json_schema.name", "invalid_value"),
    case("a strict format is closed", body(response_format=formatted(schema=OPEN)),
         body(response_format=formatted(schema=OPEN, strict=True)),
         "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required"
         " to be supplied and to be false.", "response_format.json_schema.schema",
         "invalid_json_schema"),
    # Tools
    case("tools are nested", body(tools=[tool()]), body(tools=[{"type": "function", "name": "a"}]),
         "Missing required parameter: 'tools[0].function'.", "tools[0].function",
         "missing_required_parameter"),
    case("there is a tool", body(tools=[tool()]), body(tools=[]), *empty("tools", "array")),
    case("there are at most 128 tools", body(tools=MANY[:128]), body(tools=MANY),
         "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an"
         " array with length 129 instead.", "tools", "array_above_max_length"),
    case("names of tools have plain characters", body(tools=[tool("a-b_1")]),
         body(tools=[tool("a.b")]),
         "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that"
         " matches the pattern '^[a-zA-Z0-9_-]+$'.", "tools[0].function.name", "invalid_value"),
    case("names of tools are short", body(tools=[tool("a" * 64)]), body(tools=[tool("a" * 65)]),
         "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length"
         " 64, but got a string with length 65 instead.", "tools[0].function.name",
         "string_above_max_length"),
    case("names of tools differ", body(tools=[tool("a"), tool("b")]),
         body(tools=[tool("a"), tool("a")]), "Duplicate tool name 'a' in 'tools'.", "tools",
         "invalid_value"),
    case("parameters are an object", body(tools=[tool(parameters=OPEN)]),
         body(tools=[tool(parameters={"type": "string"})]),
         "Invalid schema for function 'look': schema must be a JSON Schema of 'type: \"object\"',"
         " got 'type: \"string\"'.", "tools[0].function.parameters",
         "invalid_function_parameters"),
    case("strict parameters are closed", body(tools=[tool(parameters=CLOSED, strict=True)]),
         body(tools=[tool(parameters=OPEN, strict=True)]),
         "Invalid schema for function 'look': In context=(), 'additionalProperties' is required to"
         " be supplied and to be false.", "tools[0].function.parameters",
         "invalid_function_parameters"),
    case("a choice needs tools", body(tools=[tool()], tool_choice="auto"), body(tool_choice="auto"),
         "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are"
         " specified.", "tool_choice"),
    case("parallel calls need tools", body(tools=[tool()], parallel_tool_calls=False),
         body(parallel_tool_calls=False),
         "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when"
         " 'tools' are specified.", "parallel_tool_calls"),
    case("a choice is of a tool that is there",
         body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "look"}}),
         body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "see"}}),
         "Invalid value for 'tool_choice': no function named 'see' was specified in the 'tools'"
         " parameter.", "tool_choice"),
    case("a choice is a known word", body(tools=[tool()], tool_choice="required"),
         body(tools=[tool()], tool_choice="any"),
         "Invalid value: 'any'. Supported values are: 'auto', 'none', and 'required'.",
         "tool_choice", "invalid_value"),
    # Messages
    case("there is a message", body(), {**body(), "messages": []}, *empty("messages", "array")),
    case("roles exist", body({"role": "developer", "content": "x"}),
         body({"role": "bot", "content": "x"}),
         "Invalid value: 'bot'. Supported values are: 'assistant', 'developer', 'function',"
         " 'system', 'tool', and 'user'.", "messages[0].role", "invalid_value"),
    case("messages have a role", body(), body({"content": "x"}),
         "Missing required parameter: 'messages[0].role'.", "messages[0].role",
         "missing_required_parameter"),
    case("no field of a message is unknown", body(USER), body({**USER, "id": "x"}),
         "Unknown parameter: 'messages[0].id'.", "messages[0].id", "unknown_parameter"),
    case("OpenAI takes no reasoning back", body(USER, assistant(content="ok")),
         body(USER, assistant(content="ok", reasoning_content="hm")),
         "Unknown parameter: 'messages[1].reasoning_content'.", "messages[1].reasoning_content",
         "unknown_parameter"),
    case("the user says something", body(USER), body({"role": "user", "content": ""}),
         *empty("messages[0].content")),
    case("the user has parts", body(user(text())), body(user()),
         *empty("messages[0].content", "array")),
    case("texts are not empty", body(user(text())), body(user(text(""))),
         *empty("messages[0].content[0].text")),
    case("the assistant says something or calls", body(*TURN), body(USER, assistant()),
         "Invalid value for 'content': expected a string, got null.", "messages.[1].content"),
    case("the assistant says more than nothing", body(USER, assistant(content="ok")),
         body(USER, assistant(content="")), *empty("messages[1].content")),
    case("names have plain characters", body({**USER, "name": "Ann"}),
         body({**USER, "name": "Ann B"}),
         "Invalid 'messages[0].name': string does not match pattern. Expected a string that matches"
         " the pattern '^[^\\s<|\\\\/>]+$'.", "messages[0].name", "invalid_value"),
    case("the system has texts alone", body({"role": "system", "content": [text()]}),
         body({"role": "system", "content": [image()]}),
         "Invalid value: 'image_url'. Supported values are: 'text'.", "messages[0].content[0].type",
         "invalid_value"),
    case("some models see nothing", body(user(image())), body(user(image()), model=BLIND),
         "Invalid content type. image_url is only supported by certain models.",
         "messages.[0].content.[0].type"),
    case("images have an address", body(user(image("https://a/b.png"))), body(user(image("b.png"))),
         "Invalid 'messages[0].content[0].image_url.url'. Expected a valid URL, but got a value"
         " with an invalid format.", "messages[0].content[0].image_url.url", "invalid_value"),
    case("images have a known detail", body(user(image(detail="low"))),
         body(user(image(detail="tiny"))),
         "Invalid value: 'tiny'. Supported values are: 'auto', 'high', 'low', and 'original'.",
         "messages[0].content[0].image_url.detail", "invalid_value"),
    case("images are nested", body(user(image())),
         body(user({"type": "image_url", "image_url": DATA})),
         "Invalid type for 'messages[0].content[0].image_url': expected an object, but got a string"
         " instead.", "messages[0].content[0].image_url", "invalid_type"),
    # Calls
    case("every call has a result", body(*TURN), body(USER, assistant(call()), USER),
         f"{UNANSWERED}call_1", "messages.[2].role"),
    case("the last call has a result too", body(*TURN), body(USER, assistant(call())),
         f"{UNANSWERED}call_1", "messages.[2].role"),
    case("all parallel calls have a result",
         body(USER, assistant(call(), call("call_2")), result("call_2"), result()),
         body(USER, assistant(call(), call("call_2")), result("call_2")), f"{UNANSWERED}call_1",
         "messages.[3].role"),
    case("a result is behind calls", body(*TURN), body(USER, result()), NO_CALL,
         "messages.[1].role"),
    case("a result is right behind its calls", body(*TURN, assistant(content="ok")),
         body(*TURN, USER, result()), NO_CALL, "messages.[4].role"),
    case("a result is of one of the calls", body(*TURN),
         body(USER, assistant(call()), result("call_9")),
         "Invalid parameter: 'tool_call_id' of 'call_9' not found in 'tool_calls' of previous"
         " message.", "messages.[2].tool_call_id"),
    case("a call has one result", body(*TURN), body(*TURN, result()),
         "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1'.",
         "messages.[3].tool_call_id"),
    case("ids of calls differ", body(*TURN, assistant(call("call_2")), result("call_2")),
         body(*TURN, assistant(call()), result()),
         "Invalid parameter: Duplicate value for 'id' of 'call_1' in 'tool_calls'.",
         "messages.[3].tool_calls"),
    case("ids of calls are short", body(USER, assistant(call("c" * 40)), result("c" * 40)),
         body(USER, assistant(call("c" * 41)), result("c" * 41)),
         "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum"
         " length 40, but got a string with length 41 instead.", "messages[1].tool_calls[0].id",
         "string_above_max_length"),
    case("ids of calls are not empty", body(*TURN), body(USER, assistant(call("")), result("")),
         *empty("messages[1].tool_calls[0].id")),
    case("a list of calls is not empty", body(*TURN),
         body(USER, assistant(content="x", tool_calls=[])),
         *empty("messages[1].tool_calls", "array")),
    case("names of calls have plain characters", body(*TURN),
         body(USER, assistant(call(name="a b")), result()),
         "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern."
         " Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
         "messages[1].tool_calls[0].function.name", "invalid_value"),
    case("arguments are a string", body(*TURN), body(USER, assistant(call(arguments={})), result()),
         "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but"
         " got an object instead.", "messages[1].tool_calls[0].function.arguments",
         "invalid_type"),
    case("arguments are JSON", body(*TURN), body(USER, assistant(call(arguments="{")), result()),
         "Invalid 'messages[1].tool_calls[0].function.arguments': expected a JSON object in a"
         " string.", "messages[1].tool_calls[0].function.arguments", "invalid_value"),
    case("no field of a call is unknown", body(*TURN),
         body(USER, assistant(call(index=0)), result()),
         "Unknown parameter: 'messages[1].tool_calls[0].index'.",
         "messages[1].tool_calls[0].index", "unknown_parameter"),
]  # fmt: skip


@pytest.mark.parametrize(("accepted", "refused", "message", "param", "code"), CASES)
def test_openai_accepts_one_and_refuses_the_other(
    accepted: Body, refused: Body, message: str, param: str | None, code: str | None
) -> None:
    assert judge(accepted) is None

    refusal = judge(refused)

    assert refusal is not None
    assert (refusal.status, refusal.kind) == (400, "invalid_request_error")
    assert (refusal.message, refusal.param, refusal.code) == (message, param, code)


NINE = "abcdef123"
THOUGHTFUL = assistant(call(), reasoning_content="hm")
REFUSED = (
    "The reasoning_content is an intermediate result for display purposes only and will not be"
    " included in the context for inference. Please remove the reasoning_content from your message"
    " to reduce network traffic."
)
MUST = "The `reasoning_content` in the thinking mode must be passed back to the API."
ALTERNATE = (
    "After the optional system message, conversation roles must alternate"
    " user/assistant/user/assistant/..."
)


def detail(signature: str) -> Body:
    return {"type": "reasoning.text", "text": "hm", "signature": signature}


def vendor(claim: str, preset: str, accepted: Body, refused: Body, message: str) -> Any:
    return pytest.param(preset, accepted, refused, message, id=f"{preset}: {claim}")


@pytest.mark.parametrize(
    ("preset", "accepted", "refused", "message"),
    [
        vendor("ids of calls have nine characters", "mistral",
               body(USER, assistant(call(NINE)), result(NINE)), body(*TURN),
               "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
        vendor("no user is behind a tool", "mistral",
               body(USER, assistant(call(NINE)), result(NINE), assistant(content="ok"), USER),
               body(USER, assistant(call(NINE)), result(NINE), USER),
               "Unexpected role 'user' after role 'tool'"),
        vendor("the assistant is not the last", "mistral",
               body(USER, assistant(content="So", prefix=True)),
               body(USER, assistant(content="So")),
               "Expected last role User or Tool (or Assistant with prefix True) for serving but got"
               " assistant"),
        vendor("documents have an address", "mistral",
               body(user({"type": "document_url", "document_url": "https://example.org/a.pdf"})),
               body(user({"type": "file", "file": {"file_data": "data:application/pdf;base64,"}})),
               "Invalid value: 'file'. Supported values are: 'document_url', 'image_url',"
               " 'input_audio', and 'text'."),
        vendor("`any` is a choice", "mistral", body(tools=[tool()], tool_choice="any"),
               body(tools=[tool()], tool_choice="must"),
               "Invalid value: 'must'. Supported values are: 'any', 'auto', 'none', and"
               " 'required'."),
        vendor("reasoning comes back in the turn in progress", "deepseek",
               body(USER, THOUGHTFUL, result(), model="deepseek-reasoner"),
               body(*TURN, model="deepseek-reasoner"), MUST),
        vendor("reasoning comes back while it is on", "deepseek", body(*TURN),
               body(*TURN, thinking={"type": "enabled"}), MUST),
        vendor("reasoning of earlier turns may be left out", "deepseek",
               body(*TURN, assistant(content="ok"), USER, thinking={"type": "enabled"}),
               body(*TURN, assistant(content="ok"), thinking={"type": "enabled"}), MUST),
        vendor("there are no images", "deepseek", body(user(text())), body(user(image())),
               "Invalid content type. image_url is only supported by certain models."),
        vendor("reasoning does not come back", "deepseek-reasoner", body(*TURN),
               body(USER, THOUGHTFUL, result()), REFUSED),
        vendor("reasoning is signed", "openrouter",
               body(USER, assistant(call(), reasoning_details=[detail(SIGNER.sign("hm"))]),
                    result()),
               body(USER, assistant(call(), reasoning_details=[detail(SIGNER.sign("hmm"))]),
                    result()),
               "Invalid `signature` in `thinking` block"),
        vendor("the system speaks first", "template", body(SYSTEM, USER), body(USER, SYSTEM),
               "System message must be at the beginning."),
        vendor("the system speaks once", "template", body(SYSTEM, USER), body(SYSTEM, SYSTEM, USER),
               "System message must be at the beginning."),
        vendor("roles alternate", "template", body(USER, assistant(content="ok"), USER),
               body(USER, USER), ALTERNATE),
        vendor("the user is first", "template", body(SYSTEM, *TURN, assistant(content="ok"), USER),
               body(SYSTEM, assistant(content="ok"), USER), ALTERNATE),
        vendor("the assistant is behind a tool", "template", body(*TURN), body(*TURN, USER),
               ALTERNATE),
    ],
)  # fmt: skip
def test_a_vendor_accepts_one_and_refuses_the_other(
    preset: str, accepted: Body, refused: Body, message: str
) -> None:
    assert judge(accepted, preset=preset, issued=SIGNER.issued) is None

    refusal = judge(refused, preset=preset, issued=SIGNER.issued)

    assert refusal is not None
    assert (refusal.status, refusal.message) == (400, message)


def test_each_vendor_takes_its_own_parameters() -> None:
    assert judge(body(safe_prompt=True), preset="mistral") is None
    assert judge(body(top_k=5), preset="mistral") is not None
    assert judge(body(anything=1), preset="deepseek") is None
    assert judge(body(top_k=5), preset="openrouter") is None
    assert judge(body(model="any-model"), preset=Preset("mine")) is None
    assert set(PRESETS) == {
        "openai", "mistral", "deepseek", "deepseek-reasoner", "openrouter", "template",
    }  # fmt: skip


def test_reasoning_that_was_sent_comes_back_unchanged() -> None:
    sent = {"call_1": "hm"}
    given = body(USER, THOUGHTFUL, result(), model="deepseek-chat")
    changed = body(USER, {**THOUGHTFUL, "reasoning_content": "h"}, result(), model="deepseek-chat")

    assert judge(given, preset="deepseek", reasoned=sent) is None
    assert judge(changed, preset="deepseek", reasoned=sent) is not None


def test_an_unknown_model_is_not_found_and_a_new_one_can_be_added() -> None:
    refusal = judge(body(model="gpt-none"))

    assert refusal is not None
    assert (refusal.status, refusal.code) == (404, "model_not_found")
    assert judge(body(model="gpt-none"), models=[OpenAIModel("gpt-none")]) is None


def test_keys_are_judged() -> None:
    refusal = judge(body(), {"authorization": "Bearer no"}, api_key="key")

    assert refusal is not None
    assert (refusal.status, refusal.code) == (401, "invalid_api_key")
    headers = {"authorization": "Bearer key", "content-type": "application/json"}
    assert judge(body(), headers, api_key="key") is None


def test_each_rule_says_what_it_holds() -> None:
    assert all(rule.__doc__ for rule in RULES)
    assert len(set(RULES)) == len(RULES)
