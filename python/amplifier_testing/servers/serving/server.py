"""A server of models: a script of answers, faults, and what it was asked."""

from __future__ import annotations

import itertools
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Self

from .answer import Answer, Recorded, Script, checked_answer, checked_answers, checked_faults
from .exchange import SeenRequest, Stream, Window, encode_event, split_pieces
from .fault import Fault, damage, refuse
from .http import HttpRequest, LoopbackServer, Reply
from .issued import Issued
from .reading import Json, parse_body
from .refusal import Refusal, RefusedError, ServiceErrors

DEFAULT_ANSWER = "Hello! How can I help?"
"""What a server says when its script is over."""


class ModelServer(ABC):
    """A server on a loopback port that judges each request and answers from a script.

    Use it in a `with` block, which starts and stops it. A dialect is a subclass with three methods:
    `judge_request`, `respond` and `write_error`.

    Attributes:
        answers: What it will answer, one for each request that it accepts.
        faults: What will go wrong, one for each request that it accepts; `None` for nothing.
        requests: What it was asked, in order.
        lookups: What a client looked up by itself, where the dialect has such; no fault befalls it.
        refusals: What it refused by itself, in order; faults are not among them.
        issued: What it signed.
        clock: Returns the seconds that requests are marked with; `time.monotonic` by default.
        window: The context window of all models; a longer request is refused. `None` for no limit.
        base_path: What the base address has behind the port, such as `/v1`.
        limit_stop: The stop reason of an answer that reached its limit of tokens.
        id_header: The header that carries the id of a response; `None` for none.
        lookup_paths: What clients ask by themselves, beside what their users ask.
        errors: The usual errors of the service.
    """

    base_path = ""
    limit_stop = "length"
    id_header: str | None = None
    lookup_paths: Collection[str] = ()
    errors = ServiceErrors()

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
        self.clock: Callable[[], float] = lambda: time.monotonic()
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
    def url(self) -> str:
        """What the official client of the dialect takes as its base address, as it stands.

        That is `base_url` of `anthropic` and `openai`, `host` of `ollama`, and `base_url` or `host`
        of our providers. Where the client adds the version itself, it is `root`; the clients of
        `openai` do not, so theirs ends in `/v1`.

        Raises:
            RuntimeError: The server is not running.
        """
        return self.root + self.base_path

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
        self._http = LoopbackServer(self._reply)
        self._http.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, and close all connections."""
        server, self._http = self._http, None
        if server is not None:
            server.stop()

    @abstractmethod
    def judge_request(self, request: SeenRequest) -> Refusal | None:
        """Return why the service refuses a request, or `None` if it takes it.

        The request has a JSON object as its body, or none.
        """

    @abstractmethod
    def respond(self, request: SeenRequest) -> Json | Stream | Recorded:
        """Return the response to a request that `judge_request` took.

        `take_answer` is the next answer of the script. A mapping is sent as one body.
        """

    @abstractmethod
    def write_error(self, refusal: Refusal, *, in_stream: bool) -> Json | list[bytes]:
        """Return an error as the dialect writes it.

        Args:
            refusal: The error.
            in_stream: Whether it ends a stream, under status 200. Then a mapping is sent as one
                server-sent event; a list is the pieces that end the stream.
        """

    def take_answer(self) -> Answer | Recorded:
        """Take the next answer of the script; after its end a short text.

        Raises:
            TypeError: What the script has is no answer.
        """
        script = self.answers.pop(0) if self.answers else DEFAULT_ANSWER
        return checked_answer(script, "an answer of the script")

    def sign(self, text: str) -> str:
        """Return the signature of thoughts with this text, as the server would issue it."""
        return self.issued.sign(text)

    def _reply(self, request: HttpRequest) -> Reply:
        parsed = parse_body(request.raw) if request.raw else None
        body = None if isinstance(parsed, str) else parsed
        seen = SeenRequest(
            request.method,
            request.path,
            request.query,
            request.headers,
            body,
            request.raw,
            self.clock(),
        )
        with self._lock:
            is_lookup = seen.path in self.lookup_paths
            (self.lookups if is_lookup else self.requests).append(seen)
            try:
                # Before the faults: a request that is wrong must not hide behind one.
                refusal = self._find_refusal(seen, parsed if isinstance(parsed, str) else None)
                if refusal is not None:
                    raise RefusedError(refusal)
                fault = self.faults.pop(0) if self.faults and not is_lookup else None
                if fault is not None and fault.status is not None and fault.status != 200:
                    return self._fail(fault, fault.status)
                reply = self._send(self.respond(seen))
            except RefusedError as error:
                self.refusals.append(error.refusal)
                return self._send_json(self._error_body(error.refusal), error.refusal.status)
        if fault is None:
            return reply
        return damage(reply, fault, self._error_events(self._fault_error(fault, 500)))

    def _find_refusal(self, request: SeenRequest, problem: str | None) -> Refusal | None:
        """Return why a request is refused; `problem` is why its body is not a JSON object."""
        if problem is not None:
            return self.errors.invalid_json(problem)
        refusal = self.judge_request(request)
        if refusal is not None or self.window is None or request.path in self.lookup_paths:
            return refusal
        tokens, most = self.window.count(request.raw), self.window.tokens
        return self.errors.too_long(tokens, most) if tokens > most else None

    def _error_body(self, refusal: Refusal) -> Json:
        written = self.write_error(refusal, in_stream=False)
        if isinstance(written, dict):
            return written
        raise TypeError(
            f"`write_error` returned a `list` without `in_stream` (must be a mapping, for status"
            f" {refusal.status})"
        )

    def _error_events(self, refusal: Refusal) -> list[bytes]:
        written = self.write_error(refusal, in_stream=True)
        return [encode_event(written)] if isinstance(written, dict) else written

    def _fail(self, fault: Fault, status: int) -> Reply:
        error = json.dumps(self._error_body(self._fault_error(fault, status))).encode()
        return refuse(fault, status, error, self._make_headers())

    def _fault_error(self, fault: Fault, status: int) -> Refusal:
        """Return the error of a fault: the usual one of its status, or what the fault says instead."""
        usual = self.errors.of_status(fault.status or status)
        return Refusal(
            usual.status,
            fault.kind or usual.kind,
            fault.message or usual.message,
            usual.param,
            fault.code or usual.code,
        )

    def _make_headers(self) -> dict[str, str]:
        return {} if self.id_header is None else {self.id_header: self._new_id("req_")}

    def _send(self, response: Json | Stream | Recorded) -> Reply:
        match response:
            case Recorded():
                pieces = split_pieces(response.body, response.content_type)
                return self._send_stream(Stream(pieces, response.content_type), response.status)
            case Stream():
                return self._send_stream(response)
            case _:
                return self._send_json(response)

    def _send_json(self, value: Json, status: int = 200) -> Reply:
        headers = {"content-type": "application/json", **self._make_headers()}
        return Reply(status, headers, [json.dumps(value).encode()], is_whole=True)

    def _send_stream(self, stream: Stream, status: int = 200) -> Reply:
        headers = {
            "content-type": stream.content_type,
            "cache-control": "no-cache",
            **self._make_headers(),
        }
        return Reply(status, headers, stream.pieces, is_whole=False, pause=self._pause)

    def _new_id(self, prefix: str) -> str:
        """Return an id that this server has not used yet."""
        return f"{prefix}{next(self._numbers):024x}"
