"""What a turn must have left behind, told from what happened to those who took part in it."""

from __future__ import annotations

from typing import Any

from scripted import AFTER, BEFORE
from subject import NOW, Record

from amplifier_modules.loops.answers.response import text_of
from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED

CLOSING = {
    *("cancel:requested", "callback", "cancel:completed"),
    *("turn:end", "orchestrator:complete", "execution:end"),
}
UNFINISHED = [{"type": "text", "text": "The turn was cancelled before it was finished."}]
FAILED = "Error: tool `look` failed: ToolExitError: it {}; its call was ended, and {}"


def was_finished(record: Record) -> bool:
    """Tell whether the turn was over before it could be interrupted."""
    return "prompt:complete" in [event for event, _ in record.settled]


def history(
    record: Record, prompt: str, found: list[dict[str, Any]], *, is_early: bool = False
) -> list[dict[str, Any]]:
    """The messages of a turn: what was begun is whole, and the model has the last word.

    Args:
        record: What happened.
        prompt: The prompt.
        found: What the turn has stored: it tells which of the calls that the model wrote had been
            read, where they run before their answer is complete.
        is_early: Whether they do.
    """
    settled = [event for event, _ in record.settled]
    messages: list[dict[str, Any]] = []
    if "prompt:submit" in settled:
        messages.append({"role": "user", "content": prompt})
    for response in stored(record):
        content = [block.model_dump(exclude_none=True) for block in response.content]
        ids = [call.id for call in response.tool_calls]
        messages += answer(record, content, ids)
    if is_early and len(found) > len(messages) and "tool_calls" in found[len(messages)]:
        messages += begun_answer(record, found[len(messages)])
    if messages and messages[-1]["role"] == "tool":
        messages.append({"role": "assistant", "content": UNFINISHED})
    stamp = {"timestamp": NOW.isoformat(timespec="milliseconds")}
    return [{**message, "metadata": stamp} for message in messages]


def answer(record: Record, content: list[dict[str, Any]], ids: list[str]) -> list[dict[str, Any]]:
    """The messages of one answer, and of what its calls gave."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if ids:
        message["tool_calls"] = [{"id": id, "tool": "look", "arguments": {"id": id}} for id in ids]
    return [message, *(result(record, id) for id in ids)]


def begun_answer(record: Record, found: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of an answer that was not finished, of which calls ran already."""
    before = {call.id for response in stored(record) for call in response.tool_calls}
    ids = [call["id"] for call in found["tool_calls"]]
    written = [id for id in record.written if id not in before]
    assert ids == written[: len(ids)], "the calls are those that the model wrote, in order"
    shown = "".join(
        data["content"] for event, data in record.told if event == "agent:message_content"
    )
    text = found["content"][0]["text"]
    assert text in (BEFORE, BEFORE + AFTER)
    assert (BEFORE + AFTER).startswith(shown)
    assert text.startswith(shown), "what the user has read is kept"
    calls = [{"type": "tool_call", "id": id, "name": "look", "input": {"id": id}} for id in ids]
    return answer(record, [{"type": "text", "text": text}, *calls], ids)


def unanswered(record: Record, found: list[dict[str, Any]]) -> set[str]:
    """The calls that hooks heard of, and that have no message."""
    return set(record.names.values()) - {each.get("tool_call_id") for each in found}


def stored(record: Record) -> list[Any]:
    """The responses whose events were all told; those are stored before anything is awaited."""
    ends = sum(
        event == "content_block:end" and "aborted" not in data for event, data in record.settled
    )
    told = [event for event, _ in record.settled].count("provider:response")
    responses = []
    for response in record.responses[:told]:
        ends -= len(response.content)
        if ends >= 0:
            responses.append(response)
    return responses


def result(record: Record, call: str) -> dict[str, Any]:
    """The one message that answers a call, wherever it was interrupted."""
    message = {"role": "tool", "tool_call_id": call, "name": "look"}
    if call in record.heard("tool:post"):
        return {**message, "content": '{"answer": 42}'}
    if call in failed(record):
        facts = ("raised `CancelledError`", "its effects are unknown")
        if call not in record.begun:
            facts = ("was cancelled", "it was not run")
        return {**message, "content": FAILED.format(*facts), "is_error": True}
    answer = INTERRUPTED if call in record.begun else NOT_STARTED
    return {**message, "content": answer.content, "is_error": True}


def failed(record: Record) -> list[str]:
    """The calls that failed by themselves, which ends nothing but them."""
    return [
        record.names[data["tool_call_id"]]
        for event, data in record.told
        if event == "tool:error" and data["error"]["type"] == "ToolExitError"
    ]


def response_of(record: Record) -> str:
    """What a turn returns that was not cancelled by an error: the last text there is."""
    texts = [text_of(response) for response in stored(record)]
    return next((text for text in reversed(texts) if text), "")


def closing(record: Record, loop: str, *, is_immediate: bool = True) -> list[Any]:
    """The events that end a turn, each once, whatever interrupts it and wherever."""
    about = {
        "orchestrator": loop,
        "turn_count": [event for event, _ in record.told].count("provider:request"),
    }
    response = response_of(record)
    if was_finished(record):
        return [
            ("turn:end", {**about, "status": "completed"}),
            ("orchestrator:complete", {**about, "status": "success"}),
            ("execution:end", {"response": response, "status": "completed"}),
        ]
    return [
        ("cancel:requested", {"immediate": is_immediate}),
        ("callback", {}),
        ("cancel:completed", {"was_immediate": is_immediate}),
        ("turn:end", {**about, "status": "cancelled"}),
        ("orchestrator:complete", {**about, "status": "cancelled"}),
        ("execution:end", {"response": response, "status": "cancelled"}),
    ]


def closing_told(record: Record) -> list[tuple[str, dict[str, Any]]]:
    """The events of a record that end a turn."""
    return [each for each in record.told if each[0] in CLOSING]
