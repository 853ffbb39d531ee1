"""Providers that return what none may return, each with a test of the kit and what that says."""

from __future__ import annotations

from typing import Any

from tiny_provider import TinyProvider

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock

RUDE: list[tuple[Any, str, str]] = []
"""A provider, a test and its words."""
REPLAY = "a_result_follows_its_call"


def rude(*tests: tuple[str, str]) -> Any:
    """Enter a provider into the table."""

    def enter(provider: Any) -> Any:
        RUDE.extend((provider, f"test_{test}", says) for test, says in tests)
        return provider

    return enter


class Changed(TinyProvider):
    """Changes its responses."""

    def response(self, reading: Any, names: dict[str, str]) -> ChatResponse:
        response = super().response(reading, names)
        return response.model_copy(update=self.changes(response))

    def changes(self, response: ChatResponse) -> dict[str, Any]:
        raise NotImplementedError


@rude(
    (REPLAY, "the answer has 0 calls, not 1: the service made 1, the provider returned"),
    ("results_of_calls_at_once_go_back_to_their_calls", "the answer has 0 calls, not 2"),
    ("calls_without_a_result_do_no_harm", "the answer has 0 calls, not 2"),
    ("a_conversation_of_many_turns_goes_on", "(calls must be in `tool_calls`, or in `content` as"),
    ("no_history_is_refused", "the answer has 0 calls, not 1"),
    ("calls_of_different_answers_have_different_ids", "the answer has 0 calls, not 2"),
)
class LosesCalls(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        content = [block for block in response.content if block.type != "tool_call"]
        return {"content": content, "tool_calls": None}


@rude((REPLAY, "the answer has 2 calls, not 1"))
class DoublesCalls(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"tool_calls": (response.tool_calls or []) * 2 or None}


@rude(
    (
        "results_of_calls_at_once_go_back_to_their_calls",
        "a call came without the argument `at` that the service gave it",
    )
)
class LosesArguments(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        calls = [call.model_copy(update={"arguments": {}}) for call in response.tool_calls or ()]
        return {"tool_calls": calls or None}


@rude((REPLAY, "call 0 of `tool_calls` is a `dict`, not a `ToolCall`"))
class CallsAsDicts(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"tool_calls": [call.model_dump() for call in response.tool_calls or ()] or None}


@rude((REPLAY, "block 0 of `content` is a `dict`, not a block such as `TextBlock`"))
class BlocksAsDicts(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"content": [block.model_dump() for block in response.content]}


@rude((REPLAY, "`content` of the response is a `str`, not a list of blocks"))
class TextAsContent(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"content": "Yes."}


@rude(
    (REPLAY, "`complete` returned a `str`, not a `ChatResponse`"),
    ("calls_at_the_same_time_do_not_mix", "`complete` returned a `str`, not a `ChatResponse`"),
)
class ReturnsText(TinyProvider):
    async def complete(self, request: ChatRequest, **options: Any) -> Any:
        await super().complete(request, **options)
        return "Yes."


class Flaky(TinyProvider):
    """Returns nothing where a call goes on to its end that somebody wanted to cancel."""

    asked = 0

    async def complete(self, request: ChatRequest, **options: Any) -> Any:
        self.asked += 1
        return await super().complete(request, **options) if self.asked == 1 else None


rude(
    (
        "a_call_can_be_cancelled_at_every_await",
        "`complete` was cancelled at its await 1 and returned a `NoneType`",
    )
)(Flaky)


@rude(
    ("it_has_the_attributes_of_a_provider", "`complete` is not an `async` method"),
    (REPLAY, "`complete` returned a `ChatResponse`, which cannot be awaited (must be an `async`"),
)
class NotAsync(TinyProvider):
    def complete(self, request: ChatRequest, **options: Any) -> Any:
        return ChatResponse(content=[])


@rude(
    ("signs_of_life_are_no_part_of_the_answer", "`complete` sent no request to the address"),
    ("names_of_tools_come_back_as_they_were", "`complete` sent no request to the address"),
    ("a_call_leaves_nothing_behind_for_the_next", "`complete` sent no request to the address"),
    ("empty_texts_do_no_harm", "`complete` sent no request to the address"),
)
class NeverAsks(TinyProvider):
    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        call = {"type": "tool_call", "id": "1", "name": "look", "input": {"at": "a"}}
        return ChatResponse.model_validate({"content": [call]})


@rude(("names_of_tools_come_back_as_they_were", "has no `tools`, although 4 were given"))
class SendsNoTools(TinyProvider):
    def encode(self, request: ChatRequest) -> Any:
        body, names = super().encode(request)
        body.pop("tools", None)
        return body, names


@rude(
    (
        "it_has_the_attributes_of_a_provider",
        "`parse_tool_calls` returned a `NoneType`, not a list",
    ),
    (REPLAY, "`parse_tool_calls` returned a `NoneType`, not a list"),
)
class ParsesNothing(Changed):
    def changes(self, response: ChatResponse) -> dict[str, Any]:
        return {"tool_calls": None}

    def parse_tool_calls(self, response: ChatResponse) -> Any:
        return None


@rude(("it_has_the_attributes_of_a_provider", "the provider has no method `complete`"))
class Bare:
    name = "bare"

    def __init__(self, base_url: str, key: str, hooks: Any) -> None:
        pass


@rude((REPLAY, "the provider has no method `parse_tool_calls`"))
class ParsesWithNothing(TinyProvider):
    parse_tool_calls: Any = None


@rude((REPLAY, "`close` returned a `NoneType`, which cannot be awaited (must be an `async` method"))
class ClosesAtOnce(TinyProvider):
    def close(self) -> Any:
        pass


@rude(
    (
        "it_lists_the_models_of_the_service",
        "`list_models` returned a `list`, which cannot be awaited (must be an `async` method)",
    )
)
class ListsAtOnce(TinyProvider):
    def list_models(self) -> Any:
        return []


@rude(
    (
        "a_list_of_models_that_is_refused_is_an_error",
        "the provider has no method `list_models` (`models = False` does not claim it)",
    )
)
class ListsWithNothing(TinyProvider):
    list_models: Any = None


@rude(
    (
        "block_events_add_up_to_the_answer",
        "`block` of `content_block:end` is a `TextBlock`, not a dict",
    )
)
class EndsWithModels(TinyProvider):
    async def show(self, reading: Any, what: str, index: int, **data: Any) -> None:
        if what == "end":
            data["block"] = TextBlock(text="Yes.")
        await super().show(reading, what, index, **data)


@rude(
    ("chunks_add_up_to_the_answer", "`chunks` returned a `coroutine`, not an async iterator"),
    ("chunks_can_be_left_at_every_piece", "(must be an `async` method that yields)"),
)
class ChunksAwaited(TinyProvider):
    async def chunks(self, request: ChatRequest, **options: Any) -> Any:
        return ["Yes."]


@rude(("chunks_add_up_to_the_answer", "`chunks` yielded a `int` (must be a text, a `StreamChunk`"))
class ChunksOfNumbers(TinyProvider):
    async def chunks(self, request: ChatRequest, **options: Any) -> Any:
        await self.complete(request)
        yield 1


@rude(
    ("chunks_add_up_to_the_answer", "`chunks` yielded nothing"),
    ("chunks_can_be_cancelled_at_every_await", "and yielded the text '', not 'Let me look"),
)
class ChunksOfNothing(TinyProvider):
    async def chunks(self, request: ChatRequest, **options: Any) -> Any:
        await self.complete(request)
        for piece in ():
            yield piece


def no_provider(base_url: str, key: str, hooks: Any) -> None:
    """Make nothing."""


rude((REPLAY, "`provider` of `Kit` returned a `NoneType`, not a provider"))(no_provider)
