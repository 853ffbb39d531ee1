"""Keys, of OpenAI and of Azure."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.refusal import Refusal, RefusedError
from .refusals import INVALID, make_invalid

_AZURE = (
    "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a"
    " valid key for an active subscription and use a correct regional API endpoint for your"
    " resource."
)


def check_key(headers: Mapping[str, str], api_key: str | None, *, is_azure: bool) -> None:
    """A key is there, as a bearer token or on Azure in `api-key`, and it is the right one."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    given = bearer.strip() if scheme.lower() == "bearer" else ""
    if is_azure:
        given = headers.get("api-key") or given
        if not given or (api_key is not None and given != api_key):
            raise RefusedError(Refusal(401, "", _AZURE, None, "401"))
        return
    if not given:
        raise RefusedError(
            Refusal(
                401,
                INVALID,
                "You didn't provide an API key. You need to provide your API key in an"
                " Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            )
        )
    if api_key is not None and given != api_key:
        raise RefusedError(
            Refusal(
                401,
                INVALID,
                f"Incorrect API key provided: {given[:3]}***. You can find your API key at"
                " https://platform.openai.com/account/api-keys.",
                None,
                "invalid_api_key",
            )
        )


def check_content_type(headers: Mapping[str, str]) -> None:
    """The body says that it is JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise make_invalid(
            f"Unsupported content type: '{kind}'. This API method only accepts 'application/json'"
            " requests.",
            None,
            "unsupported_content_type",
        )
