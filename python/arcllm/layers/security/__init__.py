"""What leaves the program and what comes in: without personal data and secrets, and signed."""

from __future__ import annotations

from ...exceptions import ArcLLMSecurityError
from .canonical import canonical_json
from .layer import SecurityLayer
from .settings import SecuritySettings
from .signing import Signer, verify_request

__all__ = [
    "ArcLLMSecurityError",
    "SecurityLayer",
    "SecuritySettings",
    "Signer",
    "canonical_json",
    "verify_request",
]
