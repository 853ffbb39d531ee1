"""A request to a model without native tools: tools, calls and results as text."""

from __future__ import annotations

from typing import Any

from amplifier_core.message_models import (
    ChatRequest,
    ContentBlockUnion,
    Message,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)

from .tool_prompt import RESULT_TAG, ToolFormat, json_text, tools_prompt, written_call


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
            text=_result(message.name, message.tool_call_id, _plain(message.content))
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
        return TextBlock(text=_result(None, block.tool_call_id, block.output))
    return block


def _is_results(message: Message) -> bool:
    return isinstance(message.content, list) and all(
        isinstance(block, TextBlock) and block.text.startswith(f"<{RESULT_TAG}>")
        for block in message.content
    )


def _result(name: str | None, call_id: str | None, output: Any) -> str:
    # JSON, with `</` escaped: no result can contain the closing tag.
    said = {"tool_name": name, "id": call_id, "result": output}
    known = {key: value for key, value in said.items() if value is not None}
    text = json_text(known).replace("</", "<\\/")
    return f"<{RESULT_TAG}>{text}</{RESULT_TAG}>"


def _plain(content: str | list[ContentBlockUnion]) -> Any:
    if isinstance(content, str):
        return content
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    if len(texts) == len(content):
        return "\n".join(texts)
    return [block.model_dump(exclude_none=True) for block in content]
