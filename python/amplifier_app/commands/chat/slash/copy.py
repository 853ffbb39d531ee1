"""`/copy`: an answer, or its last block of code, into the clipboard."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.messages import list_texts

_CODE = re.compile(r"^([ ]{0,3})(```+|~~~+)[^\n]*\n(.*?)^\1\2[ \t]*$", re.DOTALL | re.MULTILINE)


def list_answers(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what the model said, the last one first, without calls alone."""
    texts = (
        "\n".join(list_texts(each)).strip() for each in messages if each.get("role") == "assistant"
    )
    return [each for each in texts if each][::-1]


def find_code(text: str) -> str | None:
    """Return the last block of code in an answer, without its fences; None without any."""
    blocks = _CODE.findall(text)
    return blocks[-1][2] if blocks else None


async def _copy(context: CommandContext, argument: str) -> Shown:
    from amplifier_app.commands.chat.clipboard import copy_text

    answers = list_answers(await context.turns.read_messages())
    if not answers:
        return ["there is no answer to copy"]
    words = argument.lower().split()
    number = next((int(each) for each in words if each.isdecimal()), 1)
    if [each for each in words if each != "code" and not each.isdecimal()] or number < 1:
        raise Failure(
            f"`/copy {argument}` is unclear", hint="`/copy [N] [code]`", exit_code=WRONG_USAGE
        )
    if number > len(answers):
        raise Failure(f"there are {len(answers)} answers", hint="`/copy 1` is the last one")
    text = answers[number - 1]
    if "code" in words:
        code = find_code(text)
        if code is None:
            return ["the answer has no block of code"]
        text = code
    took = await asyncio.to_thread(copy_text, SECRETS.redact(text), os.environ)
    if took is None:
        hint = "install `wl-copy` or `xclip`, or use `/export FILE`"
        raise Failure("there is no clipboard that can be used", hint=hint)
    return [f"{len(text):,} characters are copied by {took}"]


COPY = Command(
    name="/copy",
    usage="[N] [code]",
    brief="copy an answer",
    about="Copy the last answer into the clipboard; `/copy 2`: the one before; `/copy code`: its last"
    " block of code.",
    group=Group.SESSION,
    run=_copy,
    waits=wait_always,
)
