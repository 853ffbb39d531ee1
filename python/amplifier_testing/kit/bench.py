"""A provider under test beside its server: what it is asked, and what comes of it."""

from __future__ import annotations

import http.client
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_providers.answers.response_facts import tool_calls_of

from ..servers import Fault, ModelServer, Recorded, Script
from ..servers.serving.exchange import SeenRequest
from .conversation import essence_of, make_question
from .failing import fail, write_fault
from .recorder import KitHooks, open_problem, order_problem
from .returned import checked_awaitable, checked_calls, checked_response

_AGAIN = 500
"""Times that an answer is ready: more than any provider should ask for one."""


@dataclass
class Bench:
    """A provider, its server and its hooks."""

    provider: Any
    server: ModelServer
    hooks: KitHooks = field(default_factory=KitHooks)

    async def ask(
        self,
        *answers: Script,
        fault: Fault | None = None,
        request: ChatRequest | None = None,
    ) -> ChatResponse:
        """Ask once, and return the response that it must end with.

        Args:
            *answers: What the service answers; the last one again and again.
            fault: What goes wrong each time.
            request: What is asked; a question without one.
        """
        found = await self.ask_for_outcome(*answers, fault=fault, request=request)
        self.expect_no_refusal()
        if isinstance(found, ChatResponse):
            return found
        raise AssertionError(f"`complete` raised {found!r} ({write_fault(fault)})") from found

    async def ask_for_error(
        self,
        *answers: Script,
        fault: Fault,
        then: Fault | None = None,
        request: ChatRequest | None = None,
    ) -> LLMError:
        """Ask once, and return the error that it must end with."""
        found = await self.ask_for_outcome(*answers, fault=fault, then=then, request=request)
        if isinstance(found, ChatResponse):
            fail(f"`complete` returned {essence_of(found)} ({write_fault(fault)})")
        return found

    async def ask_for_outcome(
        self,
        *answers: Script,
        fault: Fault | None = None,
        then: Fault | None = None,
        request: ChatRequest | None = None,
    ) -> ChatResponse | LLMError:
        """Ask once, and return the response or the error; anything else is a mistake.

        Args:
            *answers: What the service answers; the last one again and again.
            fault: What goes wrong each time.
            then: What goes wrong instead if the provider asks again.
            request: What is asked; a question without one.
        """
        server = self.server
        server.answers = [*answers, *(answers[-1:] * _AGAIN)]
        server.faults = [fault, *[then or fault] * _AGAIN]
        server.requests.clear()
        server.refusals.clear()
        self.hooks.events.clear()
        try:
            return await self.complete(request)
        except LLMError as error:
            return error
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                f"`complete` raised `{type(error).__name__}: {error}`, which is no error of"
                f" `amplifier_core.llm_errors` ({write_fault(fault)})"
            ) from error

    async def complete(self, request: ChatRequest | None = None) -> ChatResponse:
        """Return what `complete` returns, whatever the server has ready."""
        answer = self.provider.complete(request or make_question())
        return checked_response(await checked_awaitable(answer, "complete"))

    async def list_models(self) -> Any:
        """Return what `list_models` returns."""
        listing = getattr(self.provider, "list_models", None)
        if not callable(listing):
            fail("the provider has no method `list_models` (`models = False` does not claim it)")
        return await checked_awaitable(listing(), "list_models")

    def list_calls(self, response: ChatResponse, count: int | None = None) -> list[ToolCall]:
        """Return the calls that a loop would run.

        Args:
            response: The answer.
            count: How many the service made; None where that is what is tested.
        """
        found = response.tool_calls
        if not found:
            parsed: Any = self.provider.parse_tool_calls(response)
            found = checked_calls(parsed, "`parse_tool_calls`", "returned")
        calls = [call for call in found or tool_calls_of(response) if not is_broken(call)]
        if count is not None and len(calls) != count:
            fail(
                f"the answer has {len(calls)} calls, not {count}: the service made {count}, the"
                f" provider returned {essence_of(response)} (calls must be in `tool_calls`, or in"
                " `content` as `ToolCallBlock`s)"
            )
        return calls

    def call(self, response: ChatResponse) -> ToolCall:
        """Return the call that a loop would run, of an answer with one."""
        return self.list_calls(response, 1)[0]

    @property
    def sent(self) -> SeenRequest:
        """The last request that the provider sent."""
        if not self.server.requests:
            fail("`complete` sent no request to the address that `provider` was given")
        return self.server.requests[-1]

    def expect_no_refusal(self) -> None:
        """Fail if the server refused a request."""
        for refusal in self.server.refusals:
            fail(f"the service refused the request: {refusal.status} {refusal.message}")

    def expect_order(self, what: str) -> None:
        """Fail if the events of blocks are out of order, or if what was begun never ended."""
        problem = order_problem(self.hooks) or open_problem(self.hooks)
        if problem:
            fail(f"{what}: {problem}; events: {[name for name, _ in self.hooks.events]}")

    def answer_again(self, answer: Script) -> Recorded:
        """Return the bytes with which the service answers the last request, if it asks again."""
        seen = self.sent
        self.server.answers, self.server.faults = [answer], []
        place = urlsplit(self.server.root)
        connection = http.client.HTTPConnection(place.hostname or "", place.port)
        try:
            path = f"{seen.path}?{urlencode(seen.query)}" if seen.query else seen.path
            headers = {name: text for name, text in seen.headers.items() if name != "host"}
            connection.request(seen.method, path, seen.raw, headers)
            response = connection.getresponse()
            kind = response.headers["content-type"]
            return Recorded(response.read(), content_type=kind)
        finally:
            connection.close()


def is_broken(call: ToolCall) -> bool:
    """Whether a call says itself that it cannot run."""
    return bool(getattr(call, "error", None))


def is_sse(body: Recorded) -> bool:
    """Whether a stream is one of server-sent events."""
    return "text/event-stream" in body.content_type
