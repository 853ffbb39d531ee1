"""Settings that all providers over HTTP have, and the types of their keys and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticKnownError

from ..answers.answer_settings import SESSION, USUAL_CALLS, CallsPerAnswer, ThinkingTags, ToolTags
from ..connections.own_client import OwnClient
from ..prices.settings import ModelPrices
from ..requests.requested_thinking import ExtendedThinking, ThinkingMode
from ..retries import RetrySettings
from ..settings import OptionalText
from ..value_problems import Form

MAX_ANSWER_BYTES = 1024**3
"""Bytes of a streamed answer that a setting can allow."""
USUAL_ANSWER_BYTES = 256 * 1024**2
"""Bytes of a streamed answer where no setting says otherwise."""

_KEY = Form("text of visible ASCII characters")
_HEADERS = Form("text, or a list of texts, of visible ASCII characters without commas")


def _api_key(text: str) -> str:
    key = text.strip()
    if not key:
        raise PydanticKnownError("missing")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError
    return key


def base_url(text: str) -> str:
    """Return an address without the slash at its end.

    Raises:
        ValueError: It is no address of HTTP, or has a query or a fragment: paths come after it.
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good or not url.isprintable() or any(sign in url for sign in " ?#"):
        raise ValueError
    return url.rstrip("/")


def base_url_or(default: str, *, without: str = "") -> Callable[[str], str]:
    """Make a reader of addresses: blank text is `default`, and `without` is cut off the end."""

    def read(text: str) -> str:
        return base_url(text.strip() or default).removesuffix(without)

    return read


def _is_host(name: str | None) -> bool:
    if not name or name.isascii():
        return bool(name)
    import httpx2

    try:
        httpx2.URL(scheme="https", host=name)
    except httpx2.InvalidURL:
        return False
    return True


def _split(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        return value
    given = cast("list[Any]", names)
    stripped = (name.strip() if isinstance(name, str) else name for name in given)
    return tuple(name for name in stripped if name != "")


def _header_names(names: tuple[str, ...]) -> tuple[str, ...]:
    # One header lists them all: a line break, a blank or a comma would end or split a name.
    if not all(re.fullmatch(r"[\x21-\x2b\x2d-\x7e]+", name) for name in names):
        raise ValueError
    return names


def _as_list(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


ServiceTools = Annotated[list[dict[str, Any]], BeforeValidator(_as_list)]
"""Tools that the service itself runs, as it takes them."""
ApiKey = Annotated[str, AfterValidator(_api_key), _KEY]
"""A key: visible ASCII characters; a blank one counts as missing."""
Address = Form("an address like `https://host:port/path`")
"""How errors describe the form of a base URL."""
HeaderNames = Annotated[
    tuple[str, ...], BeforeValidator(_split), AfterValidator(_header_names), _HEADERS
]
"""The values of one header that lists names; text is split at commas."""


class HttpSettings(RetrySettings):
    """How a service is called, whatever its wire."""

    unlimited_keys = frozenset({"max_concurrent_requests"})
    is_shared = True
    random_values: ClassVar[Mapping[str, str]] = {"tool_tags": SESSION}

    temperature: float | None = Field(default=None, ge=0)
    """Randomness of answers; sent only if the model accepts it."""
    timeout: float = Field(default=600.0, ge=0.001)
    """Seconds to wait for the next byte from the server; a model may think for minutes before it."""
    content_timeout: float | None = Field(default=None, ge=0.001)
    """Seconds without content after which an answer is ended; pings are no content; 1,800 if not
    set."""
    max_answer_bytes: int | None = Field(default=None, ge=1, le=MAX_ANSWER_BYTES)
    """Bytes of an answer, as it is streamed and unpacked, at most; 256 MiB if not set."""
    extended_thinking: ExtendedThinking = None
    """Whether and how much the model thinks where a call and its request do not say it."""
    thinking_mode_enabled: ThinkingMode = True
    """Whether models think where neither a call nor another setting says it; false asks for no
    thinking, and does not show what comes of it all the same."""
    max_calls_per_answer: CallsPerAnswer = USUAL_CALLS
    """Tool calls of an answer that may run, at most; the model reads that further ones were not
    run. A loop has a limit of its own."""
    reasoning_effort: OptionalText = None
    """Effort of requests that set none: `low`, `medium`, `high` or another that the model knows."""
    reasoning: OptionalText = None
    """Another name of `reasoning_effort`, which it overrides."""
    use_streaming: bool = True
    """Whether answers are streamed on the wire; without it they arrive whole."""
    raw: bool = False
    """Whether `llm:request` and `llm:response` hold what is sent and what came back."""
    filtered: bool = False
    """Whether `list_models` leaves out models whose abilities are not known here, if it knows any."""
    priority: int = 100
    """Loops use the provider with the lowest priority."""
    max_concurrent_requests: int | None = Field(default=5, ge=1)
    """Calls at once; further ones wait. None for no limit."""
    throttle_threshold: float = Field(default=0.02, ge=0, le=1)
    """Part of a rate limit of the service below which calls wait; 0 never waits."""
    throttle_delay: float = Field(default=1.0, ge=0)
    """Seconds that a call waits at most when so little is left."""
    rate_limit_state_path: OptionalText = None
    """File in which processes share what is left of the rate limits, under a lock, readable for the
    user alone; None for no file."""
    fallback_on_overload: bool = False
    """Whether another model is asked while one is overloaded, as status 529 says."""
    fallback_model: OptionalText = None
    """That model."""
    fallback_cooldown: float = Field(default=300.0, ge=0)
    """Seconds for which the overloaded model is not asked again."""
    fallback_state_path: OptionalText = None
    """File in which processes share which models are overloaded; None for no file."""
    thinking_tags: ThinkingTags = ()
    """Tags in which a model without native thinking thinks; true means `thinking`."""
    tool_tags: ToolTags = ()
    """Tags in which a model without native tools calls them; true means `tool`."""
    http_client: OwnClient = None
    """An `httpx2.AsyncClient` of the program's own, which sends the requests and is never closed
    here; it belongs to the first event loop that uses it. None for the connections that all sessions
    of an event loop share."""
    prices: dict[str, ModelPrices] = Field(default_factory=dict[str, ModelPrices])
    """What models cost, by their names or beginnings of them, `*` for all others; known prices if
    not set."""
