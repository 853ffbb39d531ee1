"""Rules for the headers and the parameters of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..serving.reading import read_mapping, read_text
from ..serving.refusal import Refusal, RefusedError
from .judged_request import JudgedRequest
from .models import check_held_schema
from .refusals import make_invalid, of_status
from .shapes import (
    METADATA,
    OUTPUT_CONFIG,
    OUTPUT_FORMAT,
    THINKING,
    check_fields,
    check_tagged,
)

MIN_BUDGET_TOKENS = 1_024
MIN_TOP_P = 0.95
"""The least `top_p` while the model thinks."""
_DOCUMENTATION = "Please consult our documentation at https://docs.claude.com/"
_SERVICE_TIERS = ("auto", "standard_only")
_MAX_USER_ID = 256
_VERSION = re.compile(r"20\d\d-[01]\d-[0-3]\d")


def check_key(headers: Mapping[str, str], api_key: str | None) -> None:
    """A key is there, in `x-api-key` or as a bearer token, and it is the right one."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    token = bearer.strip() if scheme.lower() == "bearer" else ""
    given = headers.get("x-api-key") or token
    if not given:
        raise RefusedError(of_status(401, "x-api-key header is required"))
    if api_key is not None and given != api_key:
        wrong = "invalid x-api-key" if headers.get("x-api-key") else "Invalid bearer token"
        raise RefusedError(of_status(401, wrong))


def check_version(headers: Mapping[str, str]) -> None:
    """`anthropic-version` is there, and a date."""
    version = headers.get("anthropic-version")
    if not version:
        raise make_invalid("anthropic-version: header is required")
    if not _VERSION.fullmatch(version):
        raise make_invalid(f'anthropic-version: "{version}" is not a valid version')


def check_content_type(headers: Mapping[str, str]) -> None:
    """The body says that it is JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(
            Refusal(415, "invalid_request_error", "Content type should be application/json")
        )


def check_max_tokens(asked: JudgedRequest) -> None:
    """`max_tokens` is at least 1 and at most what the model can answer."""
    tokens = asked.body["max_tokens"]
    if tokens < 1:
        raise make_invalid("Input should be greater than or equal to 1", ("max_tokens",))
    most = asked.model.max_tokens
    if "claude-3-7-sonnet" in asked.model.name and _has_beta(asked, "output-128k-2025-02-19"):
        most = 128_000
    if tokens > most:
        raise make_invalid(
            f"max_tokens: {tokens} > {most}, which is the maximum allowed number of output tokens"
            f" for {asked.body['model']}"
        )


def check_sampling(asked: JudgedRequest) -> None:
    """`temperature`, `top_p` and `top_k` are in range, and such that the model takes them."""
    given = [name for name in ("temperature", "top_p", "top_k") if name in asked.body]
    for name in given:
        value, most = asked.body[name], (float("inf") if name == "top_k" else 1)
        if value < 0:
            raise make_invalid("Input should be greater than or equal to 0", (name,))
        if value > most:
            raise make_invalid("Input should be less than or equal to 1", (name,))
    if asked.model.sampling == "none" and given:
        raise make_invalid(f"`{given[0]}` is deprecated for this model.")
    if asked.model.sampling == "one" and {"temperature", "top_p"} <= set(given):
        raise make_invalid(
            "`temperature` and `top_p` cannot both be specified for this model."
            " Please use only one."
        )


def check_stop_sequences(asked: JudgedRequest) -> None:
    """Each stop sequence is a string that is not blank."""
    for index, sequence in enumerate(asked.body.get("stop_sequences", [])):
        if not isinstance(sequence, str):
            raise make_invalid("Input should be a valid string", ("stop_sequences", index))
        if not sequence.strip():
            raise make_invalid("stop_sequences: each stop sequence must contain non-whitespace")


def check_metadata(asked: JudgedRequest) -> None:
    """`metadata` has a `user_id` at most, `service_tier` is one that exists."""
    metadata = read_mapping(asked.body.get("metadata"))
    check_fields(metadata, METADATA, ("metadata",))
    if len(read_text(metadata.get("user_id"))) > _MAX_USER_ID:
        raise make_invalid(
            f"String should have at most {_MAX_USER_ID} characters", ("metadata", "user_id")
        )
    if asked.body.get("service_tier", "auto") not in _SERVICE_TIERS:
        raise make_invalid("Input should be 'auto' or 'standard_only'", ("service_tier",))


def check_thinking(asked: JudgedRequest) -> None:
    """`thinking` is of a type that the model takes, and its budget fits."""
    if "thinking" not in asked.body:
        return
    config = asked.body["thinking"]
    kind = check_tagged(config, THINKING, ("thinking",))
    if config.get("display") not in {None, "summarized", "omitted"}:
        raise make_invalid(
            "Input should be 'summarized' or 'omitted'", ("thinking", kind, "display")
        )
    _check_thinking_of_model(asked, kind)
    if kind == "enabled":
        _check_budget(asked, config["budget_tokens"])


def _check_thinking_of_model(asked: JudgedRequest, kind: str) -> None:
    known = asked.model.thinking
    if kind in known or (kind == "disabled" and not known):
        return
    match kind:
        case "enabled" if known:
            raise make_invalid(
                '"thinking.type.enabled" is not supported for this model. Use'
                ' "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
            )
        case "enabled":
            raise make_invalid(f"'{asked.body['model']}' does not support thinking.")
        case "adaptive":
            raise make_invalid("adaptive thinking is not supported on this model")
        case _:
            raise make_invalid(f'"thinking.type.{kind}" is not supported for this model.')


def _check_budget(asked: JudgedRequest, budget: int) -> None:
    if budget < MIN_BUDGET_TOKENS:
        raise make_invalid(
            f"Input should be greater than or equal to {MIN_BUDGET_TOKENS}",
            ("thinking", "enabled", "budget_tokens"),
        )
    # With interleaved thinking the budget is that of a whole turn.
    is_interleaved = _has_beta(asked, "interleaved-thinking-2025-05-14") and asked.tools
    if budget >= asked.body["max_tokens"] and not is_interleaved:
        raise make_invalid(
            f"`max_tokens` must be greater than `thinking.budget_tokens`. {_DOCUMENTATION}"
        )


def check_sampling_while_thinking(asked: JudgedRequest) -> None:
    """A model that thinks takes no other temperature than 1, no `top_k`, a high `top_p`."""
    if asked.thinking not in {"enabled", "adaptive", "between_tools"}:
        return
    if asked.body.get("temperature", 1) != 1:
        raise make_invalid(
            f"`temperature` may only be set to 1 when thinking is enabled. {_DOCUMENTATION}"
        )
    if "top_k" in asked.body:
        raise make_invalid(f"`top_k` must be unset when thinking is enabled. {_DOCUMENTATION}")
    if asked.body.get("top_p", 1) < MIN_TOP_P:
        raise make_invalid(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
            f" {_DOCUMENTATION}"
        )


def check_output_config(asked: JudgedRequest) -> None:
    """`output_config` has an effort that the model knows, and a schema that can be held."""
    config = read_mapping(asked.body.get("output_config"))
    check_fields(config, OUTPUT_CONFIG, ("output_config",))
    effort = config.get("effort")
    if effort is not None:
        _check_effort(asked, effort)
    for path, given in (
        (("output_config", "format"), config.get("format")),
        (("output_format",), asked.body.get("output_format")),
    ):
        if given is not None:
            check_tagged(given, OUTPUT_FORMAT, path, deeper=False)
            check_held_schema(given["schema"], (*path, "schema"))


def _check_effort(asked: JudgedRequest, effort: str) -> None:
    if not asked.model.efforts:
        raise make_invalid("This model does not support the effort parameter.")
    if effort not in {"low", "medium", "high", "xhigh", "max"}:
        raise make_invalid(
            "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'", ("output_config", "effort")
        )
    if effort not in asked.model.efforts:
        raise make_invalid(f"This model does not support effort level '{effort}'.")
    # Of Claude Opus 5 alone: https://platform.claude.com/docs/models/opus-5/overview
    is_off = asked.model.name == "claude-opus-5" and asked.thinking == "disabled"
    if is_off and effort in {"xhigh", "max"}:
        raise make_invalid("thinking can only be disabled at effort 'high' or below")


def _has_beta(asked: JudgedRequest, name: str) -> bool:
    betas = asked.headers.get("anthropic-beta", "").split(",")
    return name in {beta.strip() for beta in betas}
