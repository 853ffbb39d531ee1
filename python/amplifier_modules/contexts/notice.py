"""The message that says what a shortened view leaves out."""

from __future__ import annotations

from typing import Literal

from amplifier_providers.running.count_noun import count_noun

from .groups import Message, program_of

Verbosity = Literal["none", "short", "detailed"]

SOURCE = "compaction"
"""The `source` in the metadata of the notice."""


def is_notice(message: Message) -> bool:
    """Whether a message is the notice of a context."""
    return program_of(message) == SOURCE


def notice(
    verbosity: Verbosity, removed: int, truncated: int = 0, summary: str | None = None
) -> Message | None:
    """Return the notice; None where none is wanted and there is no summary.

    Args:
        verbosity: How much it says.
        removed: The number of messages that are left out.
        truncated: The number of tool results that are shortened.
        summary: What was in the messages that are left out.
    """
    if verbosity == "none" and summary is None:
        return None
    are = "is" if removed == 1 else "are"
    text = f"{count_noun(removed, 'earlier message')} of this conversation {are} not shown, "
    text += "because it has grown too long."
    if verbosity == "detailed":
        shortened = f"{count_noun(truncated, 'tool result')} {'is' if truncated == 1 else 'are'}"
        text += f" The first message of the user and the newest messages are shown. {shortened}"
        text += " shortened, and say so at their end. What is missing can be asked for again."
    if summary is None:
        content = f"<system-reminder>{text}</system-reminder>"
        return {"role": "user", "content": content, "metadata": {"source": SOURCE}}
    content = f"<system-reminder>{text} A summary of them:\n\n{summary}\n</system-reminder>"
    return {"role": "user", "content": content, "metadata": {"source": SOURCE, "is_summary": True}}
