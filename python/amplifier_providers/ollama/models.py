"""What a server says about its models: `/api/tags` and `/api/show`."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest

from ..wire.body import json_bytes
from ..wire.client import ServiceClient
from ..wire.errors import note_hint
from ..wire.events import Emit
from ..wire.fields import JsonDict, fields_of
from .config import OllamaConfig, is_missing
from .pull import pull

USUAL_WINDOW = 32_768
"""Tokens that a model reads of which nothing is known: a cautious number."""

LEARN_SECONDS = 10.0
"""How long a server may take to say what a model can do."""

LookUp: TypeAlias = Callable[[OllamaConfig, ChatRequest, Mapping[str, Any]], Awaitable[None]]
"""Asks the server about the model of a request, with the options of its call."""

_SAYS_NOTHING = (
    llm_errors.NotFoundError,
    llm_errors.InvalidRequestError,
    llm_errors.ConfigurationError,
)
"""How servers answer that do not know what is asked of them: older ones, and others in their place."""
_TAGS, _SHOW, _VERSION = "/api/tags", "/api/show", "/api/version"


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model."""

    capabilities: frozenset[str] | None = None
    """What it can do; None where the server does not say it."""
    context_length: int | None = None
    """Tokens that it was trained to read."""
    num_ctx: int | None = None
    """Tokens that it reads where a request says nothing, if its Modelfile says so."""
    family: str = ""

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> ModelFacts:
        """Read what `/api/show` says."""
        listed = shown.get("capabilities")
        known = fields_of(shown.get("model_info"))
        lengths = [value for key, value in known.items() if key.endswith(".context_length")]
        own = known.get(f"{known.get('general.architecture')}.context_length")
        family = fields_of(shown.get("details")).get("family")
        return cls(
            frozenset(map(str, listed)) if isinstance(listed, list) else None,  # pyright: ignore[reportUnknownArgumentType] -- of any kind
            next(filter(None, map(_count, [own, *lengths])), None),
            _read_parameter(shown.get("parameters"), "num_ctx"),
            family if isinstance(family, str) else "",
        )

    def can_do(self, what: str) -> bool | None:
        """Whether it can do this; None if that is not known."""
        return None if self.capabilities is None else what in self.capabilities

    def find_window(self, num_ctx: int | None) -> int:
        """Return how many tokens it reads where requests ask for `num_ctx`."""
        asked = num_ctx or self.num_ctx
        if asked and self.context_length:
            return min(asked, self.context_length)
        return asked or self.context_length or USUAL_WINDOW

    @property
    def has_levels(self) -> bool:
        """Whether its thinking has levels and no switch."""
        return self.family.replace("-", "") == "gptoss"


UNKNOWN = ModelFacts()


class ModelLookup:
    """Asks a server about its models; its answers are kept."""

    def __init__(self, client: ServiceClient, emit: Emit) -> None:
        """Ask nothing yet.

        Args:
            client: How the server is reached.
            emit: Emits the events of downloads.
        """
        self._client = client
        self._emit = emit
        self._known: dict[str, ModelFacts] = {}

    def find_facts(self, model: str) -> ModelFacts:
        """Return what is known of a model so far."""
        return self._known.get(model, UNKNOWN)

    def is_known(self, model: str) -> bool:
        """Whether the server was asked about a model."""
        return model in self._known

    def remember(self, model: str, facts: ModelFacts) -> None:
        """Keep what is known of a model."""
        self._known[model] = facts

    async def learn(self, model: str, seconds: float) -> None:
        """Ask what a model can do.

        Raises:
            LLMError: The server cannot be reached, does not have the model, or does not say it.
        """
        content = json_bytes({"model": model})
        expected = "what a model can do"
        shown = await self._client.ask(
            "POST", _SHOW, seconds, expected, model=model, content=content
        )
        self._known[model] = ModelFacts.of(shown)

    async def look_up(
        self, config: OllamaConfig, request: ChatRequest, options: Mapping[str, Any]
    ) -> None:
        """Ask what the model of a request can do, unless that is known; download a missing one."""
        model = options.get("model") or request.model or config.default_model
        if not isinstance(model, str) or not model or self.is_known(model):
            return
        waits = (request.timeout or config.timeout, config.content_timeout or LEARN_SECONDS)
        seconds = min(*waits, LEARN_SECONDS)
        try:
            await self.learn(model, seconds)
        except LLMError as error:
            if is_missing(error) and config.auto_pull:
                await self._pull(model, config.timeout, seconds)
            elif 300 <= (error.status_code or 0) < 400 and config.api == "native":
                # Chat Completions may be those of a server that redirects all other paths.
                note_hint(error)
                raise
            elif isinstance(error, _SAYS_NOTHING) and not is_missing(error):
                self.remember(model, UNKNOWN)
            # Any other error comes again with the request itself, which is retried.

    async def _pull(self, model: str, pull_seconds: float, learn_seconds: float) -> None:
        try:
            await pull(self._client, model, pull_seconds, self._emit)
        except LLMError as error:
            note_hint(error)
            raise
        with contextlib.suppress(LLMError):  # it would come again with the request
            await self.learn(model, learn_seconds)

    async def check_server(self, seconds: float) -> None:
        """Ask whether the server is there.

        Raises:
            LLMError: It cannot be reached.
        """
        await self._client.ask("GET", _VERSION, seconds, "a version")

    async def list_entries(self, seconds: float) -> list[JsonDict]:
        """Return the models of the server, each with its name as `id`.

        Raises:
            LLMError: It cannot be reached, or answers with anything else.
        """
        expected = "a list of models"
        answer = await self._client.ask("GET", _TAGS, seconds, expected)
        listed = answer.get("models")
        if not isinstance(listed, list):
            raise self._client.make_unfitting(_TAGS, "other content", expected, None)
        entries = [fields_of(entry) for entry in listed]  # pyright: ignore[reportUnknownVariableType] -- of any kind
        named = [{**entry, "id": entry.get("model") or entry.get("name")} for entry in entries]
        return [entry for entry in named if isinstance(entry["id"], str)]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value is not True and value > 0 else None


def _read_parameter(text: Any, name: str) -> int | None:
    """Return a number of the parameters of a Modelfile, which come one a line."""
    lines = text.splitlines() if isinstance(text, str) else []
    for words in map(str.split, lines):
        if len(words) == 2 and words[0] == name and words[1].isascii() and words[1].isdecimal():
            return _count(int(words[1]))
    return None
