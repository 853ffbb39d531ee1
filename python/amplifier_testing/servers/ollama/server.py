"""A strict server of Ollama: its own API, and Chat Completions as it speaks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..openai import refusals as openai_refusals
from ..serving.answer import Answer, Call, Recorded, Script
from ..serving.exchange import SeenRequest, Stream
from ..serving.fault import Fault
from ..serving.reading import Json, read_mapping, read_text
from ..serving.refusal import Refusal, ServiceErrors
from ..serving.server import ModelServer
from . import completions, generate
from .judge import check_key, judge, model_of
from .models import MODELS, OllamaModel, find_model, pull_lines
from .refusals import error_body, invalid_json, make_refusal, of_status, too_long
from .stream import compose, encode_line, stream_lines

NDJSON = "application/x-ndjson"
ERRORS = ServiceErrors(of_status, too_long, invalid_json)
# A body is read before its path counts, so one that is no JSON has one error.
COMPLETIONS_ERRORS = replace(openai_refusals.errors_of("messages"), invalid_json=invalid_json)
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

    errors = ERRORS
    lookup_paths = ("/api/show", "/api/version")

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

    def judge(self, body: Json, headers: Mapping[str, str] | None = None) -> Refusal | None:
        """Return why `/api/chat` would refuse a request, or `None` if it would take it."""
        return judge(body, headers, models=self.models, api_key=self._api_key)

    def judge_request(self, request: SeenRequest) -> Refusal | None:
        """Return why the server refuses a request: for its path, its headers or its body."""
        self._speaks_openai = request.path.startswith("/v1/")
        self.errors = COMPLETIONS_ERRORS if self._speaks_openai else ERRORS
        match request.method, request.path:
            case "POST", "/api/chat":
                return self.judge(read_mapping(request.body), request.headers)
            case "POST", path if path == _GENERATE:
                return generate.judge(
                    read_mapping(request.body), request.headers, self.models, self._api_key
                )
            case "POST", path if path == _COMPLETIONS:
                check_key(request.headers, self._api_key)
                return completions.judge(read_mapping(request.body), self.models)
            case ("POST", "/api/show" | "/api/pull") | ("GET", "/api/tags" | "/api/version"):
                check_key(request.headers, self._api_key)
                return None
            case _:
                return of_status(404)

    def respond(self, request: SeenRequest) -> Json | Stream | Recorded:
        """Answer a request that was taken, from the script or from what the server knows."""
        body = read_mapping(request.body)
        match request.path:
            case "/api/version":
                return {"version": "0.12.6"}
            case "/api/tags":
                return {"models": [_list_entry(model) for model in self.models]}
            case "/api/show":
                return model_of(_model_name(body), self.models).shown
            case "/api/pull":
                return self._pull(_model_name(body))
            case _:
                return self._answer(request.path, body)

    def _pull(self, name: str) -> Stream:
        if not name:
            raise make_refusal("invalid model name")
        model = find_model(name, self.pullable)
        if model is not None and model not in self.models:
            self.models.append(model)
        lines = [encode_line(line) for line in pull_lines(is_known=model is not None)]
        return Stream(lines, NDJSON)

    def _answer(self, path: str, body: Json) -> Json | Stream | Recorded:
        if path == _GENERATE and generate.loads_only(body):
            return generate.load_answer(body)
        answer = self.take_answer()
        if isinstance(answer, Recorded):
            return answer
        if path == _COMPLETIONS:
            return self._answer_completion(answer, body)
        thinks, model = bool(body.get("think")), body["model"]
        is_prompt = path == _GENERATE
        if body.get("stream") is False:
            form = generate.compose if is_prompt else compose
            return form(answer, model, thinks=thinks)
        write = generate.generated_lines if is_prompt else stream_lines
        lines = write(answer, model, thinks=thinks)
        return Stream([encode_line(line) for line in lines], NDJSON)

    def _answer_completion(self, answer: Answer, body: Json) -> Json | Stream:
        name = self._new_id("chatcmpl-")
        parts = [
            replace(part, id=part.id or self._new_id("call_")) if isinstance(part, Call) else part
            for part in answer.parts
        ]
        known = Answer(*parts, stop=answer.stop, usage=answer.usage, fragment=answer.fragment)
        if not body.get("stream"):
            return completions.write_whole(known, body, name, self.sign)
        return Stream(completions.write_chunks(known, body, name, self.sign))

    def write_error(self, refusal: Refusal, *, in_stream: bool) -> Json | list[bytes]:
        """Return an error as one text, or as OpenAI writes it where Chat Completions are spoken."""
        if self._speaks_openai:
            return openai_refusals.error_body(refusal)
        body = error_body(refusal)
        return [encode_line(body)] if in_stream else body


def _model_name(body: Json) -> str:
    """Return the model of a request, which older clients call `name`."""
    return read_text(body.get("model") or body.get("name"))


def _list_entry(model: OllamaModel) -> Json:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": "2026-01-01T00:00:00Z",
        "size": 5_225_388_164,
        "digest": "500a1f067a9f782620b40bee6f7b0c89e17ae61f686b92c24933e4ca4b2b8b41",
        "details": model.details,
    }
