"""A strict server of the OpenAI Responses API."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from ..openai import keys
from ..openai.models import MODELS, OpenAIModel
from ..openai.refusals import INVALID, error_body, invalid, of_status, too_long
from ..serving.answer import Recorded, Script
from ..serving.fault import Fault
from ..serving.http import Reply
from ..serving.reading import Json, mapping, text
from ..serving.refusal import Refusal, RefusedError
from ..serving.server import ModelServer, SeenRequest
from ..serving.sse import encode_event, read_events
from .judge import judge, read_input
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
    """

    limit_stop = "max_output_tokens"

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

    @property
    def url(self) -> str:
        """The base address, with `/v1`."""
        return f"{self.root}/v1"

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

    def _check(self, request: SeenRequest) -> None:
        is_azure = request.path.startswith("/openai")
        parts = _parts(request)
        match request.method, parts:
            case "POST", ["responses"]:
                refusal = self._judge(mapping(request.body), request.headers, is_azure=is_azure)
                if refusal is not None:
                    raise RefusedError(refusal)
            case ("GET" | "DELETE", ["responses", _]) | ("POST", ["responses", _, "cancel"]):
                keys.check_key(request.headers, self._api_key, is_azure=is_azure)
                self._find(parts[1])
            case ("GET", ["responses", _, "input_items"] | ["models"] | ["models", _]):
                keys.check_key(request.headers, self._api_key, is_azure=is_azure)
            case _:
                said = f"Invalid URL ({request.method} {request.path})"
                raise RefusedError(Refusal(404, INVALID, said))

    def _find(self, name: str) -> StoredResponse:
        if name not in self.stored.responses:
            raise RefusedError(Refusal(404, INVALID, f"Response with id '{name}' not found."))
        return self.stored.responses[name]

    def _handle(self, request: SeenRequest) -> Reply:
        match request.method, _parts(request):
            case "POST", ["responses"]:
                return self._create(mapping(request.body))
            case "GET", ["responses", name]:
                return self._retrieve(self._find(name), request.query)
            case "GET", ["responses", name, _]:
                listed = self._find(name).context
                return self._json({"object": "list", "data": listed, "has_more": False})
            case "DELETE", ["responses", name]:
                del self.stored.responses[name]
                return self._json({"id": name, "object": "response", "deleted": True})
            case "POST", ["responses", name, _]:
                return self._cancel(self._find(name))
            case _, ["models", name]:
                if name not in {model.name for model in self.models}:
                    said = f"The model '{name}' does not exist"
                    raise RefusedError(Refusal(404, INVALID, said, "model", "model_not_found"))
                return self._json(_list_entry(name))
            case _:
                data = [_list_entry(model.name) for model in self.models]
                return self._json({"object": "list", "data": data})

    def _create(self, body: Json) -> Reply:
        answer = self._next_answer()
        if isinstance(answer, Recorded):
            self._learn(answer, body)
            return self._recorded_reply(answer)
        response = compose(answer, body, self._new_id, self.encrypt)
        events = list(stream_events(response, answer))
        is_waiting = body.get("background") and not body.get("stream")
        self._remember(body, response, events, self.background_polls if is_waiting else 0)
        if body.get("stream"):
            return self._stream([encode_event(event, event["type"]) for event in events])
        return self._json(_waiting(response, "queued") if is_waiting else response)

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
                self.issued.remember(text(item.get("id")), item["encrypted_content"])
        events = list(read_events(recorded.body))
        ended = [event for event in events if event.get("type") == "response.completed"]
        if ended:
            response = {**ended[-1]["response"], "output": output}
            self._remember(body, response, events, 0)
        else:
            self.stored.remember_order(output)

    def _retrieve(self, found: StoredResponse, query: Mapping[str, str]) -> Reply:
        if query.get("stream") == "true":
            after = query.get("starting_after", "-1")
            rest = [e for e in found.events if e.get("sequence_number", 0) > int(after)]
            return self._stream([encode_event(event, event["type"]) for event in rest])
        if found.cancelled:
            return self._json(_waiting(found.response, "cancelled"))
        if found.polls > 0:
            found.polls -= 1
            return self._json(_waiting(found.response, "in_progress"))
        return self._json(found.response)

    def _cancel(self, found: StoredResponse) -> Reply:
        if not found.response.get("background"):
            raise invalid("Cannot cancel a synchronous response.")
        if found.polls > 0:
            found.cancelled = True
        if found.cancelled:
            return self._json(_waiting(found.response, "cancelled"))
        return self._json(found.response)

    def _headers(self) -> Mapping[str, str]:
        return {"x-request-id": self._new_id("req_")}

    def _error_body(self, refusal: Refusal) -> Json:
        return error_body(refusal)

    def _error_events(self, refusal: Refusal) -> list[bytes]:
        error = error_body(refusal)["error"]
        code = refusal.code or "server_error"
        failed: Json = {"status": "failed", "error": {"code": code, "message": refusal.message}}
        response: Json = {"id": "resp_0", "object": "response", "output": [], **failed}
        events: list[Json] = [
            {"type": "error", "error": error},
            {"type": "response.failed", "response": response},
        ]
        return [encode_event(event, event["type"]) for event in events]

    def _too_long(self, tokens: int, most: int) -> Refusal:
        return too_long(tokens, most, "input")

    def _of_status(self, status: int) -> Refusal:
        return of_status(status)

    def _invalid_json(self, problem: str) -> Refusal:
        said = f"We could not parse the JSON body of your request: {problem}"
        return Refusal(400, INVALID, said)


def _parts(request: SeenRequest) -> list[str]:
    for root in _ROOTS:
        if request.path.startswith(f"{root}/"):
            return request.path.removeprefix(f"{root}/").split("/")
    return []


def _waiting(response: Json, status: str) -> Json:
    nothing: Json = {"status": status, "output": [], "usage": None}
    return {**response, **nothing, "error": None, "incomplete_details": None}


def _list_entry(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "openai"}
