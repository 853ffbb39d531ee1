"""Chat Completions as Ollama speaks them, beside its own API."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..chat.judge import judge as judge_completion
from ..chat.presets import Preset
from ..chat.stream import Frame, compose, stream_chunks
from ..openai.refusals import INVALID
from ..serving.answer import Answer
from ..serving.exchange import encode_event
from ..serving.reading import Json, read_mapping
from ..serving.refusal import Refusal
from .models import OllamaModel, find_model

_VENDOR = Preset(
    "ollama",
    ignores_unknown=True,
    message_fields={"reasoning": "string|null"},
    reasoning_field="reasoning",
)
_EFFORTS = (None, "none", "low", "medium", "high")
_DONE = b"data: [DONE]\n\n"


def judge(body: Json, models: Iterable[OllamaModel]) -> Refusal | None:
    """Return why a request for a completion is refused, or `None` if it is taken."""
    refusal = judge_completion(body, preset=_VENDOR)
    if refusal is not None:
        return refusal
    model = find_model(body["model"], models)
    if model is None:
        return Refusal(404, "not_found_error", f"model '{body['model']}' not found")
    effort = body.get("reasoning_effort")
    if effort not in _EFFORTS:
        return Refusal(400, INVALID, f'invalid reasoning value: "{effort}"')
    for name, is_wished in (
        ("tools", bool(body.get("tools"))),
        ("thinking", effort not in (None, "none")),
    ):
        if is_wished and name not in model.capabilities:
            return Refusal(400, INVALID, f'"{model.name}" does not support {name}')
    return None


def write_whole(answer: Answer, body: Json, name: str, sign: Callable[[str], str]) -> Json:
    """Return an answer as one completion."""
    return compose(answer, Frame(name, body["model"], is_azure=False), _VENDOR, sign)


def write_chunks(answer: Answer, body: Json, name: str, sign: Callable[[str], str]) -> list[bytes]:
    """Return an answer as the events of a stream."""
    include = bool(read_mapping(body.get("stream_options")).get("include_usage"))
    frame = Frame(name, body["model"], is_azure=False)
    sent = stream_chunks(answer, frame, _VENDOR, sign, include_usage=include)
    return [*(encode_event(chunk) for chunk in sent), _DONE]
