"""Signatures of requests, and their verification.

What is signed is the canonical JSON of the request as it is sent on, personal data and secrets taken
out: `{"messages", "model", "options", "provider", "tools"}`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ...exceptions import ArcLLMConfigError
from ...step import Call
from ...types import Message, Tool
from .canonical import canonical_json
from .settings import Key, SecuritySettings

Algorithm = Literal["hmac-sha256", "ecdsa-p256"]

_LEAST_KEY_BYTES = 16


class Signer:
    """Signs requests; its key is in no `repr`, error or log.

    Args:
        algorithm: How.
        key: The key: a secret for HMAC, a private key as PEM for ECDSA.

    Raises:
        ArcLLMConfigError: The key cannot be used, or `cryptography` is missing.
    """

    __slots__ = ("_sign", "algorithm")

    def __init__(self, algorithm: Algorithm, key: str | bytes) -> None:
        self.algorithm: Algorithm = algorithm
        self._sign = (
            _make_hmac(_read_secret(key))
            if algorithm == "hmac-sha256"
            else _make_ecdsa(_encode_key(key))
        )

    def sign(self, call: Call, provider: str, model: str) -> str:
        """Return the signature of a request, in hexadecimal digits; for ECDSA, of its DER form.

        Raises:
            ArcLLMConfigError: The request is no JSON.
        """
        try:
            request = signed_request(call.messages, call.tools, call.options, provider, model)
        except (TypeError, ValueError) as error:
            raise ArcLLMConfigError(
                f"a request that is no JSON cannot be signed: {error}"
            ) from None
        return self._sign(request).hex()


def signer_of(
    settings: SecuritySettings, environment: Mapping[str, str] = os.environ
) -> Signer | None:
    """Return what signs requests with these settings; None where they are not signed.

    Raises:
        ArcLLMConfigError: There is no key, or it cannot be used.
    """
    if settings.signing == "off":
        return None
    key: Key | None = settings.signing_key
    if callable(key):
        key = key()
    if key is None:
        key = environment.get(settings.signing_key_env)
    if not key:
        raise ArcLLMConfigError(
            f"`signing` is `{settings.signing}` without a key; set `signing_key` or the environment"
            f" variable `{settings.signing_key_env}`"
        )
    return Signer(settings.signing, key)


def signed_request(
    messages: Sequence[Message],
    tools: Sequence[Tool] | None,
    options: Mapping[str, Any] | None,
    provider: str,
    model: str,
) -> bytes:
    """Return what is signed of a request.

    Raises:
        TypeError: A part of it is no JSON.
        ValueError: The same.
    """
    parts = {
        "messages": [message.model_dump(exclude_none=True) for message in messages],
        "model": model,
        "options": {name: _make_plain(value) for name, value in (options or {}).items()},
        "provider": provider,
        "tools": [tool.model_dump() for tool in tools or ()],
    }
    return canonical_json(parts)


def verify_request(
    signature: str,
    messages: Sequence[Message],
    tools: Sequence[Tool] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    provider: str,
    model: str,
    key: str | bytes,
    algorithm: Algorithm = "hmac-sha256",
) -> bool:
    """Whether a signature is that of this request, made with this key.

    Args:
        signature: `request_signature` of a response's metadata.
        messages: The messages as they were sent, personal data and secrets taken out.
        tools: The tools.
        options: The options of the call, such as `max_tokens`.
        provider: The provider that was asked.
        model: The model that was asked.
        key: The secret of HMAC, or the public key of ECDSA as PEM.
        algorithm: How it was signed.

    Raises:
        ArcLLMConfigError: The key cannot be used, or `cryptography` is missing.
    """
    try:
        request = signed_request(messages, tools, options, provider, model)
        found = bytes.fromhex(signature)
    except (TypeError, ValueError):
        return False
    if algorithm == "hmac-sha256":
        return hmac.compare_digest(_make_hmac(_read_secret(key))(request), found)
    return _is_ecdsa(_encode_key(key), found, request)


def _make_hmac(key: bytes) -> Callable[[bytes], bytes]:
    return lambda request: hmac.digest(key, request, hashlib.sha256)


def _read_secret(key: str | bytes) -> bytes:
    secret = _encode_key(key)
    if len(secret) < _LEAST_KEY_BYTES:
        raise ArcLLMConfigError(
            f"the key for `hmac-sha256` has {len(secret)} bytes; use at least {_LEAST_KEY_BYTES}"
        )
    return secret


def _make_ecdsa(pem: bytes) -> Callable[[bytes], bytes]:
    key = _load_key("load_pem_private_key", pem, password=None)
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256

    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ArcLLMConfigError("the key for `ecdsa-p256` must be a private key of curve P-256")
    private = key
    return lambda request: private.sign(request, ec.ECDSA(SHA256()))


def _is_ecdsa(pem: bytes, signature: bytes, request: bytes) -> bool:
    key = _load_key("load_pem_public_key", pem)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256

    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ArcLLMConfigError("the key for `ecdsa-p256` must be a public key of curve P-256")
    try:
        key.verify(signature, request, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _load_key(loader: str, pem: bytes, **options: None) -> object:
    """Read a key; an error says that it cannot be read, and never what it is."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise ArcLLMConfigError(
            "`ecdsa-p256` needs the package `cryptography`: install `amplifier-core[signing]`"
        ) from None
    try:
        return getattr(serialization, loader)(pem, **options)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ArcLLMConfigError("the key for `ecdsa-p256` is not readable as PEM") from None


def _encode_key(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key


def _make_plain(value: Any) -> Any:
    """Return an option as JSON; what is none is known by its name."""
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json")
    return value.__qualname__ if isinstance(value, type) else value
