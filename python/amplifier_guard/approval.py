"""Approvals: a person's yes is for exactly what runs, once, and expires."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from amplifier_core import world
from amplifier_guard.guard_error import GuardError

__all__ = ["Approval", "ApprovalDenied", "ApprovalTicket"]

_ASK_AGAIN = "ask again"


class ApprovalDenied(GuardError, PermissionError):
    """A call that was not approved, or that differs from what was approved."""


class Approval(BaseModel):
    """What a person is asked to approve: the words, the folder, and a digest of the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    argv: tuple[str, ...]
    cwd: str
    environment: str

    @classmethod
    def of(cls, argv: Sequence[str], cwd: str, environ: Mapping[str, str]) -> Approval:
        """Describe a call; only a digest of `environ` is kept, so that no secret is."""
        digest = hashlib.sha256()
        for part in (part for name in sorted(environ) for part in (name, environ[name])):
            encoded = part.encode("utf-8", "surrogatepass")
            # The length keeps `a=bc` and `ab=c` apart.
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
        return cls(argv=tuple(argv), cwd=cwd, environment=digest.hexdigest())


class ApprovalTicket:
    """One question to a person, and the permission to run once if it is approved in time."""

    def __init__(
        self,
        approval: Approval,
        *,
        lifetime: float = 300.0,
        clock: Callable[[], float] = world.monotonic,
    ) -> None:
        """Ask about `approval`; it expires `lifetime` seconds from now by `clock`."""
        if not 0 < lifetime < float("inf"):
            raise ValueError(f"`lifetime` must be a positive number of seconds, found {lifetime!r}")
        self.approval = approval
        self._clock = clock
        self._ends = clock() + lifetime
        self._state = "unanswered"
        self._lock = threading.Lock()

    def answer(self, approved: bool) -> None:
        """Record a person's answer; only `True` approves, and only the first answer counts.

        Raises:
            ApprovalDenied: It was answered before, or too late.
        """
        with self._lock:
            self._expect("unanswered")
            self._state = "approved" if approved is True else "denied"

    def redeem(self, approval: Approval) -> None:
        """Use the permission to run `approval`, once; it must equal what was asked about.

        Raises:
            ApprovalDenied: It was not approved. Any attempt uses the permission up.
        """
        with self._lock:
            state = self._state
            self._state = "used" if state == "approved" else state
            if state == "approved" and self._clock() >= self._ends:
                raise ApprovalDenied(f"the approval has expired; {_ASK_AGAIN}", hint=_ASK_AGAIN)
            if state != "approved":
                raise ApprovalDenied(f"the request is {state}, not approved")
            if approval != self.approval:
                raise ApprovalDenied(
                    f"this is not what was approved; {_ASK_AGAIN}", hint=_ASK_AGAIN
                )

    def _expect(self, state: str) -> None:
        if self._state != state:
            raise ApprovalDenied(f"the request is already {self._state}")
        if self._clock() >= self._ends:
            self._state = "denied"
            raise ApprovalDenied("the answer came too late and counts as no")
