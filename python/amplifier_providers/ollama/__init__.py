"""`provider-ollama`: local models that Ollama runs, and those of Ollama Cloud, streamed."""

from typing import TYPE_CHECKING

from ..running.late_names import late_names

if TYPE_CHECKING:
    from .config import OllamaConfig, read_config
    from .provider import OllamaProvider, mount

__all__ = ["OllamaConfig", "OllamaProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_PLACES = {
    "OllamaConfig": ("config", "OllamaConfig"),
    "OllamaProvider": ("provider", "OllamaProvider"),
    "__amplifier_settings__": ("config", "OllamaConfig"),
    "mount": ("provider", "mount"),
    "read_config": ("config", "read_config"),
}
"""Where each name is; those who only ask for the names of models import none of it."""

__getattr__ = late_names(__name__, _PLACES)
