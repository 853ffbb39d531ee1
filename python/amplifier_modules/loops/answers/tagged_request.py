"""A request to a model that writes its calls as tags: its tools and earlier calls as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from amplifier_core.message_models import (
    ChatRequest,
    ContentBlockUnion,
    Message,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_core.plain_data import cut_depth

ToolFormat = Literal["json", "xml"]
"""The form of the calls that a model is asked for."""
TOOLS_PLACE = "{tools}"
"""The place of the list of tools."""
RESULT_TAG = "tool_result"
TAG_PLACE = "{tag}"
PROMPT = f"""You can call tools. Write a call as in the examples, between <{TAG_PLACE}> and \
</{TAG_PLACE}>, with arguments that fit the tool. Write nothing else between the tags, use them only \
for calls, and end your message after the last call. A call in a code block, inline code, a comment \
or a quotation does not run. The results follow in the next message, each in \
<{RESULT_TAG}>.

The tools:
{TOOLS_PLACE}"""
"""What a model reads without a `tool_prompt`."""


_MAX_DEPTH = 200
"""Levels of a value that is too deep to be written whole."""
_MAX_LEVELS = 4
"""Levels of objects whose properties are listed; deeper ones are written as their schema."""
_XML_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_SAID = {"type", "description", "default", "enum", "examples", "title"}
"""What a line says of an argument without its schema."""
_PLACEHOLDERS: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}


def tools_prompt(
    tools: Iterable[ToolSpec], tag: str, tool_format: ToolFormat, prompt: str | None
) -> str:
    """Return what a model reads of its tools.

    Args:
        tools: The tools.
        tag: The tag of calls.
        tool_format: The form of the examples.
        prompt: A text with `{tools}`, in the place of ours.
    """
    listed = "\n".join(_describe_tool(tool, tag, tool_format) for tool in tools)
    text = (prompt or PROMPT).replace(TAG_PLACE, tag)
    return text.replace(TOOLS_PLACE, listed)


def written_call(name: str, arguments: Mapping[str, Any], tag: str, tool_format: ToolFormat) -> str:
    """Return a call as a model writes it."""
    if tool_format == "json":
        inside = json_text({"tool_name": name, "arguments": dict(arguments)})
    elif all(_is_plain(key, value) for key, value in arguments.items()):
        elements = (f"<{key}>{_write_xml(value)}</{key}>" for key, value in arguments.items())
        inside = f"<tool_name>{_escape(name)}</tool_name><arguments>{''.join(elements)}</arguments>"
    else:
        given = _escape(json_text(dict(arguments)))
        inside = f"<tool_name>{_escape(name)}</tool_name><arguments>{given}</arguments>"
    return f"<{tag}>{inside}</{tag}>"


def example_call(tool: ToolSpec, tag: str, tool_format: ToolFormat) -> str:
    """Return a call of a tool, with arguments that fit its schema."""
    example = _make_example(tool.parameters, _MAX_LEVELS)
    given = cast("dict[str, Any]", example) if isinstance(example, dict) else {}
    return written_call(tool.name, given, tag, tool_format)


def example_writer(
    tools: Iterable[ToolSpec], tags: Sequence[str], tool_format: ToolFormat
) -> Callable[[str], str] | None:
    """Return what writes an example of a call of a tool, by its name; None without a tag."""
    if not tags:
        return None
    known = {tool.name: tool for tool in tools}
    return lambda name: example_call(known[name], tags[0], tool_format)


def json_text(value: Any) -> str:
    """Return a value as JSON; one that is nested too deeply is cut."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return json.dumps(cut_depth(value, _MAX_DEPTH), ensure_ascii=False, default=str)


def _is_plain(key: str, value: Any) -> bool:
    """Whether an argument can be an element that holds a text."""
    return _XML_NAME.fullmatch(key) is not None and isinstance(value, str | int | float)


def _write_xml(value: str | float) -> str:
    return _escape(value if isinstance(value, str) else json.dumps(value))


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _describe_tool(tool: ToolSpec, tag: str, tool_format: ToolFormat) -> str:
    lines = [f"- {tool.name}: {tool.description or 'no description'}"]
    arguments = list(_describe_properties(tool.parameters, "    ", _MAX_LEVELS))
    lines.append("  arguments:" if arguments else "  arguments: none")
    lines += arguments
    lines.append(f"  example: {example_call(tool, tag, tool_format)}")
    return "\n".join(lines)


def _describe_properties(schema: Mapping[str, Any], indent: str, levels: int) -> Iterable[str]:
    """Yield a line for each property of an object, and further ones for what is in it."""
    required = _list(schema.get("required"))
    for name, given in _read_mapping(schema.get("properties")).items():
        part = _read_mapping(given)
        need = "required" if name in required else "optional"
        about = [f"{indent}- {name} ({_name_type(part)}, {need})"]
        if text := part.get("description"):
            about.append(f": {text}")
        if values := _list(part.get("enum")):
            about.append(f" (one of {', '.join(map(json_text, values))})")
        if "default" in part:
            about.append(f" (default {json_text(part['default'])})")
        inner = _read_mapping(part.get("items")) if _name_type(part) == "list of objects" else part
        is_deep = bool(inner.get("properties")) and not levels
        if is_deep or (_name_type(part) in {"any", "list"} and part.keys() - _SAID):
            about.append(f" (schema {json_text(given)})")
        yield "".join(about)
        if levels:
            yield from _describe_properties(inner, indent + "  ", levels - 1)


def _name_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a value as a word; `any` where the schema says it in another way."""
    kind = schema.get("type")
    kinds = _list(kind) if isinstance(kind, list) else [kind]
    if kinds == ["array"]:
        of = _name_type(_read_mapping(schema.get("items")))
        return {"any": "list", "object": "list of objects"}.get(of, f"list of {of}")
    if all(isinstance(each, str) for each in kinds):
        return " or ".join(map(str, kinds))
    return "any"


def _make_example(schema: Mapping[str, Any], levels: int) -> Any:
    """Return a value that fits a schema, as far as simple rules can tell."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if values := _list(schema.get(key)):
            return values[0]
    kind = schema.get("type")
    kind = next(iter(_list(kind)), None) if isinstance(kind, list) else kind
    if kind == "array":
        items = _read_mapping(schema.get("items"))
        return [_make_example(items, levels - 1)] if items and levels else []
    if kind == "object" or "properties" in schema:
        properties = _read_mapping(schema.get("properties"))
        names = _list(schema.get("required")) or list(properties)[:1]
        return {
            name: _make_example(_read_mapping(properties.get(name)), levels - 1)
            for name in names
            if levels
        }
    return _PLACEHOLDERS.get(str(kind), "text")


def _read_mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []


def tagged_request(
    request: ChatRequest, tag: str, tool_format: ToolFormat = "json", prompt: str | None = None
) -> ChatRequest:
    """Return the request with its tools described, and calls and results written, as text.

    Args:
        request: The request as for a model with native tools.
        tag: The tag for the calls of the model.
        tool_format: The form of the calls that the model is asked for.
        prompt: What the model reads of them, with `{tools}`; None for our own text.
    """
    messages: list[Message] = []
    for message in request.messages:
        _add(messages, message, tag, tool_format)
    tools = None if request.tool_choice == "none" else request.tools
    if tools:
        place = next(
            (i for i, each in enumerate(messages) if each.role not in {"system", "developer"}),
            len(messages),
        )
        instruction = tools_prompt(tools, tag, tool_format, prompt)
        messages.insert(place, Message(role="system", content=instruction))
    return request.model_copy(update={"messages": messages, "tools": None, "tool_choice": None})


def _add(messages: list[Message], message: Message, tag: str, tool_format: ToolFormat) -> None:
    if message.role == "tool":
        result = TextBlock(
            text=_write_result(message.name, message.tool_call_id, _make_plain(message.content))
        )
        last = messages[-1] if messages else None
        # APIs require alternating roles.
        if last is not None and last.role == "user" and _is_results(last):
            messages[-1] = last.model_copy(update={"content": [*last.content, result]})
        else:
            messages.append(Message(role="user", content=[result]))
        return
    if isinstance(message.content, str):
        messages.append(message)
        return
    blocks = [_block(block, tag, tool_format) for block in message.content]
    if all(new is old for new, old in zip(blocks, message.content, strict=True)):
        messages.append(message)
    else:
        messages.append(Message(role=message.role, content=blocks, name=message.name))


def _block(block: ContentBlockUnion, tag: str, tool_format: ToolFormat) -> ContentBlockUnion:
    if isinstance(block, ToolCallBlock):
        call = (block.model_extra or {}).get("raw_arguments")
        # The model can correct a bad call only if it sees what it wrote.
        if isinstance(call, str):
            return TextBlock(text=f"<{tag}>{call}</{tag}>")
        return TextBlock(text=written_call(block.name, block.input, tag, tool_format))
    if isinstance(block, ToolResultBlock):
        return TextBlock(text=_write_result(None, block.tool_call_id, block.output))
    return block


def _is_results(message: Message) -> bool:
    return isinstance(message.content, list) and all(
        isinstance(block, TextBlock) and block.text.startswith(f"<{RESULT_TAG}>")
        for block in message.content
    )


def _write_result(name: str | None, call_id: str | None, output: Any) -> str:
    # JSON, with `</` escaped: no result can contain the closing tag.
    fields = {"tool_name": name, "id": call_id, "result": output}
    known = {key: value for key, value in fields.items() if value is not None}
    text = json_text(known).replace("</", "<\\/")
    return f"<{RESULT_TAG}>{text}</{RESULT_TAG}>"


def _make_plain(content: str | list[ContentBlockUnion]) -> Any:
    if isinstance(content, str):
        return content
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    if len(texts) == len(content):
        return "\n".join(texts)
    return [block.model_dump(exclude_none=True) for block in content]
