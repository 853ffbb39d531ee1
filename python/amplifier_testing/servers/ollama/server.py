"""A strict server of Ollama: its own API, and Chat Completions as it speaks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..openai import refusals as openai_words
from ..serving.answer import Answer, Call, Recorded, Script
from ..serving.fault import Fault
from ..serving.http import Reply
from ..serving.reading import Json, mapping, text
from ..serving.refusal import Refusal, RefusedError
from ..serving.server import ModelServer, SeenRequest
from ..serving.sse import encode_event
from . import completions, generate
from .judge import check_key, judge, model_of
from .models import MODELS, OllamaModel, find_model
from .pulling import pull_lines
from .refusals import error_body, of_status, refusal
from .stream import compose, encode_line, stream_lines

NDJSON = "application/x-ndjson"
_COMPLETIONS = "/v1/chat/completions"
_GENERATE = "/api/generate"


class OllamaServer(ModelServer):
    """A server that judges each request as strictly as Ollama does, and answers from a script.

    It has `/api/chat`, `/api/generate`, `/v1/chat/completions`, and what lists, shows and pulls
    models.

        with OllamaServer(["Hello"]) as server:
            client = Client(host=server.url)

    What clients look up by themselves, `/api/show` and `/api/version`, is in `lookups` and not in
    `requests`, and takes no fault.

    Attributes:
        models: The models that it has; others are refused.
        pullable: The models that can be pulled.
    """

    def __init__(
        self,
        answers: Iterable[Script] = (),
        *,
        faults: Iterable[Fault | None] = (),
        api_key: str | None = None,
        pause: float = 0,
        secret: bytes | None = None,
        models: Iterable[OllamaModel] = MODELS,
        pullable: Iterable[OllamaModel] = (),
    ) -> None:
        """Set it up; the port opens on entering.

        Args:
            answers: The script; when it is over, a short text is the answer.
            faults: What goes wrong.
            api_key: The key that requests must carry; without one, none is needed.
            pause: Seconds between the lines of a stream.
            secret: Not used, as Ollama signs nothing.
            models: The models that it has.
            pullable: The models that can be pulled.
        """
        super().__init__(answers, faults=faults, api_key=api_key, pause=pause, secret=secret)
        self.models = list(models)
        self.pullable = list(pullable)
        self._speaks_openai = False

    @property
    def url(self) -> str:
        """The address of the server, which `Client` of `ollama` calls `host`."""
        return self.root

    def judge(self, body: Json, headers: Mapping[str, str] | None = None) -> Refusal | None:
        """Return why `/api/chat` would refuse a request, or `None` if it would take it."""
        return judge(body, headers, models=self.models, api_key=self._api_key)

    def _is_lookup(self, request: SeenRequest) -> bool:
        return request.path in ("/api/show", "/api/version")

    def _check(self, request: SeenRequest) -> None:
        self._speaks_openai = request.path.startswith("/v1/")
        match request.method, request.path:
            case "POST", "/api/chat":
                refusal = self.judge(mapping(request.body), request.headers)
            case "POST", path if path == _GENERATE:
                refusal = generate.judge(
                    mapping(request.body), request.headers, self.models, self._api_key
                )
            case "POST", path if path == _COMPLETIONS:
                check_key(request.headers, self._api_key)
                refusal = completions.judge(mapping(request.body), self.models)
            case ("POST", "/api/show" | "/api/pull") | ("GET", "/api/tags" | "/api/version"):
                check_key(request.headers, self._api_key)
                return
            case _:
                raise RefusedError(of_status(404))
        if refusal is not None:
            raise RefusedError(refusal)

    def _handle(self, request: SeenRequest) -> Reply:
        body = mapping(request.body)
        match request.path:
            case "/api/version":
                return self._json({"version": "0.12.6"})
            case "/api/tags":
                return self._json({"models": [_list_entry(model) for model in self.models]})
            case "/api/show":
                return self._json(model_of(_model_name(body), self.models).shown)
            case "/api/pull":
                return self._pull_reply(_model_name(body))
            case _:
                return self._answer_reply(request.path, body)

    def _pull_reply(self, name: str) -> Reply:
        if not name:
            raise refusal("invalid model name")
        model = find_model(name, self.pullable)
        if model is not None and model not in self.models:
            self.models.append(model)
        lines = [encode_line(line) for line in pull_lines(is_known=model is not None)]
        return self._stream(lines, kind=NDJSON)

    def _answer_reply(self, path: str, body: Json) -> Reply:
        if path == _GENERATE and generate.loads_only(body):
            return self._json(generate.load_answer(body))
        answer = self._next_answer()
        if isinstance(answer, Recorded):
            return self._recorded_reply(answer)
        if path == _COMPLETIONS:
            return self._completion(answer, body)
        thinks, model = bool(body.get("think")), body["model"]
        is_prompt = path == _GENERATE
        if body.get("stream") is False:
            form = generate.compose if is_prompt else compose
            return self._json(form(answer, model, thinks=thinks))
        write = generate.generated_lines if is_prompt else stream_lines
        lines = write(answer, model, thinks=thinks)
        return self._stream([encode_line(line) for line in lines], kind=NDJSON)

    def _completion(self, answer: Answer, body: Json) -> Reply:
        name = self._new_id("chatcmpl-")
        parts = [
            replace(part, id=part.id or self._new_id("call_")) if isinstance(part, Call) else part
            for part in answer.parts
        ]
        known = Answer(*parts, stop=answer.stop, usage=answer.usage, fragment=answer.fragment)
        if not body.get("stream"):
            return self._json(completions.whole(known, body, name, self.sign))
        return self._stream(completions.chunks(known, body, name, self.sign))

    def _recorded_reply(self, recorded: Recorded) -> Reply:
        if NDJSON not in recorded.content_type:
            return super()._recorded_reply(recorded)
        lines = recorded.body.splitlines(keepends=True)
        return self._stream(lines, recorded.status, recorded.content_type)

    def _headers(self) -> Mapping[str, str]:
        return {}

    def _error_body(self, refusal: Refusal) -> Json:
        if self._speaks_openai:
            return openai_words.error_body(refusal)
        return error_body(refusal)

    def _error_events(self, refusal: Refusal) -> list[bytes]:
        body = self._error_body(refusal)
        return [encode_event(body) if self._speaks_openai else encode_line(body)]

    def _too_long(self, tokens: int, most: int) -> Refusal:
        if self._speaks_openai:
            return openai_words.too_long(tokens, most, "messages")
        return Refusal(
            400, "", f"input length ({tokens} tokens) exceeds the context length ({most})"
        )

    def _of_status(self, status: int) -> Refusal:
        return openai_words.of_status(status) if self._speaks_openai else of_status(status)

    def _invalid_json(self, problem: str) -> Refusal:
        return Refusal(400, "", f"invalid character in the body: {problem}")


def _model_name(body: Json) -> str:
    """Return the model of a request, which older clients call `name`."""
    return text(body.get("model") or body.get("name"))


def _list_entry(model: OllamaModel) -> Json:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": "2026-01-01T00:00:00Z",
        "size": 5_225_388_164,
        "digest": "500a1f067a9f782620b40bee6f7b0c89e17ae61f686b92c24933e4ca4b2b8b41",
        "details": model.details,
    }
