"""Approvals: a person's yes is for exactly what runs, once, and expires."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from amplifier_guard.guard_error import GuardError

__all__ = ["Approval", "ApprovalDenied", "ApprovalTicket"]

_ASK_AGAIN = "ask again"


class ApprovalDenied(GuardError, PermissionError):
    """Something that no person approved, or that is not what was approved."""


class Approval(BaseModel):
    """What a person is asked about: the words that run, the folder, and the environment's digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    argv: tuple[str, ...]
    cwd: str
    environment: str

    @classmethod
    def of(cls, argv: Sequence[str], cwd: str, environ: Mapping[str, str]) -> Approval:
        """Describe a call; the values of `environ` are digested, so that no secret is kept."""
        digest = hashlib.sha256()
        for part in (part for name in sorted(environ) for part in (name, environ[name])):
            encoded = part.encode("utf-8", "surrogatepass")
            # The length keeps `a=bc` and `ab=c` apart.
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
        return cls(argv=tuple(argv), cwd=cwd, environment=digest.hexdigest())


class ApprovalTicket:
    """One question to a person, and the right to run once if the answer is yes in time."""

    def __init__(
        self,
        approval: Approval,
        *,
        lifetime: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask about `approval`; `lifetime` seconds after now by `clock`, the answer is no."""
        if not 0 < lifetime < float("inf"):
            raise ValueError(f"`lifetime` must be a positive number of seconds, found {lifetime!r}")
        self.approval = approval
        self._clock = clock
        self._ends = clock() + lifetime
        self._state = "unanswered"
        self._lock = threading.Lock()

    def answer(self, approved: bool) -> None:
        """Set a person's answer; only `True` is a yes, and the first answer counts.

        Raises:
            ApprovalDenied: It was answered before, or too late.
        """
        with self._lock:
            self._expect("unanswered")
            self._state = "approved" if approved is True else "denied"

    def redeem(self, approval: Approval) -> None:
        """Take the right to run `approval`, once; it must equal what was asked about.

        Raises:
            ApprovalDenied: There is no such right; it is gone after any attempt.
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
