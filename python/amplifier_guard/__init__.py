"""Decisions at the sinks, and what is done about failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_core.extension import load_extension
from amplifier_core.late_names import LateNames

try:
    load_extension()
except ModuleNotFoundError as error:
    if error.name != "amplifier_core._engine":
        raise
    message = (
        "`amplifier_guard` needs the extension `amplifier_core._engine`, which is missing here"
    )
    raise ModuleNotFoundError(message, name=error.name) from None

if TYPE_CHECKING:
    from amplifier_guard.approval import Approval, ApprovalDenied, ApprovalTicket
    from amplifier_guard.breaker import CircuitBreaker, CircuitOpen
    from amplifier_guard.claude import ClaudeMessage, migrate_text, migrate_tool_response
    from amplifier_guard.error_context import ErrorContext, PastOperation
    from amplifier_guard.error_handler import ErrorHandler, GiveUp, Retry
    from amplifier_guard.error_kind import ErrorKind, error_kind
    from amplifier_guard.finding import Finding
    from amplifier_guard.guard_error import GuardError
    from amplifier_guard.guarded_call import guarded_call
    from amplifier_guard.identifier import NameDenied, check_tool_name
    from amplifier_guard.inspection import BlockView, inspect_blocks
    from amplifier_guard.limits import LimitError, Limits
    from amplifier_guard.path import (
        AttributeNotKept,
        NotText,
        PathChanged,
        PathDenied,
        PathPolicy,
        PathProtected,
        log_path,
        secret_places,
    )
    from amplifier_guard.processor import (
        ContentStatistics,
        MessageProcessor,
        MessageRejected,
        ProcessedMessage,
    )
    from amplifier_guard.project_config import (
        ProjectConfig,
        ProjectConfigDenied,
        ProjectRefusal,
        judge_project_config,
    )
    from amplifier_guard.rate import Rate, RateLimited, RateLimiter
    from amplifier_guard.redact import (
        PersonalData,
        PersonalDataStream,
        RedactingFilter,
        Redactor,
        RedactorStream,
        hide_homes,
        shorten,
    )
    from amplifier_guard.shell import (
        ShellDenied,
        ShellPolicy,
        child_environment,
        read_command,
    )
    from amplifier_guard.terminal import TerminalText
    from amplifier_guard.tool_input import ToolInputDenied, ToolInputPolicy, ToolSchemaDenied
    from amplifier_guard.url import CheckedUrl, Destination, UrlDenied, UrlPolicy

__all__ = [
    "Approval",
    "ApprovalDenied",
    "ApprovalTicket",
    "AttributeNotKept",
    "BlockView",
    "CheckedUrl",
    "CircuitBreaker",
    "CircuitOpen",
    "ClaudeMessage",
    "ContentStatistics",
    "Destination",
    "ErrorContext",
    "ErrorHandler",
    "ErrorKind",
    "Finding",
    "GiveUp",
    "GuardError",
    "LimitError",
    "Limits",
    "MessageProcessor",
    "MessageRejected",
    "NameDenied",
    "NotText",
    "PastOperation",
    "PathChanged",
    "PathDenied",
    "PathPolicy",
    "PathProtected",
    "PersonalData",
    "PersonalDataStream",
    "ProcessedMessage",
    "ProjectConfig",
    "ProjectConfigDenied",
    "ProjectRefusal",
    "Rate",
    "RateLimited",
    "RateLimiter",
    "RedactingFilter",
    "Redactor",
    "RedactorStream",
    "Retry",
    "ShellDenied",
    "ShellPolicy",
    "TerminalText",
    "ToolInputDenied",
    "ToolInputPolicy",
    "ToolSchemaDenied",
    "UrlDenied",
    "UrlPolicy",
    "check_tool_name",
    "child_environment",
    "error_kind",
    "guarded_call",
    "hide_homes",
    "inspect_blocks",
    "judge_project_config",
    "log_path",
    "migrate_text",
    "migrate_tool_response",
    "read_command",
    "secret_places",
    "shorten",
]

_names = LateNames(
    __name__,
    {
        "approval": "Approval ApprovalDenied ApprovalTicket",
        "breaker": "CircuitBreaker CircuitOpen",
        "claude": "ClaudeMessage migrate_text migrate_tool_response",
        "error_context": "ErrorContext PastOperation",
        "error_handler": "ErrorHandler GiveUp Retry",
        "error_kind": "ErrorKind error_kind",
        "finding": "Finding",
        "guard_error": "GuardError",
        "guarded_call": "guarded_call",
        "identifier": "NameDenied check_tool_name",
        "inspection": "BlockView inspect_blocks",
        "limits": "LimitError Limits",
        "path": (
            "AttributeNotKept NotText PathChanged PathDenied PathPolicy PathProtected log_path"
            " secret_places"
        ),
        "processor": "ContentStatistics MessageProcessor MessageRejected ProcessedMessage",
        "project_config": "ProjectConfig ProjectConfigDenied ProjectRefusal judge_project_config",
        "rate": "Rate RateLimited RateLimiter",
        "redact": "PersonalData PersonalDataStream RedactingFilter Redactor RedactorStream hide_homes shorten",
        "shell": "ShellDenied ShellPolicy child_environment read_command",
        "terminal": "TerminalText",
        "tool_input": "ToolInputDenied ToolInputPolicy ToolSchemaDenied",
        "url": "CheckedUrl Destination UrlDenied UrlPolicy",
    },
)


def __getattr__(name: str) -> object:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.list_names()
