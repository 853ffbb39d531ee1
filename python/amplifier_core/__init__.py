"""An agent kernel: sessions that run providers, tools, contexts and hooks, on a Rust core.

Names are resolved at first use, so that importing the package costs next to nothing. They behave
like ordinary names all the same: they can be set, deleted and patched. Their types are in
`__init__.pyi`.
"""

import sys as _sys
from types import ModuleType as _ModuleType

from ._native.choice import __version__ as __version__
from ._native.choice import extension as _extension

RUST_AVAILABLE = _extension is not None
"""Whether the classes of the kernel are those of the Rust extension."""

_ENGINE_NAMES = {
    "RustCancellationToken": ("cancellation", "CancellationToken"),
    "RustCoordinator": ("coordinator", "ModuleCoordinator"),
    "RustHookRegistry": ("hooks", "HookRegistry"),
    "RustSession": ("session", "AmplifierSession"),
}
"""Classes of the extension, and their counterparts in plain Python: submodule and name.

Each class has a second top-level name, that of its counterpart. With the extension the effect is
that of `from ._engine import RustCoordinator as ModuleCoordinator`.
"""

_SUBMODULE_NAMES = {
    "_hook_result": "ContextInjection HookResult",
    "cancellation": "CancellationState",
    "content_models": "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
    "ToolResultContent",
    "interfaces": "ApprovalProvider ContextManager HookHandler Orchestrator Provider Tool",
    "llm_errors": "AbortError AccessDeniedError AuthenticationError ConfigurationError "
    "ContentFilterError ContextLengthError InvalidRequestError InvalidToolCallError LLMError "
    "LLMTimeoutError NetworkError NotFoundError ProviderUnavailableError QuotaExceededError "
    "RateLimitError StreamError",
    "loader": "ModuleLoader ModuleValidationError",
    "message_models": "ChatRequest ChatResponse Degradation ImageBlock Message ReasoningBlock "
    "RedactedThinkingBlock ResponseFormat ResponseFormatJson ResponseFormatJsonSchema "
    "ResponseFormatText TextBlock ThinkingBlock ToolCall ToolCallBlock ToolResultBlock ToolSpec "
    "Usage",
    "models": "ApprovalRequest ApprovalResponse ConfigField ModelInfo ModuleInfo Pricing "
    "ProviderInfo SessionStatus ToolResult",
    "testing": "EventRecorder MockContextManager MockCoordinator MockTool ScriptedOrchestrator "
    "create_test_coordinator wait_for",
    "utils.retry": "RetryConfig classify_error_message retry_with_backoff",
}
"""Top-level names of each submodule, separated by spaces."""

_SUBMODULES = {
    *(name for name in _SUBMODULE_NAMES if name.isidentifier() and name[0] != "_"),
    "approval",
    "capabilities",
    "coordinator",
    "correlation",
    "display",
    "events",
    "hooks",
    "module_sources",
    "utils",
    "validation",
    "world",
}
"""Submodules that an attribute access imports: programs use them after a bare import."""

_HOMES = {
    name: (submodule, name)
    for submodule, names in _SUBMODULE_NAMES.items()
    for name in names.split()
}
for _name, _twin in _ENGINE_NAMES.items():
    # Both top-level names of a class lead to the engine that was chosen.
    _HOMES[_name] = _HOMES[_twin[1]] = _twin if _extension is None else ("_engine", _name)
"""Submodule that each name comes from, and its name there."""

__all__: list[str] = sorted([*_HOMES, "RUST_AVAILABLE", "capabilities"])  # noqa: PLE0605 # pyright: ignore[reportUnsupportedDunderAll] -- both read the stub

_deleted: set[str] = set()


def __getattr__(name: str) -> object:
    if name not in _deleted:
        from importlib import import_module

        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        if name in _HOMES:
            submodule, attribute = _HOMES[name]
            value = getattr(import_module(f"{__name__}.{submodule}"), attribute)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES} - _deleted)


class _Package(_ModuleType):
    """A module whose names can be deleted before their first use."""

    def __delattr__(self, name: str) -> None:
        if name in _deleted or name not in _HOMES:
            super().__delattr__(name)
            return
        self.__dict__.pop(name, None)
        _deleted.add(name)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        _deleted.discard(name)


_sys.modules[__name__].__class__ = _Package


class _OwnPackages:
    """Finds modules of ours under the package names by which modules of others import them.

    It is at the end of `sys.meta_path`: an installed package of a name comes first.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        if not name.startswith("amplifier_module_"):
            return None
        # Late: few programs import such a package.
        from ._packages.second_name import second_spec
        from .known_modules import list_own_packages

        module_name = list_own_packages().get(name)
        return None if module_name is None else second_spec(name, module_name)


if not any(getattr(finder, "__name__", "") == _OwnPackages.__name__ for finder in _sys.meta_path):
    _sys.meta_path.append(_OwnPackages)  # pyright: ignore[reportArgumentType] -- a class that finds
