"""Signatures of requests hold for what was sent, and for nothing else."""

from __future__ import annotations

import hashlib
import hmac
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fake_step import FakeStep, ask, take

from arcllm import ArcLLMConfigError, LLMResponse, Message, Tool
from arcllm.layers.security import SecurityLayer, SecuritySettings, verify_request
from arcllm.layers.security.signing import Algorithm
from arcllm.step import Piece

SECRET = "0123456789abcdef"
TOOL = Tool(name="look", description="Looks.", parameters={"type": "object"})


def pem(private: Any) -> tuple[bytes, bytes]:
    encoding = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return (
        private.private_bytes(encoding, form, serialization.NoEncryption()),
        private.public_key().public_bytes(encoding, public),
    )


PRIVATE, PUBLIC = pem(ec.generate_private_key(ec.SECP256R1()))
KEYS: dict[Algorithm, tuple[str | bytes, str | bytes]] = {
    "hmac-sha256": (SECRET, SECRET),
    "ecdsa-p256": (PRIVATE, PUBLIC),
}


async def signed(signing: Algorithm, beneath: FakeStep, **fields: Any) -> str:
    settings = SecuritySettings(signing=signing, signing_key=KEYS[signing][0])
    answer = await SecurityLayer(beneath, settings).complete(ask(**fields))
    assert answer.metadata["request_signature_algorithm"] == signing
    return answer.metadata["request_signature"]


def is_valid(signature: str, sent: Any, signing: Algorithm, **changes: Any) -> bool:
    values = {
        "messages": sent.messages,
        "tools": sent.tools,
        "options": sent.options,
        "provider": "fake",
        "model": "small",
        "key": KEYS[signing][1],
        "algorithm": signing,
    }
    return verify_request(signature, **{**values, **changes})


@pytest.mark.parametrize("signing", KEYS)
async def test_a_signature_holds_for_what_was_sent_alone(signing: Algorithm) -> None:
    beneath = FakeStep()
    options = {"max_tokens": 5, "temperature": 0.5}

    signature = await signed(
        signing, beneath, text="to ada@example.com", tools=[TOOL], options=options
    )

    (sent,) = beneath.calls
    assert sent.messages[0].content == "to [PII:EMAIL]"
    assert is_valid(signature, sent, signing)
    for changes in (
        {"messages": [Message(role="user", content="to ada@example.com")]},
        {"tools": None},
        {"options": {"max_tokens": 6, "temperature": 0.5}},
        {"options": {"stop": object()}},
        {"provider": "other"},
        {"model": "large"},
    ):
        assert not is_valid(signature, sent, signing, **changes)
    changed = signature[:-1] + ("1" if signature[-1] == "0" else "0")
    assert not is_valid(changed, sent, signing)
    assert not is_valid("no signature", sent, signing)


async def test_hmac_signs_the_canonical_json_of_the_request() -> None:
    signature = await signed("hmac-sha256", FakeStep(), text="Hi", options={"temperature": 1.0})

    request = (
        b'{"messages":[{"content":"Hi","role":"user"}],"model":"small",'
        b'"options":{"temperature":1},"provider":"fake","tools":[]}'
    )
    assert signature == hmac.new(SECRET.encode(), request, hashlib.sha256).hexdigest()


async def test_the_response_of_a_stream_has_the_signature() -> None:
    beneath, pieces = FakeStep(), list[Piece]()
    settings = SecuritySettings(signing="hmac-sha256", signing_key=lambda: SECRET)

    await take(SecurityLayer(beneath, settings).stream(ask()), pieces)

    response = pieces[-1]
    assert isinstance(response, LLMResponse)
    signature = response.metadata["request_signature"]
    assert is_valid(signature, beneath.calls[0], "hmac-sha256")


def layer(**settings: Any) -> SecurityLayer:
    return SecurityLayer(FakeStep(), SecuritySettings.model_validate(settings))


def test_the_key_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", SECRET)
    layer(signing="hmac-sha256", signing_key_env="OUR_KEY")

    monkeypatch.delenv("OUR_KEY")
    with pytest.raises(ArcLLMConfigError, match="set `signing_key` or the environment variable"):
        layer(signing="hmac-sha256", signing_key_env="OUR_KEY")


@pytest.mark.parametrize(
    ("signing", "key", "reason"),
    [
        ("hmac-sha256", "short", "has 5 bytes; use at least 16"),
        ("ecdsa-p256", "no key at all", "is not readable as PEM"),
        ("ecdsa-p256", PUBLIC, "is not readable as PEM"),
        ("ecdsa-p256", pem(ec.generate_private_key(ec.SECP384R1()))[0], "private key of curve P"),
        ("ecdsa-p256", pem(rsa.generate_private_key(65537, 2048))[0], "private key of curve P"),
    ],
)
def test_a_key_that_cannot_be_used_is_an_error_that_does_not_show_it(
    signing: str, key: str | bytes, reason: str
) -> None:
    with pytest.raises(ArcLLMConfigError, match=reason) as caught:
        layer(signing=signing, signing_key=key)

    assert str(key) not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_public_key_of_another_kind_is_an_error() -> None:
    for key in (pem(ec.generate_private_key(ec.SECP384R1()))[1], b"none"):
        with pytest.raises(ArcLLMConfigError):
            verify_request("00", [], provider="", model="", key=key, algorithm="ecdsa-p256")


def test_the_key_is_in_no_repr() -> None:
    settings = SecuritySettings(signing="hmac-sha256", signing_key=SECRET)
    security = SecurityLayer(FakeStep(), settings)

    assert SECRET not in repr(settings) + repr(security) + repr(vars(security))


def test_ecdsa_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)

    with pytest.raises(ArcLLMConfigError, match=r"install `amplifier-core\[signing\]`"):
        layer(signing="ecdsa-p256", signing_key=PRIVATE)


async def test_a_request_that_is_no_json_cannot_be_signed() -> None:
    security = layer(signing="hmac-sha256", signing_key=SECRET)

    with pytest.raises(ArcLLMConfigError, match="a request that is no JSON cannot be signed"):
        await security.complete(ask(options={"temperature": float("nan")}))
