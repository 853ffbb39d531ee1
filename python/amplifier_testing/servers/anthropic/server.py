"""A strict server of the Anthropic Messages API."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from ..serving.answer import Recorded, Script
from ..serving.exchange import SeenRequest, Stream, encode_event
from ..serving.fault import Fault
from ..serving.reading import Json, read_mapping, read_text
from ..serving.refusal import Refusal, RefusedError, ServiceErrors
from ..serving.server import ModelServer
from . import rules_parameters
from .judge import judge
from .models import MODELS, AnthropicModel, find_model
from .prompt_cache import PromptCache
from .refusals import invalid_json, make_invalid, of_status, too_long
from .rules_thinking import REDACTED
from .sent_thoughts import SentAnswers
from .stream import compose, recorded_blocks, stream_events

_CREATED = "2025-01-01T00:00:00Z"
_PAGE = 20
_MAX_PAGE = 1_000
_PADDING = 7


class AnthropicServer(ModelServer):
    """A server that judges each request as strictly as the Messages API, and answers from a script.

        with AnthropicServer(["Hello"]) as server:
            client = Client(base_url=server.url)

    Attributes:
        models: The models that exist; others are refused with 404.
        alternation: Whether two messages of one role in a row are refused.
        prompt_cache: What counts the tokens of requests, by the rule of the API; `None` for the usage
            of the answers.
    """

    limit_stop = "max_tokens"
    id_header = "request-id"
    errors = ServiceErrors(of_status, too_long, invalid_json)

    def __init__(
        self,
        answers: Iterable[Script] = (),
        *,
        faults: Iterable[Fault | None] = (),
        api_key: str | None = None,
        pause: float = 0,
        secret: bytes | None = None,
        models: Iterable[AnthropicModel] = MODELS,
        alternation: bool = True,
    ) -> None:
        """Set it up; the port opens on entering.

        Args:
            answers: The script; when it is over, a short text is the answer.
            faults: What goes wrong.
            api_key: The key that requests must carry; without one, any key.
            pause: Seconds between the events of a stream.
            secret: What it signs with; without it, a random key.
            models: The models that exist.
            alternation: Refuse two messages of one role in a row, which the API joins.
        """
        super().__init__(answers, faults=faults, api_key=api_key, pause=pause, secret=secret)
        self.models = list(models)
        self.alternation = alternation
        self.prompt_cache: PromptCache | None = None
        self._sent = SentAnswers()

    def redact(self, text: str) -> str:
        """Return the `data` of hidden thoughts, as the server would issue it."""
        hidden = base64.b64encode(text.encode()).decode()
        return f"{hidden}.{self.issued.sign(REDACTED + hidden)}"

    def judge(self, body: Json, headers: Mapping[str, str] | None = None) -> Refusal | None:
        """Return why the server would refuse a request, or `None` if it would take it."""
        return judge(
            body,
            headers,
            issued=self.issued,
            sent=self._sent,
            alternation=self.alternation,
            models=self.models,
            api_key=self._api_key,
        )

    def judge_request(self, request: SeenRequest) -> Refusal | None:
        """Return why the server refuses a request: for its path, its headers or its body."""
        method = "POST" if request.path.startswith("/v1/messages") else "GET"
        known = request.path in {"/v1/messages", "/v1/messages/count_tokens", "/v1/models"}
        if not known and not request.path.startswith("/v1/models/"):
            return of_status(404, "Not Found")
        if request.method != method:
            return of_status(405, "Method Not Allowed")
        if method == "GET":
            rules_parameters.check_key(request.headers, self._api_key)
            rules_parameters.check_version(request.headers)
            return None
        body = read_mapping(request.body)
        if request.path == "/v1/messages/count_tokens":
            budget = read_mapping(body.get("thinking")).get("budget_tokens", 0)
            body = {**body, "max_tokens": budget + 1}
        return self.judge(body, request.headers)

    def respond(self, request: SeenRequest) -> Json | Stream | Recorded:
        """Answer a request that was taken, from the script or from what the server knows."""
        if request.method == "GET":
            return self._answer_models(request)
        if request.path == "/v1/messages/count_tokens":
            return {"input_tokens": max(1, len(request.raw) // 4)}
        answer = self.take_answer()
        if isinstance(answer, Recorded):
            self._learn(answer)
            return answer
        body = read_mapping(request.body)
        if self.prompt_cache is not None:
            answer = answer.with_usage(self.prompt_cache.count(body, answer.usage))
        message = compose(answer, body["model"], self._new_id, self.sign, self.redact)
        self._sent.remember(body["model"], message["content"])
        if not body.get("stream"):
            return message
        events = stream_events(message, answer)
        return Stream(
            # The real one pads its JSON too.
            [
                encode_event(event, event["type"], number % _PADDING)
                for number, event in enumerate(events)
            ]
        )

    def _learn(self, recorded: Recorded) -> None:
        """Take the signatures of a recorded body for ones of this server."""
        for block in recorded_blocks(recorded.body):
            match block.get("type"):
                case "thinking" if block.get("signature"):
                    self.issued.remember(read_text(block.get("thinking")), block["signature"])
                case "redacted_thinking":
                    self.issued.remember(REDACTED, block["data"])
                case _:
                    pass

    def _answer_models(self, request: SeenRequest) -> Json:
        name = request.path.removeprefix("/v1/models").strip("/")
        if name:
            model = find_model(name, self.models)
            if model is None:
                raise RefusedError(of_status(404, f"model: {name}"))
            return _list_entry(model)
        given = request.query.get("limit", str(_PAGE))
        if not given.isdecimal() or not 1 <= int(given) <= _MAX_PAGE:
            raise make_invalid(f"limit: Input should be between 1 and {_MAX_PAGE}")
        names = [model.name for model in self.models]
        start, end = 0, len(names)
        if request.query.get("after_id") in names:
            start = names.index(request.query["after_id"]) + 1
        if request.query.get("before_id") in names:
            end = names.index(request.query["before_id"])
            start = max(start, end - int(given))
        page = self.models[start : min(end, start + int(given))]
        return {
            "data": [_list_entry(model) for model in page],
            "has_more": start + len(page) < len(names),
            "first_id": page[0].name if page else None,
            "last_id": page[-1].name if page else None,
        }

    def write_error(self, refusal: Refusal, *, in_stream: bool) -> Json | list[bytes]:
        """Return an error with its type and message; one in a stream has no id of the request."""
        body: Json = {
            "type": "error",
            "error": {"type": refusal.kind, "message": refusal.message},
        }
        if in_stream:
            return [encode_event(body, "error")]
        return {**body, "request_id": self._new_id("req_")}


def _list_entry(model: AnthropicModel) -> Json:
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.name.replace("-", " ").title(),
        "created_at": _CREATED,
        "max_input_tokens": model.max_input_tokens,
        "max_tokens": model.max_tokens,
    }
