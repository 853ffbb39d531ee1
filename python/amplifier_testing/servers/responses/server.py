"""A strict server of the OpenAI Responses API."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from ..openai import keys
from ..openai.models import MODELS, OpenAIModel
from ..openai.refusals import INVALID, error_body, errors_of, make_invalid
from ..serving.answer import Recorded, Script
from ..serving.exchange import SeenRequest, Stream, encode_event, read_events
from ..serving.fault import Fault
from ..serving.reading import Json, read_mapping, read_text
from ..serving.refusal import Refusal, RefusedError
from ..serving.server import ModelServer
from .judge import judge, read_input
from .prompt_cache import PromptCache
from .stored import Stored, StoredResponse
from .stream import compose, recorded_items, stream_events

_ROOTS = ("/v1", "/openai/v1", "/openai")


class ResponsesServer(ModelServer):
    """A server that judges each request as strictly as the Responses API, and answers from a script.

        with ResponsesServer(["Hello"]) as server:
            client = Client(base_url=server.url)

    Attributes:
        models: The models that exist; others are refused.
        deployments: The models behind the deployments of Azure.
        stored: The responses that it stored.
        background_polls: How often a background response is asked for until it ends.
        prompt_cache: What counts the tokens of requests, by the rule of OpenAI; `None` for the usage of
            the answers.
    """

    base_path = "/v1"
    limit_stop = "max_output_tokens"
    id_header = "x-request-id"
    errors = errors_of("input")

    def __init__(
        self,
        answers: Iterable[Script] = (),
        *,
        faults: Iterable[Fault | None] = (),
        api_key: str | None = None,
        pause: float = 0,
        secret: bytes | None = None,
        models: Iterable[OpenAIModel] = MODELS,
        deployments: Mapping[str, str] | None = None,
        background_polls: int = 1,
    ) -> None:
        """Set it up; the port opens on entering.

        Args:
            answers: The script; when it is over, a short text is the answer.
            faults: What goes wrong.
            api_key: The key that requests must carry; without one, any key.
            pause: Seconds between the events of a stream.
            secret: What it signs with; without it, a random key.
            models: The models that exist.
            deployments: The models behind the deployments of Azure, by their names.
            background_polls: How often a background response is asked for until it ends.
        """
        super().__init__(answers, faults=faults, api_key=api_key, pause=pause, secret=secret)
        self.models = list(models)
        self.deployments = dict(deployments or {})
        self.stored = Stored()
        self.background_polls = background_polls
        self.prompt_cache: PromptCache | None = None

    @property
    def azure_url(self) -> str:
        """The base address of a resource of Azure, without `/openai`."""
        return self.root

    def encrypt(self, name: str, thinking: str) -> str:
        """Return the encrypted content of a reasoning item with this id."""
        hidden = "gAAAA" + base64.urlsafe_b64encode(thinking.encode()).decode()
        return f"{hidden}.{self.issued.sign(f'{name}{chr(0)}{hidden}')}"

    def reasoning(self, thinking: str, *, summary: bool = True) -> Json:
        """Return a reasoning item, as the server would issue it."""
        name = self._new_id("rs_")
        shown = [{"type": "summary_text", "text": thinking}] if summary else []
        encrypted = self.encrypt(name, thinking)
        return {"id": name, "type": "reasoning", "summary": shown, "encrypted_content": encrypted}

    def judge(self, body: Json, headers: Mapping[str, str] | None = None) -> Refusal | None:
        """Return why the server would refuse a request, or `None` if it would take it."""
        return self._judge(body, headers, is_azure=False)

    def _judge(
        self, body: Json, headers: Mapping[str, str] | None, *, is_azure: bool
    ) -> Refusal | None:
        if is_azure and body.get("model") in self.deployments:
            body = {**body, "model": self.deployments[body["model"]]}
        return judge(
            body,
            headers,
            issued=self.issued,
            stored=self.stored,
            models=self.models,
            api_key=self._api_key,
            is_azure=is_azure,
        )

    def judge_request(self, request: SeenRequest) -> Refusal | None:
        """Return why the server refuses a request: for its path, its headers or its body."""
        is_azure = request.path.startswith("/openai")
        parts = _split_path(request)
        match request.method, parts:
            case "POST", ["responses"]:
                return self._judge(read_mapping(request.body), request.headers, is_azure=is_azure)
            case ("GET" | "DELETE", ["responses", _]) | ("POST", ["responses", _, "cancel"]):
                keys.check_key(request.headers, self._api_key, is_azure=is_azure)
                self._find(parts[1])
            case ("GET", ["responses", _, "input_items"] | ["models"] | ["models", _]):
                keys.check_key(request.headers, self._api_key, is_azure=is_azure)
            case _:
                return Refusal(404, INVALID, f"Invalid URL ({request.method} {request.path})")
        return None

    def _find(self, name: str) -> StoredResponse:
        if name not in self.stored.responses:
            raise RefusedError(Refusal(404, INVALID, f"Response with id '{name}' not found."))
        return self.stored.responses[name]

    def respond(self, request: SeenRequest) -> Json | Stream | Recorded:
        """Answer a request that was taken, from the script or from what the server knows."""
        match request.method, _split_path(request):
            case "POST", ["responses"]:
                return self._create(read_mapping(request.body))
            case "GET", ["responses", name]:
                return self._retrieve(self._find(name), request.query)
            case "GET", ["responses", name, _]:
                listed = self._find(name).context
                return {"object": "list", "data": listed, "has_more": False}
            case "DELETE", ["responses", name]:
                del self.stored.responses[name]
                return {"id": name, "object": "response", "deleted": True}
            case "POST", ["responses", name, _]:
                return self._cancel(self._find(name))
            case _, ["models", name]:
                if name not in {model.name for model in self.models}:
                    message = f"The model '{name}' does not exist"
                    raise RefusedError(Refusal(404, INVALID, message, "model", "model_not_found"))
                return _list_entry(name)
            case _:
                data = [_list_entry(model.name) for model in self.models]
                return {"object": "list", "data": data}

    def _create(self, body: Json) -> Json | Stream | Recorded:
        answer = self.take_answer()
        if isinstance(answer, Recorded):
            self._learn(answer, body)
            return answer
        if self.prompt_cache is not None:
            context = [*self.stored.context_of(body), *read_input(body)]
            answer = answer.with_usage(self.prompt_cache.count(body, context, answer.usage))
        response = compose(answer, body, self._new_id, self.encrypt)
        events = list(stream_events(response, answer))
        is_waiting = body.get("background") and not body.get("stream")
        self._remember(body, response, events, self.background_polls if is_waiting else 0)
        if body.get("stream"):
            return Stream([encode_event(event, event["type"]) for event in events])
        return _make_waiting(response, "queued") if is_waiting else response

    def _remember(self, body: Json, response: Json, events: list[Json], polls: int) -> None:
        self.stored.remember_order(response["output"])
        if body.get("store") is not False:
            context = [*self.stored.context_of(body), *read_input(body), *response["output"]]
            self.stored.store(StoredResponse(response, context, events, polls))

    def _learn(self, recorded: Recorded, body: Json) -> None:
        """Take the items of a recorded body for ones of this server."""
        output = recorded_items(recorded.body)
        for item in output:
            if item.get("encrypted_content"):
                self.issued.remember(read_text(item.get("id")), item["encrypted_content"])
        events = list(read_events(recorded.body))
        ended = [event for event in events if event.get("type") == "response.completed"]
        if ended:
            response = {**ended[-1]["response"], "output": output}
            self._remember(body, response, events, 0)
        else:
            self.stored.remember_order(output)

    def _retrieve(self, found: StoredResponse, query: Mapping[str, str]) -> Json | Stream:
        if query.get("stream") == "true":
            after = query.get("starting_after", "-1")
            rest = [e for e in found.events if e.get("sequence_number", 0) > int(after)]
            return Stream([encode_event(event, event["type"]) for event in rest])
        if found.cancelled:
            return _make_waiting(found.response, "cancelled")
        if found.polls > 0:
            found.polls -= 1
            return _make_waiting(found.response, "in_progress")
        return found.response

    def _cancel(self, found: StoredResponse) -> Json:
        if not found.response.get("background"):
            raise make_invalid("Cannot cancel a synchronous response.")
        if found.polls > 0:
            found.cancelled = True
        if found.cancelled:
            return _make_waiting(found.response, "cancelled")
        return found.response

    def write_error(self, refusal: Refusal, *, in_stream: bool) -> Json | list[bytes]:
        """Return an error in `error`; in a stream, an error event and the response that failed."""
        body = error_body(refusal)
        if not in_stream:
            return body
        code = refusal.code or "server_error"
        failed: Json = {"status": "failed", "error": {"code": code, "message": refusal.message}}
        response: Json = {"id": "resp_0", "object": "response", "output": [], **failed}
        events: list[Json] = [
            {"type": "error", "error": body["error"]},
            {"type": "response.failed", "response": response},
        ]
        return [encode_event(event, event["type"]) for event in events]


def _split_path(request: SeenRequest) -> list[str]:
    for root in _ROOTS:
        if request.path.startswith(f"{root}/"):
            return request.path.removeprefix(f"{root}/").split("/")
    return []


def _make_waiting(response: Json, status: str) -> Json:
    nothing: Json = {"status": status, "output": [], "usage": None}
    return {**response, **nothing, "error": None, "incomplete_details": None}


def _list_entry(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "openai"}
