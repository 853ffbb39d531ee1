"""How to make an object of each class of the guard that is not made from plain arguments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from owners import folder, maker


@maker("UrlDecisions")
def url_decisions() -> Any:
    from amplifier_core._engine import UrlDecisions

    return UrlDecisions()


@maker("Destination")
def _() -> Any:
    return url_decisions().destination("https://example.org/")


@maker("CheckedUrl")
def _() -> Any:
    policy = url_decisions()
    return policy.judge(policy.destination("https://example.org/"), ["93.184.215.14"])


@maker("ShellPolicy")
def _() -> Any:
    from amplifier_guard import ShellPolicy

    return ShellPolicy(["ls"], root=str(folder()))


@maker("RedactorStream")
def _() -> Any:
    from amplifier_guard import Redactor

    return Redactor().stream()


@maker("CircuitBreaker")
def _() -> Any:
    from amplifier_guard import CircuitBreaker

    return CircuitBreaker(failures=1, recovery=1.0)


@maker("RateLimiter")
def _() -> Any:
    from amplifier_guard import Rate, RateLimiter

    return RateLimiter(user=Rate(1))


@maker("ErrorHandler")
def _() -> Any:
    from amplifier_guard import ErrorHandler

    return ErrorHandler()


@maker("CircuitOpen")
def _() -> Any:
    from amplifier_guard import CircuitOpen

    return CircuitOpen(1.0)


@maker("RateLimited")
def _() -> Any:
    from amplifier_guard import RateLimited

    return RateLimited("user", 1.0)


@maker("PastOperation")
def _() -> Any:
    from amplifier_guard import PastOperation

    return PastOperation(operation="x", timestamp=datetime.now(UTC))


@maker("Approval")
def _() -> Any:
    from amplifier_guard import Approval

    return Approval(argv=["ls"], cwd="/", environment="x")


@maker("ErrorContextBuilder")
def _() -> Any:
    from amplifier_guard import ErrorContext

    return ErrorContext.builder("x", redact=lambda text, *_: text)


@maker("ProcessedMessage")
def _() -> Any:
    from amplifier_guard import MessageProcessor

    return MessageProcessor().process_user_message("hello")


@maker("Finding")
def _() -> Any:
    from amplifier_guard import Finding

    return Finding(kind="script", pointer="/content", start=0, end=1)


@maker("ContentStatistics")
def _() -> Any:
    from amplifier_guard import ContentStatistics

    return ContentStatistics(blocks={}, characters=0, bytes=0)


@maker("amplifier_guard.claude.TableBlock")
def _() -> Any:
    from amplifier_guard.claude import TableBlock

    return TableBlock(columns=["x"], rows=[["x"]])


@maker("amplifier_guard.claude.ThinkingBlock")
def _() -> Any:
    from amplifier_guard.claude import ThinkingBlock

    return ThinkingBlock(content="x")


@maker("amplifier_guard.claude.ToolResultBlock")
def _() -> Any:
    from amplifier_guard.claude import ToolResultBlock

    return ToolResultBlock(tool_use_id="x", content="x")


@maker("ProjectRefusal")
def _() -> Any:
    from amplifier_guard import ProjectRefusal

    return ProjectRefusal("providers", "it is not known")


@maker("PersonalData")
def _() -> Any:
    from amplifier_guard import PersonalData

    return PersonalData(["EMAIL"])


@maker("PersonalDataStream")
def _() -> Any:
    from amplifier_guard import PersonalData

    return PersonalData(["EMAIL"]).stream()
