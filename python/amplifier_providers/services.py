"""The services that the providers of this package ask, and what must be known of each before it is loaded.

Whoever names one reads this table: the modules, the command, the one-call client, errors and prices. It
imports nothing that takes time, as the command reads it before its first word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

Dialect = Literal["anthropic", "responses", "chat", "ollama"]
"""The wire formats that `amplifier_stream` decodes."""


@dataclass(frozen=True)
class KnownService:
    """A service, or a kind of server, with a provider."""

    name: str
    """As what its provider is mounted; `provider-` and the name is the module."""
    title: str
    """Its name for people."""
    dialect: Dialect
    """The format of its answers."""
    key_variable: str = ""
    """The variable of the environment with its API key; empty if it takes none."""
    other_key_variables: tuple[str, ...] = ()
    """Further variables in which its provider looks for the key."""
    without_key: str = ""
    """What else lets it answer, in a word or two; empty where it must have its key."""
    address_variable: str = ""
    """The variable with its address; empty if there is none."""
    base_url: str = ""
    """Its usual address; empty where each user has one of their own."""
    default_model: str = ""
    """The model where none is named; empty if one must be."""
    families: tuple[str, ...] = ()
    """How the names of its own models begin, by which prices are found."""
    prices: str = ""
    """The name of its price list in `genai-prices`; empty if it has none."""
    is_own_server: bool = False
    """Whether its users run it themselves."""
    place: str = ""
    """Import path of its module, where that is not a folder of its name."""

    @property
    def module_id(self) -> str:
        """The module of its provider."""
        return f"provider-{self.name}"

    @property
    def module(self) -> str:
        """Import path of the module of its provider."""
        return f"amplifier_providers.{self.place or self.name.replace('-', '_')}"

    @property
    def needs_key(self) -> bool:
        """Whether it cannot answer without a key."""
        return bool(self.key_variable) and not self.without_key


def _make_chat_service(
    name: str,
    title: str,
    base_url: str,
    key_variable: str = "",
    *families: str,
    prices: str = "",
) -> KnownService:
    """Make a service for Chat Completions that is a preset of `provider-openai-chat`."""
    return KnownService(
        name,
        title,
        "chat",
        key_variable,
        base_url=base_url,
        families=families,
        prices=prices,
        is_own_server=not key_variable,
        place=f"openai_chat.services.{name.removeprefix('huggingface-').replace('-', '_')}",
    )


CHAT_SERVICES: Mapping[str, KnownService] = MappingProxyType(
    {
        each.name: each
        for each in (
            _make_chat_service(
                "openrouter",
                "OpenRouter",
                "https://openrouter.ai/api/v1",
                "OPENROUTER_API_KEY",
                prices="openrouter",
            ),
            _make_chat_service(
                "groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", prices="groq"
            ),
            _make_chat_service(
                "mistral",
                "Mistral",
                "https://api.mistral.ai/v1",
                "MISTRAL_API_KEY",
                *("mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"),
                prices="mistral",
            ),
            _make_chat_service(
                "deepseek",
                "DeepSeek",
                "https://api.deepseek.com",
                "DEEPSEEK_API_KEY",
                "deepseek",
                prices="deepseek",
            ),
            _make_chat_service(
                "together",
                "Together AI",
                "https://api.together.xyz/v1",
                "TOGETHER_API_KEY",
                prices="together",
            ),
            _make_chat_service(
                "fireworks",
                "Fireworks AI",
                "https://api.fireworks.ai/inference/v1",
                "FIREWORKS_API_KEY",
                prices="fireworks",
            ),
            _make_chat_service(
                "xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", "grok", prices="x-ai"
            ),
            _make_chat_service(
                "huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN"
            ),
            _make_chat_service("vllm", "vLLM", "http://localhost:8000/v1"),
            _make_chat_service("lm-studio", "LM Studio", "http://localhost:1234/v1"),
            _make_chat_service("llama-cpp", "llama.cpp", "http://localhost:8080/v1"),
            _make_chat_service(
                "huggingface-tgi", "Text Generation Inference", "http://localhost:8080/v1"
            ),
        )
    }
)
"""The services of which `provider-openai-chat` knows the ways, by their names."""

ANTHROPIC = KnownService(
    "anthropic",
    "Anthropic",
    "anthropic",
    "ANTHROPIC_API_KEY",
    address_variable="ANTHROPIC_BASE_URL",
    base_url="https://api.anthropic.com",
    default_model="claude-sonnet-5-5",
    prices="anthropic",
)
OPENAI = KnownService(
    "openai",
    "OpenAI",
    "responses",
    "OPENAI_API_KEY",
    address_variable="OPENAI_BASE_URL",
    base_url="https://api.openai.com/v1",
    default_model="gpt-5.5",
    prices="openai",
)
OPENAI_CHAT = KnownService(
    "openai-chat",
    "Chat Completions",
    "chat",
    "OPENAI_API_KEY",
    without_key="optional",
    address_variable="OPENAI_BASE_URL",
)
"""Any server that speaks Chat Completions and is none of `CHAT_SERVICES`."""
AZURE_OPENAI = KnownService(
    "azure-openai",
    "Azure OpenAI",
    "responses",
    "AZURE_OPENAI_API_KEY",
    other_key_variables=("AZURE_OPENAI_KEY",),
    without_key="or Entra ID",
    address_variable="AZURE_OPENAI_ENDPOINT",
    prices="azure",
)
OLLAMA = KnownService(
    "ollama",
    "Ollama",
    "ollama",
    "OLLAMA_API_KEY",
    without_key="Cloud only",
    address_variable="OLLAMA_HOST",
    base_url="http://127.0.0.1:11434",
    is_own_server=True,
)

SERVICES: Mapping[str, KnownService] = MappingProxyType(
    {
        each.name: each
        for each in (
            ANTHROPIC,
            OPENAI,
            OPENAI_CHAT,
            AZURE_OPENAI,
            OLLAMA,
            *CHAT_SERVICES.values(),
        )
    }
)
"""All of them, by their names; of those with a usual model, the first whose key is set answers."""

OWN_SERVERS = frozenset(each.name for each in SERVICES.values() if each.is_own_server)
"""The names of servers that their users run themselves."""


def is_here(service: str, url: str) -> bool:
    """Whether a service is a server of the user's own, on this machine."""
    host = urlsplit(url).hostname or ""
    return service in OWN_SERVERS and (host in {"localhost", "::1"} or host.startswith("127."))
