"""Questions of servers, put to the person as questions of the call that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_guard import TerminalText
from amplifier_modules.tool.context import PersonAnswer

from .form import Field, Form, FormError
from .open_call import MAX_QUESTIONS, OpenCall

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult

_MAX_MESSAGE_CHARS = 2000
_MAX_TRIES = 3


async def answer_question(server: str, call: OpenCall, params: ElicitRequestParams) -> ElicitResult:
    """Return what a person says to a question of a server.

    Yes accepts, with the values that it means; no declines. What is said in words is the value of a
    field that is asked for alone, and a JSON object fills in all of them.
    """
    from mcp.types import ElicitResult

    try:
        if params.mode == "url":
            answer = await _ask_person(server, call, params, f"it wants you to open {params.url}\n")
            return ElicitResult(action="accept" if answer.is_yes else "decline")
        content = await _fill_in(server, call, params, Form(params.requested_schema))
    except _NotAskedError:
        return ElicitResult(action="cancel")
    except FormError:
        return ElicitResult(action="decline")
    if content is None:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=content)


class _NotAskedError(Exception):
    """Nobody has answered."""


async def _fill_in(server: str, call: OpenCall, params: Any, form: Form) -> dict[str, Any] | None:
    """Return a form as a person has filled it in; None for a no.

    Raises:
        FormError: What the person said does not fit.
    """
    about = "".join(f"{each.describe()}\n" for each in form.fields)
    typed = [each for each in form.fields if each.is_typed and each.default is None]
    if len(form.fields) == 1 and typed:
        about += f"what you say in words is sent as `{typed[0].name}`; a no alone sends nothing\n"
    answer = await _ask_person(server, call, params, about, form.parts)
    if not answer.is_yes:
        return form.read(answer.words) if answer.words else None
    content = form.accept(answer.parts)
    for field in form.fields:
        if field.name not in content and field.is_required:
            value = await _ask_value(server, call, params, field)
            if value is None:
                return None
            content[field.name] = value
    form.check(content)
    return content


async def _ask_value(server: str, call: OpenCall, params: Any, field: Field) -> Any:
    """Ask for the value of one field; return None for a no."""
    problem = ""
    for _ in range(_MAX_TRIES):
        about = f"{problem}{field.describe()}\nsay it in words; a no alone sends nothing\n"
        answer = await _ask_person(server, call, params, about, tuple(field.options))
        try:
            if answer.is_yes:
                return field.choose(answer.parts or tuple(field.options))
            return field.read(answer.words) if answer.words else None
        except FormError as error:
            problem = f"{error}\n"
    return None


async def _ask_person(
    server: str, call: OpenCall, params: Any, about: str, parts: tuple[str, ...] = ()
) -> PersonAnswer:
    """Ask a person.

    Raises:
        _NotAskedError: Nobody has answered, or the call has asked often enough.
    """
    call.questions += 1
    if call.questions > MAX_QUESTIONS:
        raise _NotAskedError
    message = TerminalText.show(params.message[:_MAX_MESSAGE_CHARS])
    rows = "".join(f"| {line}\n" for line in message.splitlines())
    question = f"the server `{TerminalText.line(server)}` asks:\n{rows}{TerminalText.show(about)}"
    data: dict[str, Any] = {"server": server, "message": params.message}
    if params.mode == "url":
        data["url"] = params.url
    else:
        data["schema"] = params.requested_schema
    answer = await call.ask(question.rstrip("\n"), data, parts)
    if not answer.is_answered:
        raise _NotAskedError
    return answer
