"""One handler of an event: called, and its answer read."""

from __future__ import annotations

import logging
from typing import Any

from .._hook_result import HookResult
from ..event_loop import is_awaitable
from ..plain_data import dump_model
from .answer_mistakes import is_mistaken, judge_mistake
from .argument import make_refusal
from .dispatch import Dispatch, Registration
from .hook_answer import check_action, make_denial, read_answer, result_of
from .own_failure import is_own_failure
from .payload import take_payload
from .timeout import EXPIRED, await_within

logger = logging.getLogger("amplifier_core.hooks")


async def ask_handler(
    hooks: Any, registration: Registration, event: str, dispatch: Dispatch
) -> HookResult | None:
    """Have one handler judge an event, and return its denial if it denies."""
    payload, seconds = dispatch.payload, registration.timeout
    handed_out = payload.hand_out()
    try:
        value = registration.handler(event, handed_out)
        if value is not None and is_awaitable(value):
            if seconds is None:
                value = await value
            else:
                what = f"hook `{registration.name}` on `{event}`"
                value = await await_within(value, seconds, what)
    except BaseException as error:
        if not is_own_failure(error):
            raise
        return _skip_or_deny(registration, event, "failed", logging.ERROR, error)
    if value is None or registration.is_observer:
        return None
    if seconds is not None and value is EXPIRED:
        return _skip_or_deny(registration, event, "timed out", logging.WARNING)
    try:
        result = result_of(value)
        answer = read_answer(result, payload)
    except Exception as error:
        logger.error(
            "SECURITY: hook `%s` returned an invalid response to `%s`; denying",
            registration.name,
            event,
            exc_info=error,
        )
        return make_denial("Hook handler returned invalid response")
    if is_mistaken(result):
        denial = judge_mistake(hooks, event, registration.name, registration.handler, result)
        if denial is not None:
            return denial
    if answer is None:
        return None
    if answer.action == "deny":
        return answer.result
    dispatch.accept(event, registration.name, answer)
    return None


def _skip_or_deny(
    registration: Registration,
    event: str,
    what: str,
    level: int,
    error: BaseException | None = None,
) -> HookResult | None:
    """Skip a handler that gave no answer, or deny where its failure does."""
    failure = f"hook `{registration.name}` {what} on `{event}`"
    if not registration.fail_closed:
        logger.log(level, "%s; continuing", failure, exc_info=error)
        return None
    logger.error("SECURITY: %s; denying", failure, exc_info=error)
    return make_denial(failure)


def read_answer_data(answer: Any, result: HookResult) -> dict[str, Any] | None:
    """Return the data of an answer in JSON form, if there is any."""
    # The fields of a dict are event data; those of a model have the JSON form of models.
    data: Any = result.data if issubclass(type(answer), dict) else _dump_data(result)
    if data is None:
        return None
    if not issubclass(type(data), dict):
        raise make_refusal(data, "dict")
    return take_payload(data).hand_out()


def _dump_data(result: HookResult) -> Any:
    check_action(result)
    return dump_model(result)["data"]
