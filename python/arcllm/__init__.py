"""One call, one answer: `load_model` gives a model, `await model.complete(...)` its answer."""

from typing import TYPE_CHECKING

from amplifier_providers.running.late_names import late_names

if TYPE_CHECKING:
    from .batch import ArcLLMBatchError
    from .config.tables import GlobalConfig, ModelTable, ProviderTable
    from .config.vault import VaultResolver
    from .deltas import Delta, RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta
    from .exceptions import (
        ArcLLMAPIError,
        ArcLLMConfigError,
        ArcLLMError,
        ArcLLMParseError,
        ArcLLMSecurityError,
    )
    from .layers.budget.errors import ArcLLMBudgetError, ArcLLMBudgetFileError
    from .layers.security.signing import verify_request
    from .load import clear_cache, load_global_config, load_model, load_provider_config
    from .model import Model
    from .output import StructuredResponse
    from .stream import ModelStream
    from .types import (
        ContentBlock,
        ImageBlock,
        LLMProvider,
        LLMResponse,
        Message,
        TextBlock,
        Tool,
        ToolCall,
        ToolResultBlock,
        ToolUseBlock,
        Usage,
    )

__all__ = [
    "ArcLLMAPIError",
    "ArcLLMBatchError",
    "ArcLLMBudgetError",
    "ArcLLMBudgetFileError",
    "ArcLLMConfigError",
    "ArcLLMError",
    "ArcLLMParseError",
    "ArcLLMSecurityError",
    "ContentBlock",
    "Delta",
    "GlobalConfig",
    "ImageBlock",
    "LLMProvider",
    "LLMResponse",
    "Message",
    "Model",
    "ModelStream",
    "ModelTable",
    "ProviderTable",
    "RetractedDelta",
    "StructuredResponse",
    "TextBlock",
    "TextDelta",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolResultBlock",
    "ToolUseBlock",
    "Usage",
    "VaultResolver",
    "clear_cache",
    "load_global_config",
    "load_model",
    "load_provider_config",
    "verify_request",
]

_HOMES = {
    "batch": "ArcLLMBatchError",
    "config.tables": "GlobalConfig ModelTable ProviderTable",
    "config.vault": "VaultResolver",
    "deltas": "Delta RetractedDelta TextDelta ThinkingDelta ToolCallDelta",
    "exceptions": (
        "ArcLLMAPIError ArcLLMConfigError ArcLLMError ArcLLMParseError ArcLLMSecurityError"
    ),
    "layers.budget.errors": "ArcLLMBudgetError ArcLLMBudgetFileError",
    "layers.security.signing": "verify_request",
    "load": "clear_cache load_global_config load_model load_provider_config",
    "model": "Model",
    "output": "StructuredResponse",
    "stream": "ModelStream",
    "types": (
        "ContentBlock ImageBlock LLMProvider LLMResponse Message TextBlock Tool ToolCall"
        " ToolResultBlock ToolUseBlock Usage"
    ),
}
"""Names by module; each is imported at its first use, so that an import costs next to nothing."""

__getattr__ = late_names(
    __name__, {name: (home, name) for home, names in _HOMES.items() for name in names.split()}
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
