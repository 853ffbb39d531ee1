"""Whether each request of a conversation begins with all of the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

from .prompt import Prompt

Cause = Literal["compaction", "system prompt", "tools", "model", "messages"]
"""Why a request does not begin with the one before."""

COMPACTIONS = ("context:compaction", "context:pre_compact", "context:post_compact")
"""The events of a conversation that is shortened."""

_MOST_CONVERSATIONS = 32


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """The first block in which a request differs from the one before it."""

    block: str
    cause: Cause
    before: str
    """The hash of the block in the request before; empty where there was none."""
    after: str
    """Its hash now; empty where the request ends before it."""
    kept: int
    """Blocks before it, which are as they were."""
    lost: int
    """Blocks of the request before, from this one on."""
    most_tokens: int | None
    """The tokens of the request before, as the service counted them; None if it did not."""

    def describe(self) -> dict[str, Any]:
        """Return what the event says of it."""
        return {
            "block": self.block,
            "cause": self.cause,
            "before": self.before,
            "after": self.after,
            "kept_blocks": self.kept,
            "lost_blocks": self.lost,
        }


class Conversation:
    """The last request of a conversation."""

    __slots__ = ("is_compacted", "last", "tokens")

    def __init__(self) -> None:
        """Begin before the first request."""
        self.last: Prompt | None = None
        self.tokens: int | None = None
        """What the service counted of it; None if it did not."""
        self.is_compacted = False
        """Whether the conversation was shortened since."""

    def follow(self, prompt: Prompt) -> PrefixChange | None:
        """Take the next request; return how its beginning differs, None where it does not."""
        last, tokens, self.last, self.tokens = self.last, self.tokens, prompt, None
        is_compacted, self.is_compacted = self.is_compacted, False
        if last is None:
            prompt.link(None, 0)
            return None
        # `tool_choice` and the like are compared, too: they stand among the blocks.
        known = len(last.digests)
        if prompt.digests[:known] == last.digests and prompt.names == last.names:
            prompt.link(last, known)
            return None
        pairs = enumerate(zip(last.digests, prompt.digests, strict=False))
        shortest = min(known, len(prompt.digests))
        common = next((place for place, (one, other) in pairs if one != other), shortest)
        prompt.link(last, common)
        name = _label_change(last, prompt, common)
        return PrefixChange(
            name,
            _find_cause(name, is_compacted=is_compacted),
            last.digests[common].hex() if common < known else "",
            prompt.digests[common].hex() if common < len(prompt.digests) else "",
            common,
            known - common,
            tokens,
        )


class SessionPrompts:
    """The conversations of one session: its own, and those of its calls beside it."""

    def __init__(self) -> None:
        """Begin without a request."""
        self._conversations: dict[object, Conversation] = {}

    def find(self, purpose: object) -> Conversation:
        """Return the conversation of the calls for a purpose; None for that of the session."""
        known = self._conversations.get(purpose)
        if known is None:
            if len(self._conversations) >= _MOST_CONVERSATIONS:
                del self._conversations[next(iter(self._conversations))]
            known = self._conversations[purpose] = Conversation()
        return known

    def note_compaction(self) -> None:
        """Note that the conversation of the session was shortened."""
        self.find(None).is_compacted = True


_sessions: WeakKeyDictionary[Any, SessionPrompts] = WeakKeyDictionary()


def prompts_of(hooks: Any) -> SessionPrompts:
    """Return the prompts of the session with these hooks: one for all of its providers."""
    try:
        known = _sessions.get(hooks)
        if known is None:
            known = _sessions[hooks] = SessionPrompts()
    except TypeError:  # no hooks, or of a type that cannot be kept
        return SessionPrompts()
    return known


def go_on_with(hooks: Any, prompts: SessionPrompts) -> None:
    """Let a session go on with the prompts of the one before it, whose conversation it has."""
    _sessions[hooks] = prompts


def _label_change(last: Prompt, prompt: Prompt, place: int) -> str:
    """Return the name of the block in which two prompts differ: of the two, the one that comes first."""
    names = [each.label_block(place) for each in (prompt, last) if place < len(each.digests)]
    parts = ("tools", "system")
    return next((name for part in parts for name in names if name.startswith(part)), names[0])


def _find_cause(block: str, *, is_compacted: bool) -> Cause:
    if block == "model":
        return "model"
    if block.startswith("tool"):  # or the choice among them
        return "tools"
    if block.startswith("system"):
        return "system prompt"
    return "compaction" if is_compacted else "messages"
