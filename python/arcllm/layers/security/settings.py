"""What `security` is set to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from amplifier_providers.settings import Settings

PersonalType: TypeAlias = Literal["SSN", "CREDIT_CARD", "EMAIL", "PHONE", "IPV4", "IBAN"]
"""A built-in type of personal data."""
Direction: TypeAlias = Literal["request", "response"]
"""What is sent, or what comes back."""

_EVERY_TYPE: list[PersonalType] = ["SSN", "CREDIT_CARD", "EMAIL", "PHONE", "IPV4", "IBAN"]
_BOTH: list[Direction] = ["request", "response"]

Key: TypeAlias = str | bytes | Callable[[], str | bytes]


class SecuritySettings(Settings):
    """What is taken out of calls and answers, and how requests are signed."""

    pii: list[Direction] = Field(default_factory=_BOTH.copy)
    """Where personal data is searched for: in the `request`, in the `response`, or in neither."""
    pii_types: list[PersonalType] = Field(default_factory=_EVERY_TYPE.copy)
    """Which types of personal data."""
    pii_patterns: dict[str, str] = Field(default_factory=dict[str, str])
    """Further types: a name in capital letters, and an expression of the Rust crate `regex`."""
    pii_detector: str | None = Field(
        default=None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", max_length=200
    )
    """A class `module:Class` that finds personal data in the place of the types and patterns."""
    secrets: list[Direction] = Field(default_factory=_BOTH.copy)
    """Where secrets are searched for: what looks like a key, a token or a password."""
    known_secrets: list[str] = Field(default_factory=list[str], repr=False)
    """Secrets that are found in any encoding, whatever they look like."""
    action: Literal["redact", "block"] = "redact"
    """Whether what is found is replaced by a mark, or the call ends with an error."""
    signing: Literal["off", "hmac-sha256", "ecdsa-p256"] = "off"
    """How requests are signed; the signature is `request_signature` of the response's metadata."""
    signing_key: Annotated[Key | None, Field(repr=False)] = None
    """The key, or a function that returns it: for HMAC at least 16 bytes, for ECDSA a private key as
    PEM. Without it, that of `signing_key_env`."""
    signing_key_env: str = "ARCLLM_SIGNING_KEY"
    """The environment variable that has the key."""
