"""A server of models: a script of answers, faults, and what it was asked."""

from __future__ import annotations

import itertools
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from .answer import Answer, Recorded, Script
from .fault import Fault, damage, refuse
from .http import HttpRequest, LoopbackServer, Reply
from .issued import Issued
from .reading import Json, parse_body
from .refusal import Refusal, RefusedError
from .scripts import checked_answer, checked_answers, checked_faults
from .sse import split_events
from .window import Window

DEFAULT_ANSWER = "Hello! How can I help?"
"""What a server says when its script is over."""


@dataclass(frozen=True)
class SeenRequest:
    """A request that a server got."""

    method: str
    path: str
    """The path without the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """The headers, their names in lower case."""
    body: Any
    """The parsed body; `None` without one, or if it is not a JSON object."""
    raw: bytes
    """The body as it came."""
    at: float = field(default_factory=lambda: time.monotonic(), compare=False)
    """When it came, by `time.monotonic`."""


class ModelServer(ABC):
    """A server on a loopback port that judges each request and answers from a script.

    Use it in a `with` block, which starts and stops it.

    Attributes:
        answers: What it will answer, one for each request that it accepts.
        faults: What will go wrong, one for each request that it accepts; `None` for nothing.
        requests: What it was asked, in order.
        lookups: What a client looked up by itself, where the dialect has such; no fault befalls it.
        refusals: What it refused by itself, in order; faults are not among them.
        issued: What it signed.
        window: The context window of all models; a longer request is refused. `None` for no limit.
        limit_stop: The stop reason of an answer that reached its limit of tokens.
    """

    limit_stop = "length"

    def __init__(
        self,
        answers: Iterable[Script] = (),
        *,
        faults: Iterable[Fault | None] = (),
        api_key: str | None = None,
        pause: float = 0,
        secret: bytes | None = None,
    ) -> None:
        """Set it up; the port opens on entering.

        Args:
            answers: The script; when it is over, a short text is the answer.
            faults: What goes wrong.
            api_key: The key that requests must carry; without one, any key.
            pause: Seconds between the events of a stream.
            secret: What it signs with; without it, a random key.

        Raises:
            TypeError: An answer or a fault is of the wrong type.
        """
        self.answers: list[Script] = checked_answers(answers)
        self.faults: list[Fault | None] = checked_faults(faults)
        self.requests: list[SeenRequest] = []
        self.lookups: list[SeenRequest] = []
        self.refusals: list[Refusal] = []
        self.issued = Issued(secret)
        self.window: Window | None = None
        self._api_key = api_key
        self._pause = pause
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._http: LoopbackServer | None = None

    @property
    def root(self) -> str:
        """The address of the server: `http://127.0.0.1:PORT`, without a path.

        Raises:
            RuntimeError: The server is not running.
        """
        if self._http is None:
            raise RuntimeError("the server has no address before `with` starts it")
        return self._http.address

    @property
    @abstractmethod
    def url(self) -> str:
        """What the official client of the dialect takes as its base address, as it stands.

        That is `base_url` of `anthropic` and `openai`, `host` of `ollama`, and `base_url` or `host`
        of our providers. Where the client adds the version itself, it is `root`; the clients of
        `openai` do not, so theirs ends in `/v1`.
        """

    @property
    def connections(self) -> int:
        """How many connections to it are open."""
        return 0 if self._http is None else self._http.connections

    def __enter__(self) -> Self:
        """Open the port and answer on a thread of its own.

        Raises:
            RuntimeError: The server is running already.
        """
        if self._http is not None:
            raise RuntimeError("the server is running already")
        self._http = LoopbackServer(self._respond)
        self._http.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, and close all connections."""
        server, self._http = self._http, None
        if server is not None:
            server.stop()

    def sign(self, text: str) -> str:
        """Return the signature of thoughts with this text, as the server would issue it."""
        return self.issued.sign(text)

    @abstractmethod
    def _handle(self, request: SeenRequest) -> Reply:
        """Answer a request, or raise `RefusedError`."""

    @abstractmethod
    def _error_body(self, refusal: Refusal) -> Json:
        """Return the error of the dialect."""

    @abstractmethod
    def _error_events(self, refusal: Refusal) -> list[bytes]:
        """Return how a stream of the dialect ends that went wrong."""

    @abstractmethod
    def _of_status(self, status: int) -> Refusal:
        """Return what the dialect says with an HTTP status."""

    @abstractmethod
    def _headers(self) -> Mapping[str, str]:
        """Return what the dialect sends with each response."""

    def _respond(self, request: HttpRequest) -> Reply:
        parsed = parse_body(request.raw) if request.raw else None
        body = None if isinstance(parsed, str) else parsed
        seen = SeenRequest(
            request.method, request.path, request.query, request.headers, body, request.raw
        )
        with self._lock:
            is_lookup = self._is_lookup(seen)
            (self.lookups if is_lookup else self.requests).append(seen)
            try:
                if isinstance(parsed, str):
                    raise RefusedError(self._invalid_json(parsed))
                # Before the faults: a request that is wrong must not hide behind one.
                self._check(seen)
                if self.window is not None and not is_lookup:
                    self._check_length(seen, self.window)
                fault = self.faults.pop(0) if self.faults and not is_lookup else None
                if fault is not None and fault.status is not None and fault.status != 200:
                    return self._fail(fault, fault.status)
                reply = self._handle(seen)
            except RefusedError as error:
                self.refusals.append(error.refusal)
                return self._refusal_reply(error.refusal)
        if fault is None:
            return reply
        return damage(reply, fault, self._error_events(self._fault_error(fault, 500)))

    def _is_lookup(self, request: SeenRequest) -> bool:
        """Return whether clients ask this by themselves, beside what their users ask."""
        del request
        return False

    @abstractmethod
    def _check(self, request: SeenRequest) -> None:
        """Check the place, the key and the body of a request, or raise `RefusedError`."""

    def _check_length(self, request: SeenRequest, window: Window) -> None:
        tokens = window.count(request.raw)
        if tokens > window.tokens:
            raise RefusedError(self._too_long(tokens, window.tokens))

    @abstractmethod
    def _too_long(self, tokens: int, most: int) -> Refusal:
        """Return what the dialect says to a request that is longer than the context window."""

    @abstractmethod
    def _invalid_json(self, problem: str) -> Refusal:
        """Return what the dialect says to a body that is no JSON object."""

    def _fail(self, fault: Fault, status: int) -> Reply:
        error = json.dumps(self._error_body(self._fault_error(fault, status))).encode()
        return refuse(fault, status, error, self._headers())

    def _fault_error(self, fault: Fault, status: int) -> Refusal:
        """Return the error of a fault: what the dialect says, or what the fault says instead."""
        usual = self._of_status(fault.status or status)
        return Refusal(
            usual.status,
            fault.kind or usual.kind,
            fault.message or usual.message,
            usual.param,
            fault.code or usual.code,
        )

    def _refusal_reply(self, refusal: Refusal) -> Reply:
        return self._json(self._error_body(refusal), refusal.status)

    def _json(self, value: Json, status: int = 200) -> Reply:
        headers = {"content-type": "application/json", **self._headers()}
        return Reply(status, headers, [json.dumps(value).encode()], is_whole=True)

    def _stream(self, events: list[bytes], status: int = 200, kind: str | None = None) -> Reply:
        headers = {
            "content-type": kind or "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            **self._headers(),
        }
        return Reply(status, headers, events, is_whole=False, pause=self._pause)

    def _recorded_reply(self, recorded: Recorded) -> Reply:
        events = split_events(recorded.body)
        return self._stream(events, recorded.status, recorded.content_type)

    def _next_answer(self) -> Answer | Recorded:
        script = self.answers.pop(0) if self.answers else DEFAULT_ANSWER
        return checked_answer(script, "an answer of the script")

    def _new_id(self, prefix: str) -> str:
        """Return an id that this server has not used yet."""
        return f"{prefix}{next(self._numbers):024x}"
