"""How the kernel asks the user for permission."""

from typing import Literal, Protocol


class ApprovalTimeoutError(Exception):
    """No answer in time; the default of the request applies."""


class ApprovalSystem(Protocol):
    """An application's way of asking its user."""

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 (applications are given it by position)
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask and return the option that was chosen.

        Args:
            prompt: The question.
            options: The answers to choose from.
            timeout: Seconds to wait for an answer.
            default: What the kernel does without an answer.

        Raises:
            ApprovalTimeoutError: There was no answer in time.
        """
        ...
