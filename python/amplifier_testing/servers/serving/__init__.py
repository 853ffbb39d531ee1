"""What the servers of all dialects share: HTTP, scripts of answers, faults and refusals."""

from __future__ import annotations
