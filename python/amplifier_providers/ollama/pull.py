"""Downloads of models that a server does not have, with events of their progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic_core import from_json

from amplifier_core.llm_errors import LLMError, StreamError

from ..wire.body import json_bytes
from ..wire.client import ServiceClient
from ..wire.errors import root_cause, timeout_error, unreachable_error
from ..wire.events import PROVIDER_PULL_PROGRESS, Emit

_PULL = "/api/pull"
_MAX_LINE_BYTES = 1_000_000


async def pull(
    client: ServiceClient,
    model: str,
    seconds: float,
    emit: Emit,
) -> None:
    """Let a server download a model, and wait until it has it.

    Args:
        client: How the server is reached.
        model: The model.
        seconds: Seconds to wait for the next sign of progress.
        emit: Emits an event for each new status, and each whole percent of a part.

    Raises:
        LLMError: The server cannot be reached, knows no such model, or does not finish.
    """
    import httpx2

    url = client.shown_url + _PULL
    content = json_bytes({"model": model, "stream": True})
    headers = {"content-type": "application/json"}
    response = await client.send(
        "POST", _PULL, seconds, model=model, headers=headers, content=content
    )
    progress = _Progress(client, model)
    failure: LLMError | None = None
    allowance = _MAX_LINE_BYTES
    try:
        async for chunk in response.aiter_bytes():
            if failure is not None:  # the end is near: it is read, and the connection kept
                allowance -= len(chunk)
                if allowance < 0:
                    break
                continue
            try:
                for data in progress.feed(chunk):
                    await emit(PROVIDER_PULL_PROGRESS, data)
            except LLMError as error:
                failure = error
    except httpx2.TimeoutException as error:
        raise timeout_error(client.service, url, seconds, "progress", model=model) from error
    except httpx2.HTTPError as error:
        cause = client.clean(root_cause(error))
        raise unreachable_error(
            client.service, url, cause, model=model, was_reached=True
        ) from error
    finally:
        await response.aclose()
    if failure is not None:
        raise failure
    for data in progress.feed(b"\n"):
        await emit(PROVIDER_PULL_PROGRESS, data)
    if progress.status != "success":
        raise StreamError(
            f"the download of `{model}` was cut off: it ended with `{progress.status}`",
            provider=client.service.name,
            model=model,
            hint="retry; what was downloaded is kept",
        )


class _Progress:
    """What a server says of a download, a JSON object a line."""

    def __init__(self, client: ServiceClient, model: str) -> None:
        self._client = client
        self._model = model
        self._rest = b""
        self._reported: tuple[Any, ...] | None = None
        self.status = ""

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Yield the payloads of what is new."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _MAX_LINE_BYTES:
            raise self._make_unfitting()
        for line in filter(bytes.strip, lines):
            message = self._parse_line(line)
            if "error" in message:
                raise self._pull_error(str(message["error"]))
            self.status = str(message.get("status") or "")
            completed, total = _read_bytes(message, "completed"), _read_bytes(message, "total")
            percent = completed * 100 // total if completed is not None and total else None
            if self._reported != (new := (self.status, message.get("digest"), percent)):
                self._reported = new
                about = {"provider": self._client.service.name, "model": self._model}
                yield {**about, "status": self.status, "completed": completed, "total": total}

    def _parse_line(self, line: bytes) -> dict[str, Any]:
        try:
            value: Any = from_json(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise self._make_unfitting()
        return cast("dict[str, Any]", value)

    def _make_unfitting(self) -> LLMError:
        expected = "the progress of a download"
        return self._client.make_unfitting(_PULL, "other content", expected, self._model)

    def _pull_error(self, text: str) -> LLMError:
        is_unknown = "file does not exist" in text or "not found" in text
        kind = "not_found_error" if is_unknown else "api_error"
        details = {"type": kind, "message": text, "retryable": False}
        error = self._client.api_error(details, None, self._model, {})
        if is_unknown:
            error.hint = "check the name of the model at `https://ollama.com/library`"
        return error


def _read_bytes(line: dict[str, Any], key: str) -> int | None:
    value = line.get(key)
    return value if isinstance(value, int) and value is not True and value >= 0 else None
