"""Well-known names of capabilities of models and providers."""

from ._native.choice import extension as _extension

__all__ = [
    "ALL_WELL_KNOWN_CAPABILITIES",
    "AUDIO",
    "BATCH",
    "CODE_EXECUTION",
    "COMPUTER_USE",
    "DEEP_RESEARCH",
    "EMBEDDINGS",
    "FAST",
    "IMAGE_GENERATION",
    "JSON_MODE",
    "LOCAL",
    "LONG_CONTEXT",
    "STREAMING",
    "THINKING",
    "TOOLS",
    "VISION",
    "WEB_SEARCH",
]

TOOLS = "tools"
STREAMING = "streaming"
THINKING = "thinking"
VISION = "vision"
JSON_MODE = "json_mode"
FAST = "fast"
CODE_EXECUTION = "code_execution"
WEB_SEARCH = "web_search"
DEEP_RESEARCH = "deep_research"
LOCAL = "local"
AUDIO = "audio"
IMAGE_GENERATION = "image_generation"
COMPUTER_USE = "computer_use"
EMBEDDINGS = "embeddings"
LONG_CONTEXT = "long_context"
BATCH = "batch"

ALL_WELL_KNOWN_CAPABILITIES: list[str] = (
    [value for name, value in globals().copy().items() if name.isupper()]
    if _extension is None
    else _extension.ALL_WELL_KNOWN_CAPABILITIES
)
"""All of them, in the order above; with the extension, its very list."""
