"""A provider under test beside its server: what it is asked, and what comes of it."""

from __future__ import annotations

import http.client
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall

from ..servers import Fault, ModelServer, Recorded, Script
from .conversation import question, said
from .failing import fail, shown
from .recorder import KitHooks, open_problem, order_problem

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
        found = await self.outcome(*answers, fault=fault, request=request)
        self.expect_no_refusal()
        if isinstance(found, ChatResponse):
            return found
        raise AssertionError(f"`complete` raised {found!r} ({shown(fault)})") from found

    async def error(
        self,
        *answers: Script,
        fault: Fault,
        then: Fault | None = None,
        request: ChatRequest | None = None,
    ) -> LLMError:
        """Ask once, and return the error that it must end with."""
        found = await self.outcome(*answers, fault=fault, then=then, request=request)
        if isinstance(found, ChatResponse):
            fail(f"`complete` returned {said(found)} ({shown(fault)})")
        return found

    async def outcome(
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
            response = await self.provider.complete(request or question())
        except LLMError as error:
            return error
        except Exception as error:
            raise AssertionError(
                f"`complete` raised `{type(error).__name__}: {error}`, which is no error of"
                f" `amplifier_core.llm_errors` ({shown(fault)})"
            ) from error
        if not isinstance(response, ChatResponse):
            fail(f"`complete` returned a `{type(response).__name__}`, not a `ChatResponse`")
        return response

    def calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the calls that a loop would run."""
        calls = response.tool_calls or self.provider.parse_tool_calls(response)
        return [call for call in calls if not getattr(call, "error", None)]

    def expect_no_refusal(self) -> None:
        """Fail if the server refused a request."""
        for refusal in self.server.refusals:
            fail(f"the service refused the request: {refusal.status} {refusal.message}")

    def expect_order(self, what: str) -> None:
        """Fail if the events of blocks are out of order, or if what was begun never ended."""
        problem = order_problem(self.hooks) or open_problem(self.hooks)
        if problem:
            fail(f"{what}: {problem}; events: {[name for name, _ in self.hooks.events]}")

    def body(self, answer: Script) -> Recorded:
        """Return the bytes with which the service answers the last request, if it asks again."""
        seen = self.server.requests[-1]
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


def is_sse(body: Recorded) -> bool:
    """Whether a stream is one of server-sent events."""
    return "text/event-stream" in body.content_type
