"""Types of the names of the package; `__init__.py` resolves each of them at its first use."""

from . import capabilities as capabilities
from ._engine import (
    RustCancellationToken as RustCancellationToken,
    RustCoordinator as RustCoordinator,
    RustHookRegistry as RustHookRegistry,
    RustSession as RustSession,
)
from .cancellation import CancellationState as CancellationState
from .content_models import (
    ContentBlock as ContentBlock,
    ContentBlockType as ContentBlockType,
    TextContent as TextContent,
    ThinkingContent as ThinkingContent,
    ToolCallContent as ToolCallContent,
    ToolResultContent as ToolResultContent,
)
from .interfaces import (
    ApprovalProvider as ApprovalProvider,
    ContextManager as ContextManager,
    HookHandler as HookHandler,
    Orchestrator as Orchestrator,
    Provider as Provider,
    Tool as Tool,
)
from .llm_errors import (
    AbortError as AbortError,
    AccessDeniedError as AccessDeniedError,
    AuthenticationError as AuthenticationError,
    ConfigurationError as ConfigurationError,
    ContentFilterError as ContentFilterError,
    ContextLengthError as ContextLengthError,
    InvalidRequestError as InvalidRequestError,
    InvalidToolCallError as InvalidToolCallError,
    LLMError as LLMError,
    LLMTimeoutError as LLMTimeoutError,
    NetworkError as NetworkError,
    NotFoundError as NotFoundError,
    ProviderUnavailableError as ProviderUnavailableError,
    QuotaExceededError as QuotaExceededError,
    RateLimitError as RateLimitError,
    StreamError as StreamError,
)
from .loader import ModuleLoader as ModuleLoader, ModuleValidationError as ModuleValidationError
from .message_models import (
    ChatRequest as ChatRequest,
    ChatResponse as ChatResponse,
    Degradation as Degradation,
    ImageBlock as ImageBlock,
    Message as Message,
    ReasoningBlock as ReasoningBlock,
    RedactedThinkingBlock as RedactedThinkingBlock,
    ResponseFormat as ResponseFormat,
    ResponseFormatJson as ResponseFormatJson,
    ResponseFormatJsonSchema as ResponseFormatJsonSchema,
    ResponseFormatText as ResponseFormatText,
    TextBlock as TextBlock,
    ThinkingBlock as ThinkingBlock,
    ToolCall as ToolCall,
    ToolCallBlock as ToolCallBlock,
    ToolResultBlock as ToolResultBlock,
    ToolSpec as ToolSpec,
    Usage as Usage,
)
from .models import (
    ApprovalRequest as ApprovalRequest,
    ApprovalResponse as ApprovalResponse,
    ConfigField as ConfigField,
    ContextInjection as ContextInjection,
    HookResult as HookResult,
    ModelInfo as ModelInfo,
    ModuleInfo as ModuleInfo,
    Pricing as Pricing,
    ProviderInfo as ProviderInfo,
    SessionStatus as SessionStatus,
    ToolResult as ToolResult,
)
from .testing import (
    EventRecorder as EventRecorder,
    MockContextManager as MockContextManager,
    MockCoordinator as MockCoordinator,
    MockTool as MockTool,
    ScriptedOrchestrator as ScriptedOrchestrator,
    create_test_coordinator as create_test_coordinator,
    wait_for as wait_for,
)
from .utils.retry import (
    RetryConfig as RetryConfig,
    classify_error_message as classify_error_message,
    retry_with_backoff as retry_with_backoff,
)

__version__: str
RUST_AVAILABLE: bool
CancellationToken = RustCancellationToken
ModuleCoordinator = RustCoordinator
HookRegistry = RustHookRegistry
AmplifierSession = RustSession
