"""The models of a server, what each can do, and how one is downloaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..serving.reading import Json

_TOOLS = frozenset({"completion", "tools"})
_ALL = _TOOLS | {"thinking", "vision"}


@dataclass(frozen=True)
class OllamaModel:
    """A model, as `/api/show` describes it."""

    name: str
    """Its name with a tag, as `/api/tags` lists it."""
    capabilities: frozenset[str] = _TOOLS
    """What it can do: `completion`, `tools`, `thinking`, `vision`, `embedding`."""
    context_length: int = 40_960
    """The tokens that it was trained to read."""
    family: str = "qwen3"
    has_levels: bool = False
    """Whether `think` may be a level, and not only on or off."""
    parameters: str = ""
    """The parameters of its Modelfile, one a line, such as `num_ctx 8192`."""
    says_capabilities: bool = True
    """Whether `/api/show` lists them; older servers do not."""

    @property
    def shown(self) -> Json:
        """What `/api/show` says."""
        known: Json = {"capabilities": sorted(self.capabilities)} if self.says_capabilities else {}
        return {
            "modelfile": f"FROM {self.name}\n",
            "parameters": self.parameters,
            "template": "{{ .Prompt }}",
            "details": self.details,
            "model_info": {
                "general.architecture": self.family,
                "general.parameter_count": 8_190_735_360,
                f"{self.family}.context_length": self.context_length,
                f"{self.family}.embedding_length": 4_096,
            },
            **known,
            "modified_at": "2026-01-01T00:00:00Z",
        }

    @property
    def details(self) -> Json:
        """The form of its weights."""
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": "8.2B",
            "quantization_level": "Q4_K_M",
        }


MODELS = (
    OllamaModel("qwen3:8b", _TOOLS | {"thinking"}),
    OllamaModel("qwen3-vl:8b", _ALL, 262_144, "qwen3vl"),
    OllamaModel("gpt-oss:20b", _TOOLS | {"thinking"}, 131_072, "gptoss", has_levels=True),
    OllamaModel("llama3.2:latest", _TOOLS, 131_072, "llama"),
    OllamaModel("gemma3:4b", frozenset({"completion", "vision"}), 131_072, "gemma3"),
    OllamaModel("phi:latest", frozenset({"completion"}), 2_048, "phi2"),
    OllamaModel("nomic-embed-text:latest", frozenset({"embedding"}), 2_048, "nomic-bert"),
)
"""The models that a server has, unless it is given others."""


def find_model(name: str, models: Iterable[OllamaModel]) -> OllamaModel | None:
    """Return the model of a name, which means `latest` if it has no tag."""
    tagged = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    return next((model for model in models if model.name == tagged), None)


_DIGEST = "sha256:3e4cb14174460404e7a233e531675303b2fbf7749c02f91864fe311ab6344e4f"
_BYTES = 5_225_374_720
_STEPS = 200


def pull_lines(*, is_known: bool) -> Iterator[Json]:
    """Yield what `/api/pull` says, for a model that can be pulled or for one that nobody knows."""
    yield {"status": "pulling manifest"}
    if not is_known:
        yield {"error": "pull model manifest: file does not exist"}
        return
    layer: Json = {"status": "pulling 3e4cb1417446", "digest": _DIGEST, "total": _BYTES}
    yield layer
    for step in range(_STEPS + 1):
        yield {**layer, "completed": _BYTES * step // _STEPS}
    yield {"status": "verifying sha256 digest"}
    yield {"status": "writing manifest"}
    yield {"status": "success"}
