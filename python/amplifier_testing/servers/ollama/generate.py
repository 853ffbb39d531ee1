"""`/api/generate`: an answer to a prompt, without a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..serving.answer import Answer
from ..serving.reading import Json, json_problem
from ..serving.refusal import Refusal, RefusedError
from . import rules_messages, rules_parameters
from .judge import check_key, model_of
from .judged_request import GENERATE_BODY, JudgedRequest
from .models import OllamaModel
from .refusals import check_fields, make_refusal
from .stream import stream_lines

CONTEXT = (151_644, 872, 198)
"""The tokens of a conversation so far, for the next request."""


def judge(
    body: Json,
    headers: Mapping[str, str],
    models: Iterable[OllamaModel],
    api_key: str | None,
) -> Refusal | None:
    """Return why Ollama refuses a request of `/api/generate`, or `None` if it takes it."""
    try:
        check_key(headers, api_key)
        problem = json_problem(body)
        if problem is not None:
            raise make_refusal(f"invalid character in the body: {problem}")
        check_fields(body, GENERATE_BODY, request="GenerateRequest")
        message: Json = {"role": "user", "images": body.get("images")}
        asked = JudgedRequest(body, model_of(body["model"], models), [message])
        for rule in RULES:
            rule(asked)
    except RefusedError as error:
        return error.refusal
    return None


def check_model(asked: JudgedRequest) -> None:
    """The model writes text, and fills a gap only if it can."""
    if "completion" not in asked.model.capabilities:
        raise make_refusal(f'"{asked.model.name}" does not support generate')
    if asked.body.get("suffix") and "insert" not in asked.model.capabilities:
        raise make_refusal(f"registry.ollama.ai/library/{asked.model.name} does not support insert")


def check_raw(asked: JudgedRequest) -> None:
    """A prompt that is sent as it is has no template around it."""
    around = ("template", "system", "context")
    if asked.body.get("raw") and any(asked.body.get(name) for name in around):
        raise make_refusal("raw mode does not support template, system, or context")


RULES: tuple[Callable[[JudgedRequest], None], ...] = (
    check_model,
    check_raw,
    rules_parameters.check_think,
    rules_parameters.check_options,
    rules_parameters.check_keep_alive,
    rules_parameters.check_format,
    rules_messages.check_images,
)
"""The rules, in the order in which they are judged."""


def loads_only(body: Json) -> bool:
    """Whether a request has no prompt: then the model is only loaded."""
    return not body.get("prompt") and not body.get("images")


def load_answer(body: Json) -> Json:
    """Return the answer where a model was only loaded."""
    unloads = body.get("keep_alive") in (0, "0")
    [line] = generated_lines(
        Answer(stop="unload" if unloads else "load"), body["model"], thinks=False
    )
    return {key: line[key] for key in ("model", "created_at", "response", "done", "done_reason")}


def generated_lines(answer: Answer, model: str, *, thinks: bool) -> Iterator[Json]:
    """Yield the lines of an answer.

    Raises:
        RefusedError: The script has a call, which such an answer cannot have.
    """
    if answer.calls:
        raise make_refusal(
            "the script has a call, which an answer of /api/generate cannot have", 500
        )
    for line in stream_lines(answer, model, thinks=thinks):
        message = line.pop("message")
        text = {key: value for key, value in message.items() if key not in ("role", "content")}
        end = {"context": list(CONTEXT)} if line["done"] else {}
        yield {**line, "response": message["content"], **text, **end}


def compose(answer: Answer, model: str, *, thinks: bool) -> Json:
    """Return an answer as one object."""
    lines = list(generated_lines(answer, model, thinks=thinks))
    joined: Json = {"response": "".join(line["response"] for line in lines)}
    if thoughts := "".join(line.get("thinking", "") for line in lines):
        joined["thinking"] = thoughts
    return {**lines[-1], **joined}
