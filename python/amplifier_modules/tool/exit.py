"""What a tool does to end more than its own call."""

from __future__ import annotations

import threading


class ToolExitError(RuntimeError):
    """A tool tried to end the program, or a task: only its call ends."""

    def __init__(self, what: str, *, has_begun: bool = True) -> None:
        """Say what it did, and whether it ran by then."""
        effects = "its effects are unknown" if has_begun else "it was not run"
        super().__init__(f"it {what}; its call was ended, and {effects}")


def may_be_ctrl_c(error: BaseException) -> bool:
    """Whether the user may have pressed Ctrl+C, which Python raises in the main thread alone."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and isinstance(error, KeyboardInterrupt)
