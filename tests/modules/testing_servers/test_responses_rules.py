"""What the Responses server accepts and refuses, a row a rule."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from amplifier_testing.servers import OpenAIModel, ResponsesServer
from amplifier_testing.servers.responses import Stored, judge
from amplifier_testing.servers.responses.judge import RULES

Body = dict[str, Any]

PLAIN, THINKS, BLIND = "gpt-4o", "gpt-5", "o3-mini"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
SIGNER = ResponsesServer(secret=b"tests")
MODEL = "No tool output found for function call "
OUTPUT = "No tool call found for function call output with call_id "


def body(*items: Any, **fields: Any) -> Body:
    given = {"model": PLAIN, "input": list(items) or "hi", **fields}
    return {name: value for name, value in given.items() if value is not ...}


def message(*parts: Body, role: str = "user", **fields: Any) -> Body:
    return {"type": "message", "role": role, "content": list(parts), **fields}


def said(text: str = "ok", **fields: Any) -> Body:
    return message({"type": "output_text", "text": text}, role="assistant", **fields)


def text(given: str = "hi") -> Body:
    return {"type": "input_text", "text": given}


def image(url: str, **fields: Any) -> Body:
    return {"type": "input_image", "image_url": url, **fields}


def call(call_id: str = "call_1", **fields: Any) -> Body:
    given = {"call_id": call_id, "name": "look", "arguments": "{}", **fields}
    return {"type": "function_call", **given}


def output(call_id: str = "call_1", **fields: Any) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": "x", **fields}


def reasoning(name: str = "rs_1", **fields: Any) -> Body:
    encrypted = SIGNER.encrypt(name, "hm")
    given = {"id": name, "summary": [], "encrypted_content": encrypted, **fields}
    return {"type": "reasoning", **given}


def tool(name: str = "look", **fields: Any) -> Body:
    return {"type": "function", "name": name, "parameters": {"type": "object"}, **fields}


def formatted(schema: Body, **fields: Any) -> Body:
    return {"format": {"type": "json_schema", "name": "a", "schema": schema, **fields}}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "additionalProperties": False, "required": ["a"]}
HALF = {**OPEN, "additionalProperties": False, "required": []}
DATA = f"data:image/png;base64,{PNG}"
EXAMPLE = (
    "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL with an image MIME"
    " type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got "
)
TURN = (call(), output())


def case(
    claim: str,
    accepted: Body,
    refused: Body,
    message: str,
    param: str | None,
    code: str | None = None,
) -> Any:
    return pytest.param(accepted, refused, message, param, code, id=claim)


CASES = [
    # Fields
    case("model is required", body(), body(model=...),
         "Missing required parameter: 'model'.", "model", "missing_required_parameter"),
    case("the model exists", body(), body(model="gpt-none"),
         "The requested model 'gpt-none' does not exist.", "model", "model_not_found"),
    case("no parameter is unknown", body(stream=True), body(max_tokens=5),
         "Unknown parameter: 'max_tokens'.", "max_tokens", "unknown_parameter"),
    case("parameters have their type", body(temperature=1), body(temperature="1"),
         "Invalid type for 'temperature': expected a decimal number, but got a string instead.",
         "temperature", "invalid_type"),
    case("there is an input", body(), body(input=...),
         'One of "input" or "previous_response_id" or \'prompt\' or \'conversation_id\' must be'
         " provided.", "input", "missing_required_parameter"),
    case("the input is text or items", body(), body(input=5),
         "Invalid type for 'input': expected one of a string or an array, but got an integer"
         " instead.", "input", "invalid_type"),
    case("items are objects", body(message(text())), body("x"),
         "Invalid type for 'input[0]': expected an object, but got a string instead.", "input[0]",
         "invalid_type"),
    case("strings have no lone surrogate", body(input="\U0001f600"), body(input="\ud83d"),
         "We could not parse the JSON body of your request: a lone surrogate in a string", None),
    # Parameters
    case("answers have at least 16 tokens", body(max_output_tokens=16), body(max_output_tokens=15),
         "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got"
         " 15 instead.", "max_output_tokens", "integer_below_min_value"),
    case("answers have at most the tokens of the model", body(max_output_tokens=16_384),
         body(max_output_tokens=16_385),
         "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but"
         " got 16385 instead.", "max_output_tokens", "integer_above_max_value"),
    case("temperature is at most 2", body(temperature=2), body(temperature=2.5),
         "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5"
         " instead.", "temperature", "decimal_above_max_value"),
    case("reasoning models take no temperature", body(temperature=1),
         body(model=THINKS, temperature=1),
         "Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
    case("a model that does not reason takes top_p",
         body(model="gpt-5.2", top_p=0.5, reasoning={"effort": "none"}),
         body(model="gpt-5.2", top_p=0.5),
         "Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
    case("effort is for reasoning models", body(model=THINKS, reasoning={"effort": "low"}),
         body(reasoning={"effort": "low"}),
         "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
         "reasoning.effort", "unsupported_parameter"),
    case("the effort is one of the model", body(model=THINKS, reasoning={"effort": "minimal"}),
         body(model=THINKS, reasoning={"effort": "none"}),
         "Unsupported value: 'none' is not supported with the 'gpt-5' model. Supported values are:"
         " 'high', 'low', 'medium', 'minimal'.", "reasoning.effort", "unsupported_value"),
    case("the summary exists", body(model=THINKS, reasoning={"summary": "detailed"}),
         body(model=THINKS, reasoning={"summary": "long"}),
         "Invalid value: 'long'. Supported values are: 'auto', 'concise', and 'detailed'.",
         "reasoning.summary", "invalid_value"),
    case("what is included exists", body(include=["file_search_call.results"]),
         body(include=["thoughts"]),
         "Invalid value: 'thoughts'. Supported values are: 'code_interpreter_call.outputs',"
         " 'computer_call_output.output.image_url', 'file_search_call.results',"
         " 'message.input_image.image_url', 'message.output_text.logprobs',"
         " 'reasoning.encrypted_content', 'web_search_call.action.sources', and"
         " 'web_search_call.results'.", "include[0]", "invalid_value"),
    case("only reasoning models have encrypted content",
         body(model=THINKS, include=["reasoning.encrypted_content"]),
         body(include=["reasoning.encrypted_content"]),
         "Encrypted content is not supported with this model.", "include"),
    case("the verbosity exists", body(text={"verbosity": "low"}), body(text={"verbosity": "none"}),
         "Invalid value: 'none'. Supported values are: 'high', 'low', and 'medium'.",
         "text.verbosity", "invalid_value"),
    case("the format exists", body(text={"format": {"type": "json_object"}}),
         body(text={"format": {"type": "xml"}}),
         "Invalid value: 'xml'. Supported values are: 'json_object', 'json_schema', and 'text'.",
         "text.format.type", "invalid_value"),
    case("a format has a name", body(text=formatted(CLOSED)),
         body(text={"format": {"type": "json_schema", "schema": CLOSED}}),
         "Missing required parameter: 'text.format.name'.", "text.format.name",
         "missing_required_parameter"),
    case("a strict format is closed", body(text=formatted(CLOSED, strict=True)),
         body(text=formatted(OPEN, strict=True)),
         "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required"
         " to be supplied and to be false.", "text.format.schema", "invalid_json_schema"),
    case("a loose format may be open", body(text=formatted(OPEN, strict=False)),
         body(text=formatted({"type": "array", "items": {}}, strict=False)),
         "Invalid schema for response_format 'a': schema must be a JSON Schema of 'type:"
         " \"object\"', got 'type: \"array\"'.", "text.format.schema", "invalid_json_schema"),
    case("the truncation exists", body(truncation="auto"), body(truncation="always"),
         "Invalid value: 'always'. Supported values are: 'auto' and 'disabled'.", "truncation",
         "invalid_value"),
    case("keys are short", body(prompt_cache_key="k" * 64), body(prompt_cache_key="k" * 65),
         "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64,"
         " but got a string with length 65 instead.", "prompt_cache_key",
         "string_above_max_length"),
    case("metadata are strings", body(metadata={"a": "b"}), body(metadata={"a": 1}),
         "Invalid type for 'metadata.a': expected a string.", "metadata.a", "invalid_type"),
    case("options of a stream need one", body(stream=True, stream_options={}),
         body(stream_options={}),
         "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
         "stream_options"),
    case("what goes on in the background is stored", body(background=True, store=True),
         body(background=True, store=False), "Background mode requires 'store' to be true.",
         "background"),
    case("the response to go on from is known", body(), body(previous_response_id="resp_9"),
         "Previous response with id 'resp_9' not found.", "previous_response_id",
         "previous_response_not_found"),
    # Items
    case("items are of a known type", body(message(text())), body({"type": "hologram"}),
         "Invalid value: 'hologram'. Supported values are:", "input[0].type", "invalid_value"),
    case("an item without a type is a message", body({"role": "user", "content": "hi"}),
         body({"role": "user"}), "Missing required parameter: 'input[0].content'.",
         "input[0].content", "missing_required_parameter"),
    case("no field of an item is unknown", body(*TURN), body(call(input={}), output()),
         "Unknown parameter: 'input[0].input'.", "input[0].input", "unknown_parameter"),
    case("ids begin as those of their type", body(call(id="fc_1"), output()),
         body(call(id="call_1"), output()),
         "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'.", "input[0].id",
         "invalid_value"),
    case("ids are short", body(call(id="fc_" + "1" * 61), output()),
         body(call(id="fc_" + "1" * 62), output()),
         "Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got"
         " a string with length 65 instead.", "input[0].id", "string_above_max_length"),
    case("ids differ", body(said(id="msg_1"), said(id="msg_2")),
         body(said(id="msg_1"), said(id="msg_1")),
         "Duplicate item found with id msg_1. Remove duplicate items from your input and try"
         " again.", "input"),
    case("roles exist", body(message(text(), role="developer")), body(message(text(), role="tool")),
         "Invalid value: 'tool'. Supported values are: 'assistant', 'developer', 'system', and"
         " 'user'.", "input[0].role", "invalid_value"),
    case("the assistant has output", body(said()), body(message(text(), role="assistant")),
         "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
         "input[0].content[0].type", "invalid_value"),
    case("the user has input", body(message(text())),
         body(message({"type": "output_text", "text": "x"})),
         "Invalid value: 'output_text'. Supported values are: 'input_file', 'input_image', and"
         " 'input_text'.", "input[0].content[0].type", "invalid_value"),
    case("only the assistant has phases", body(said(phase="commentary")),
         body(message(text(), phase="commentary")), "Unknown parameter: 'input[0].phase'.",
         "input[0].phase", "unknown_parameter"),
    case("images have an address", body(message(image("https://a/b.png"))),
         body(message(image("b.png"))),
         "Invalid 'input[0].content[0].image_url'. Expected a valid URL, but got a value with an"
         " invalid format.", "input[0].content[0].image_url", "invalid_value"),
    case("images are of few types", body(message(image(DATA))),
         body(message(image("data:image/bmp;base64,AAAA"))),
         f"{EXAMPLE}unsupported MIME type 'image/bmp'.", "input[0].content[0].image_url",
         "invalid_value"),
    case("images are base64", body(message(image(DATA))),
         body(message(image("data:image/png;base64,A-A"))),
         f"{EXAMPLE}an invalid base64-encoded value.", "input[0].content[0].image_url",
         "invalid_base64"),
    case("images can be read", body(message(image(DATA, detail="low"))),
         body(message(image("data:image/png;base64,AAAA"))),
         "You uploaded an unsupported image. Please make sure your image is valid.",
         "input[0].content[0].image_url", "image_parse_error"),
    case("some models see nothing", body(message(image(DATA))),
         body(message(image(DATA)), model=BLIND),
         "Invalid content type. image_url is only supported by certain models.",
         "input[0].content[0]"),
    case("files have one source", body(message({"type": "input_file", "file_id": "file-1"})),
         body(message({"type": "input_file"})),
         "Invalid 'input[0].content[0]': expected exactly one of 'file_data', 'file_id' and"
         " 'file_url'.", "input[0].content[0]", "invalid_value"),
    case("files with data have a name",
         body(message({"type": "input_file", "file_data": "data:,x", "filename": "a.txt"})),
         body(message({"type": "input_file", "file_data": "data:,x"})),
         "Missing required parameter: 'input[0].content[0].filename'.",
         "input[0].content[0].filename", "missing_required_parameter"),
    # Calls
    case("every call has an output", body(*TURN), body(call()), f"{MODEL}call_1.", "input"),
    case("all parallel calls have an output",
         body(call(), call("call_2"), output("call_2"), output()),
         body(call(), call("call_2"), output()), f"{MODEL}call_2.", "input"),
    case("every output has a call", body(*TURN), body(output()), f"{OUTPUT}call_1.", "input"),
    case("an output is behind its call", body(*TURN), body(output(), call()), f"{OUTPUT}call_1.",
         "input"),
    case("a call has one output", body(*TURN), body(*TURN, output()),
         "Duplicate tool output found for call_id call_1.", "input"),
    case("ids of calls differ", body(*TURN, call("call_2"), output("call_2")), body(*TURN, *TURN),
         "Duplicate function call found with call_id call_1.", "input"),
    case("ids of calls are short", body(call("c" * 64), output("c" * 64)),
         body(call("c" * 65), output("c" * 65)),
         "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64,"
         " but got a string with length 65 instead.", "input[0].call_id",
         "string_above_max_length"),
    case("ids of calls are not empty", body(*TURN), body(call(""), output("")),
         "Invalid 'input[0].call_id': empty string. Expected a string with minimum length 1, but"
         " got an empty string instead.", "input[0].call_id", "empty_string"),
    case("names of calls have plain characters", body(*TURN), body(call(name="a b"), output()),
         "Invalid 'input[0].name': string does not match pattern. Expected a string that matches"
         " the pattern '^[a-zA-Z0-9_-]+$'.", "input[0].name", "invalid_value"),
    case("arguments are a string", body(*TURN), body(call(arguments={}), output()),
         "Invalid type for 'input[0].arguments': expected a string, but got an object instead.",
         "input[0].arguments", "invalid_type"),
    case("arguments are JSON", body(*TURN), body(call(arguments='{"a":'), output()),
         "Invalid 'input[0].arguments': expected a JSON object in a string.",
         "input[0].arguments", "invalid_value"),
    case("outputs hold input", body(call(), output(output=[text()])),
         body(call(), output(output=[{"type": "text", "text": "x"}])),
         "Invalid value: 'text'. Supported values are: 'input_file', 'input_image', and"
         " 'input_text'.", "input[1].output[0].type", "invalid_value"),
    # Reasoning
    case("reasoning is the server's", body(reasoning(), *TURN, store=False),
         body(reasoning(encrypted_content=SIGNER.encrypt("rs_2", "hm")), *TURN, store=False),
         "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content"
         " could not be decrypted or parsed.", None, "invalid_encrypted_content"),
    case("reasoning leads to an item", body(reasoning(), said()), body(reasoning()),
         "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
         "input"),
    case("reasoning leads to an item of the model", body(reasoning(), *TURN),
         body(reasoning(), message(text())),
         "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
         "input"),
    case("reasoning has an id", body(reasoning(), *TURN), body(reasoning("x"), *TURN),
         "Invalid 'input[0].id': 'x'. Expected an ID that begins with 'rs'.", "input[0].id",
         "invalid_value"),
    case("reasoning has a summary", body(reasoning(), *TURN), body(reasoning(summary=None), *TURN),
         "Invalid type for 'input[0].summary': expected an array, but got null instead.",
         "input[0].summary", "invalid_type"),
    # Tools
    case("tools are flat", body(tools=[tool()]),
         body(tools=[{"type": "function", "function": {"name": "look"}}]),
         "Missing required parameter: 'tools[0].name'.", "tools[0].name",
         "missing_required_parameter"),
    case("tools are of a known type", body(tools=[{"type": "web_search"}]),
         body(tools=[{"type": "web_surf"}]), "Invalid value: 'web_surf'. Supported values are:",
         "tools[0].type", "invalid_value"),
    case("a file search has a store",
         body(tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}]),
         body(tools=[{"type": "file_search"}]),
         "Missing required parameter: 'tools[0].vector_store_ids'.", "tools[0].vector_store_ids",
         "missing_required_parameter"),
    case("a code interpreter has a container",
         body(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]),
         body(tools=[{"type": "code_interpreter"}]),
         "Missing required parameter: 'tools[0].container'.", "tools[0].container",
         "missing_required_parameter"),
    case("names of tools have plain characters", body(tools=[tool("a-b_1")]),
         body(tools=[tool("a.b")]),
         "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches"
         " the pattern '^[a-zA-Z0-9_-]+$'.", "tools[0].name", "invalid_value"),
    case("names of tools are short", body(tools=[tool("a" * 64)]), body(tools=[tool("a" * 65)]),
         "Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but"
         " got a string with length 65 instead.", "tools[0].name", "string_above_max_length"),
    case("names of tools differ", body(tools=[tool("a"), tool("b")]),
         body(tools=[tool("a"), tool("a")]), "Duplicate tool name 'a' in 'tools'.", "tools",
         "invalid_value"),
    case("parameters are an object", body(tools=[tool()]), body(tools=[tool(parameters={})]),
         "Invalid schema for function 'look': schema must be a JSON Schema of 'type: \"object\"',"
         " got 'type: \"None\"'.", "tools[0].parameters", "invalid_function_parameters"),
    case("parameters have no alternatives at the top", body(tools=[tool()]),
         body(tools=[tool(parameters={"type": "object", "anyOf": []})]),
         "Invalid schema for function 'look': schema must have type 'object' and not have"
         " 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.", "tools[0].parameters",
         "invalid_function_parameters"),
    case("arrays say what they hold",
         body(tools=[tool(parameters={"type": "object", "properties": {"a": {"type": "array",
              "items": {}}}})]),
         body(tools=[tool(parameters={"type": "object", "properties": {"a": {"type": "array"}}})]),
         "Invalid schema for function 'look': In context=('properties', 'a'), array schema missing"
         " items.", "tools[0].parameters", "invalid_function_parameters"),
    case("strict parameters are closed", body(tools=[tool(parameters=CLOSED, strict=True)]),
         body(tools=[tool(parameters=OPEN, strict=True)]),
         "Invalid schema for function 'look': In context=(), 'additionalProperties' is required to"
         " be supplied and to be false.", "tools[0].parameters", "invalid_function_parameters"),
    case("strict parameters are all required", body(tools=[tool(parameters=HALF)]),
         body(tools=[tool(parameters=HALF, strict=True)]),
         "Invalid schema for function 'look': In context=(), 'required' is required to be supplied"
         " and to be an array including every key in properties. Missing 'a'.",
         "tools[0].parameters", "invalid_function_parameters"),
    case("strict parameters have no oneOf", body(tools=[tool(parameters=CLOSED, strict=True)]),
         body(tools=[tool(parameters={**CLOSED, "properties": {"a": {"oneOf": []}}},
              strict=True)]),
         "Invalid schema for function 'look': In context=('properties', 'a'), 'oneOf' is not"
         " permitted.", "tools[0].parameters", "invalid_function_parameters"),
    case("a forced choice needs tools", body(tools=[tool()], tool_choice="required"),
         body(tool_choice="required"),
         "Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice"),
    case("a choice is of a tool that is there",
         body(tools=[tool()], tool_choice={"type": "function", "name": "look"}),
         body(tools=[tool()], tool_choice={"type": "function", "name": "see"}),
         "Tool choice 'function' not found in 'tools' parameter.", "tool_choice"),
    case("a choice is a known word", body(tool_choice="none"), body(tool_choice="any"),
         "Invalid value: 'any'. Supported values are: 'auto', 'none', and 'required'.",
         "tool_choice", "invalid_value"),
]  # fmt: skip


@pytest.mark.parametrize(("accepted", "refused", "message", "param", "code"), CASES)
def test_the_api_accepts_one_and_refuses_the_other(
    accepted: Body, refused: Body, message: str, param: str | None, code: str | None
) -> None:
    assert judge(accepted, issued=SIGNER.issued) is None

    refusal = judge(refused, issued=SIGNER.issued)

    assert refusal is not None
    assert (refusal.status, refusal.kind) == (400, "invalid_request_error")
    assert (refusal.param, refusal.code) == (param, code)
    if message.endswith("values are:"):
        assert refusal.message.startswith(message)
    else:
        assert refusal.message == message


@pytest.mark.parametrize(
    ("headers", "is_azure", "code", "message"),
    [
        ({}, False, None, "You didn't provide an API key."),
        ({"authorization": "Bearer wrong"}, False, "invalid_api_key", "Incorrect API key provided"),
        ({"api-key": "key"}, False, None, "You didn't provide an API key."),
        ({"api-key": "wrong"}, True, "401", "Access denied due to invalid subscription key"),
    ],
)
def test_keys_are_judged(
    headers: dict[str, str], is_azure: bool, code: str | None, message: str
) -> None:
    refusal = judge(body(), headers, api_key="key", is_azure=is_azure)

    assert refusal is not None
    assert (refusal.status, refusal.code) == (401, code)
    assert refusal.message.startswith(message)


@pytest.mark.parametrize(
    ("headers", "is_azure"),
    [
        ({"authorization": "Bearer key"}, False),
        ({"authorization": "Bearer key"}, True),
        ({"api-key": "key"}, True),
    ],
)
def test_the_right_key_is_accepted(headers: dict[str, str], is_azure: bool) -> None:
    sent = {**headers, "content-type": "application/json"}

    assert judge(body(), sent, api_key="key", is_azure=is_azure) is None


def test_the_body_says_that_it_is_json() -> None:
    refusal = judge(body(), {"authorization": "Bearer key", "content-type": "text/plain"})

    assert refusal is not None
    assert refusal.code == "unsupported_content_type"


def test_reasoning_without_content_is_of_a_stored_response() -> None:
    bare = {"type": "reasoning", "id": "rs_1", "summary": []}
    known = Stored(ids={"rs_1"})

    assert judge(body(bare, *TURN), stored=known) is None
    for refused in (
        judge(body(bare, *TURN)),
        judge(body(bare, *TURN, store=False), stored=known),
        judge(body({"type": "item_reference", "id": "rs_1"})),
    ):
        assert refused is not None
        assert refused.status == 404
        assert refused.message == (
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."
            " Try again with `store` set to true, or remove this item from your input."
        )


def test_reasoning_and_what_it_led_to_belong_together() -> None:
    stored = Stored()
    stored.remember_order([{"type": "reasoning", "id": "rs_1"}, call(id="fc_1")])

    def refused(*items: Body) -> str | None:
        refusal = judge(body(*items), issued=SIGNER.issued, stored=stored)
        return refusal and refusal.message

    lonely = "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    needy = (
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item:"
        " 'rs_1'."
    )
    assert refused(reasoning(), call(id="fc_1"), output()) is None
    assert refused(reasoning(), call(), output()) is None
    assert refused(call(), output()) is None  # nobody knows where it is from
    assert refused(reasoning(), said(), call(id="fc_1"), output()) == lonely
    assert refused(call(id="fc_1"), output()) == needy


def test_a_new_model_can_be_added() -> None:
    models = [OpenAIModel("my-model")]

    assert judge(body(model="my-model"), models=models) is None
    assert judge(body(), models=models) is not None


def test_each_rule_says_what_it_holds() -> None:
    assert all(rule.__doc__ for rule in RULES)
    assert len(set(RULES)) == len(RULES)
