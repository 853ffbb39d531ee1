"""`provider-openai`: the models of OpenAI over the Responses API, streamed."""

from typing import TYPE_CHECKING

from amplifier_core._late_names import LateNames

if TYPE_CHECKING:
    from .config import OpenAIConfig, read_config
    from .provider import OpenAIProvider, mount

__all__ = ["OpenAIConfig", "OpenAIProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_names = LateNames(
    __name__,
    {
        "config": "OpenAIConfig __amplifier_settings__ read_config",
        "provider": "OpenAIProvider mount",
    },
)
"""Those who only ask for the names of models import none of them."""


def __getattr__(name: str) -> object:
    return _names.get(name)
