"""What clients and servers raise, beside what stores do."""

from __future__ import annotations


class ServeError(RuntimeError):
    """A server that cannot be used, or has refused a request."""

    def __init__(self, message: str, status: int = 0) -> None:
        """Say what is wrong.

        Args:
            message: What is wrong.
            status: The HTTP status of the refusal; 0 without an answer.
        """
        super().__init__(message)
        self.status = status
