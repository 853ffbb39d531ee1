"""What a turn must have left behind, told from what happened to those who took part in it."""

from __future__ import annotations

from typing import Any

from subject import ANSWER, NOW, Record

from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED

CLOSING = {
    *("cancel:requested", "callback", "cancel:completed"),
    *("turn:end", "orchestrator:complete", "execution:end"),
}
FAILED = "Error: tool `look` failed: ToolExitError: it {}; its call was ended, and {}"
UNFINISHED = [{"type": "text", "text": "The turn was cancelled before it was finished."}]


def was_finished(record: Record) -> bool:
    """Tell whether the turn was over before it could be interrupted."""
    return "prompt:complete" in [event for event, _ in record.settled]


def history(record: Record, prompt: str) -> list[dict[str, Any]]:
    """The messages of a turn: what was begun is whole, and the model has the last word."""
    settled = [event for event, _ in record.settled]
    messages: list[dict[str, Any]] = []
    if "prompt:submit" in settled:
        messages.append({"role": "user", "content": prompt})
    for response in stored(record):
        if response.tool_calls:
            messages.append(
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_call",
                            "id": call.id,
                            "name": "look",
                            "input": call.arguments,
                        }
                        for call in response.tool_calls
                    ],
                    "tool_calls": [
                        {"id": call.id, "tool": "look", "arguments": call.arguments}
                        for call in response.tool_calls
                    ],
                }
            )
            messages += [result(record, call.id) for call in response.tool_calls]
        else:
            messages.append({"role": "assistant", "content": [{"type": "text", "text": ANSWER}]})
    if messages and messages[-1]["role"] == "tool":
        messages.append({"role": "assistant", "content": UNFINISHED})
    stamp = {"timestamp": NOW.isoformat(timespec="milliseconds")}
    return [{**message, "metadata": stamp} for message in messages]


def stored(record: Record) -> list[Any]:
    """The responses whose blocks were all told of; those are stored before anything is awaited."""
    ends = sum(
        event == "content_block:end" and "aborted" not in data for event, data in record.settled
    )
    responses = []
    for response in record.responses:
        ends -= len(response.content)
        if ends >= 0:
            responses.append(response)
    return responses


def result(record: Record, call: str) -> dict[str, Any]:
    """The one message that answers a call, wherever it was interrupted."""
    message = {"role": "tool", "tool_call_id": call, "name": "look"}
    after = [data["tool_call_id"] for event, data in record.settled if event == "tool:post"]
    if call in after:
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
        data["tool_call_id"]
        for event, data in record.settled
        if event == "tool:error" and data["error"]["type"] == "ToolExitError"
    ]


def closing(record: Record, loop: str) -> list[tuple[str, dict[str, Any]]]:
    """The events that end a turn, each once, whatever interrupts it and wherever."""
    about = {
        "orchestrator": loop,
        "turn_count": [event for event, _ in record.told].count("provider:request"),
    }
    is_answered = any(not response.tool_calls for response in stored(record))
    response = ANSWER if is_answered else ""
    if was_finished(record):
        return [
            ("turn:end", {**about, "status": "completed"}),
            ("orchestrator:complete", {**about, "status": "success"}),
            ("execution:end", {"response": response, "status": "completed"}),
        ]
    return [
        ("cancel:requested", {"immediate": True}),
        ("callback", {}),
        ("cancel:completed", {"was_immediate": True}),
        ("turn:end", {**about, "status": "cancelled"}),
        ("orchestrator:complete", {**about, "status": "cancelled"}),
        ("execution:end", {"response": response, "status": "cancelled"}),
    ]


def closing_told(record: Record) -> list[tuple[str, dict[str, Any]]]:
    """The events of a record that end a turn."""
    return [each for each in record.told if each[0] in CLOSING]
