"""A strict server of the Chat Completions API and of vendors that speak it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..openai import keys
from ..openai.models import MODELS, OpenAIModel
from ..openai.refusals import INVALID, error_body, errors_of
from ..serving.answer import Answer, Call, Recorded, Script, Thinking
from ..serving.exchange import SeenRequest, Stream, encode_event, read_events
from ..serving.fault import Fault
from ..serving.reading import Json, read_mapping, read_objects, read_text
from ..serving.refusal import Refusal, RefusedError
from ..serving.server import ModelServer
from .judge import judge
from .presets import PRESETS, Preset
from .stream import Frame, compose, stream_chunks

_DONE = b"data: [DONE]\n\n"


class ChatServer(ModelServer):
    """A server that judges each request as strictly as a vendor does, and answers from a script.

        with ChatServer(["Hello"], preset="mistral") as server:
            client = Client(base_url=server.url)

    Attributes:
        preset: The vendor.
        models: The models that exist; others are refused.
        deployments: The models behind the deployments of Azure.
    """

    base_path = "/v1"
    id_header = "x-request-id"
    errors = errors_of("messages")

    def __init__(
        self,
        answers: Iterable[Script] = (),
        *,
        preset: str | Preset = "openai",
        faults: Iterable[Fault | None] = (),
        api_key: str | None = None,
        pause: float = 0,
        secret: bytes | None = None,
        models: Iterable[OpenAIModel] = MODELS,
        deployments: Mapping[str, str] | None = None,
    ) -> None:
        """Set it up; the port opens on entering.

        Args:
            answers: The script; when it is over, a short text is the answer.
            preset: The vendor: one of `PRESETS`, or one of your own.
            faults: What goes wrong.
            api_key: The key that requests must carry; without one, any key.
            pause: Seconds between the chunks of a stream.
            secret: What it signs with; without it, a random key.
            models: The models that exist, for a vendor with a list of them.
            deployments: The models behind the deployments of Azure, by their names.
        """
        super().__init__(answers, faults=faults, api_key=api_key, pause=pause, secret=secret)
        self.preset = PRESETS[preset] if isinstance(preset, str) else preset
        self.models = list(models)
        self.deployments = dict(deployments or {})
        self._reasoned: dict[str, str] = {}

    @property
    def azure_url(self) -> str:
        """The base address of a resource of Azure, without `/openai`."""
        return self.root

    def judge(self, body: Json, headers: Mapping[str, str] | None = None) -> Refusal | None:
        """Return why the server would refuse a request, or `None` if it would take it."""
        return self._judge(body, headers, is_azure=False)

    def _judge(
        self, body: Json, headers: Mapping[str, str] | None, *, is_azure: bool
    ) -> Refusal | None:
        return judge(
            body,
            headers,
            preset=self.preset,
            issued=self.issued,
            reasoned=self._reasoned,
            models=self.models,
            api_key=self._api_key,
            is_azure=is_azure,
        )

    def judge_request(self, request: SeenRequest) -> Refusal | None:
        """Return why the server refuses a request: for its path, its headers or its body."""
        is_azure = request.path.startswith("/openai/")
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["v1", "chat", "completions"]:
                body = read_mapping(request.body)
            case "POST", ["openai", "v1", "chat", "completions"]:
                body = self._name_deployed_model(read_mapping(request.body))
            case "POST", ["openai", "deployments", name, "chat", "completions"]:
                if not request.query.get("api-version"):
                    return Refusal(404, "", "Resource not found", None, "404")
                body = self._name_deployed_model({**read_mapping(request.body), "model": name})
            case "GET", ["v1", "models"] | ["v1", "models", _]:
                keys.check_key(request.headers, self._api_key, is_azure=False)
                return None
            case _:
                return Refusal(404, INVALID, f"Invalid URL ({request.method} {request.path})")
        return self._judge(body, request.headers, is_azure=is_azure)

    def _name_deployed_model(self, body: Json) -> Json:
        name = body.get("model")
        if name not in self.deployments:
            message = (
                "The API deployment for this resource does not exist. If you created the"
                " deployment within the last 5 minutes, please wait a moment and try again."
            )
            raise RefusedError(Refusal(404, "", message, None, "DeploymentNotFound"))
        return {**body, "model": self.deployments[name]}

    def respond(self, request: SeenRequest) -> Json | Stream | Recorded:
        """Answer a request that was taken, from the script or from what the server knows."""
        if request.method == "GET":
            return self._answer_models(request.path.removeprefix("/v1/models").strip("/"))
        answer = self.take_answer()
        if isinstance(answer, Recorded):
            self._learn(answer)
            return answer
        body = read_mapping(request.body)
        is_azure = request.path.startswith("/openai/")
        frame = Frame(self._new_id("chatcmpl-"), body.get("model", "azure"), is_azure)
        answer = self._with_ids(answer)
        if not body.get("stream"):
            return compose(answer, frame, self.preset, self.sign)
        asked = bool(read_mapping(body.get("stream_options")).get("include_usage"))
        include_usage = asked or self.preset.name == "mistral"  # which always says it
        chunks = stream_chunks(answer, frame, self.preset, self.sign, include_usage=include_usage)
        return Stream([*(encode_event(chunk) for chunk in chunks), _DONE])

    def _with_ids(self, answer: Answer) -> Answer:
        """Give each call an id, and keep the reasoning before it."""
        thoughts = "".join(part.text for part in answer.parts if isinstance(part, Thinking))
        parts = [
            replace(part, id=part.id or self._new_call_id()) if isinstance(part, Call) else part
            for part in answer.parts
        ]
        changed = Answer(*parts, stop=answer.stop, usage=answer.usage, fragment=answer.fragment)
        self._reasoned.update({call.id: thoughts for call in changed.calls if call.id})
        return changed

    def _learn(self, recorded: Recorded) -> None:
        """Keep the reasoning of a recorded stream."""
        thoughts, calls = "", list[str]()
        for event in read_events(recorded.body):
            for choice in read_objects(event.get("choices")):
                delta = read_mapping(choice.get("delta"))
                thoughts += read_text(delta.get("reasoning_content"))
                calls += [
                    read_text(call.get("id")) for call in read_objects(delta.get("tool_calls"))
                ]
        self._reasoned.update({name: thoughts for name in calls if name})

    def _new_call_id(self) -> str:
        new = self._new_id("call_")
        return new[-9:] if self.preset.call_id is not None else new

    def _answer_models(self, name: str) -> Json:
        if not name:
            data = [_list_entry(model.name) for model in self.models]
            return {"object": "list", "data": data}
        if name not in {model.name for model in self.models}:
            raise RefusedError(
                Refusal(
                    404, INVALID, f"The model '{name}' does not exist", "model", "model_not_found"
                )
            )
        return _list_entry(name)

    def write_error(self, refusal: Refusal, *, in_stream: bool) -> Json:
        """Return an error in `error`, or as the whole body where the vendor does so."""
        body = error_body(refusal)
        is_flat = self.preset.flat_errors and not in_stream
        return {"object": "error", **body["error"]} if is_flat else body


def _list_entry(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "openai"}
