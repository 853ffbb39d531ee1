"""Rules for messages and what they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from ..openai.images import check_detail, check_image_url
from ..openai.refusals import as_object, check_fields, check_value, make_invalid, write_place
from ..serving.fields import Fields, Path
from ..serving.reading import Json, read_text
from .judged_request import (
    ASSISTANT_PARTS,
    DOCUMENT_PARTS,
    IMAGE_URL,
    TEXT_PARTS,
    THINKING_PARTS,
    USER_PARTS,
    JudgedRequest,
    calls_of,
)

_NEXT = {"user": "assistant", "assistant": "user"}
_NAME = re.compile(r"[^\s<|\\/>]+")


def check_some_message(asked: JudgedRequest) -> None:
    """There is a message."""
    if not asked.messages:
        raise _make_empty_error("array", ("messages",))


def check_names(asked: JudgedRequest) -> None:
    """The name of who speaks has plain characters."""
    for path, message in asked.of_role("system", "developer", "user", "assistant"):
        name = message.get("name")
        if name is not None and not _NAME.fullmatch(name):
            where = write_place((*path, "name"))
            raise make_invalid(
                f"Invalid '{where}': string does not match pattern. Expected a string that matches"
                " the pattern '^[^\\s<|\\\\/>]+$'.",
                where,
                "invalid_value",
            )


def check_content(asked: JudgedRequest) -> None:
    """A message says something; an assistant's may hold calls instead."""
    for path, message in asked.of_role("system", "developer", "user", "assistant"):
        content = message.get("content")
        here = (*path, "content")
        if message["role"] == "assistant":
            has_more = bool(calls_of(message) or message.get("refusal"))
            if has_more or message.get("audio") or message.get("function_call"):
                continue
            if content is None:
                raise make_invalid(
                    "Invalid value for 'content': expected a string, got null.",
                    f"messages.[{path[1]}].content",
                )
        if not content:
            raise _make_empty_error("string" if content == "" else "array", here)


def check_parts(asked: JudgedRequest) -> None:
    """Parts of a message are of the types of its role."""
    for index, message in enumerate(asked.messages):
        content = message.get("content")
        if not isinstance(content, list):
            continue
        kinds = _choose_kinds(asked, message["role"])
        for number, value in enumerate(content):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            path: Path = ("messages", index, "content", number)
            part = as_object(value, path)  # pyright: ignore[reportUnknownArgumentType]
            check_value(part.get("type"), kinds, (*path, "type"))
            inner = {name: part[name] for name in part if name != "type"}
            check_fields(inner, kinds[part["type"]], path)
            if part["type"] == "text" and not part["text"]:
                raise _make_empty_error("string", (*path, "text"))
            if part["type"] == "image_url":
                _check_image(asked, part, path)


def _choose_kinds(asked: JudgedRequest, role: str) -> Mapping[str, Fields]:
    match role:
        case "user":
            return DOCUMENT_PARTS if asked.preset.document_urls else USER_PARTS
        case "assistant" if asked.preset.reasoning_field == "parts":
            return {**ASSISTANT_PARTS, **THINKING_PARTS}
        case "assistant":
            return ASSISTANT_PARTS
        case _:
            return TEXT_PARTS


def _check_image(asked: JudgedRequest, part: Json, path: Path) -> None:
    if not (asked.model.vision and asked.preset.vision):
        raise make_invalid(
            "Invalid content type. image_url is only supported by certain models.",
            f"messages.[{path[1]}].content.[{path[3]}].type",
        )
    here = (*path, "image_url")
    check_fields(part["image_url"], IMAGE_URL, here)
    check_detail(part["image_url"].get("detail"), (*here, "detail"))
    check_image_url(part["image_url"]["url"], (*here, "url"))


def check_alternation(asked: JudgedRequest) -> None:
    """Behind a strict template, roles alternate and the system speaks first."""
    if not asked.preset.alternates:
        return
    expected = "user"
    for index, message in enumerate(asked.messages):
        role = read_text(message["role"])
        if role in {"system", "developer"}:
            if index > 0:
                raise make_invalid("System message must be at the beginning.")
        elif role == "tool":
            expected = "assistant"  # that results have calls is another rule
        elif role != expected:
            raise make_invalid(
                "After the optional system message, conversation roles must alternate"
                " user/assistant/user/assistant/..."
            )
        else:
            expected = _NEXT[role]


def check_order(asked: JudgedRequest) -> None:
    """Behind a tool comes no user, and at the end no assistant, where the vendor says so."""
    roles = [read_text(message["role"]) for message in asked.messages]
    if not asked.preset.user_after_tool:
        for before, role in pairwise(roles):
            if before == "tool" and role == "user":
                raise make_invalid("Unexpected role 'user' after role 'tool'", None, "3230")
    is_open = asked.messages[-1].get("prefix") is True
    if not asked.preset.ends_with_assistant and roles[-1] not in {"user", "tool"} and not is_open:
        raise make_invalid(
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got"
            f" {roles[-1]}",
            None,
            "3230",
        )


def _make_empty_error(kind: str, path: Path) -> Exception:
    article = "an" if kind == "array" else "a"
    return make_invalid(
        f"Invalid '{write_place(path)}': empty {kind}. Expected {article} {kind} with minimum length 1,"
        f" but got an empty {kind} instead.",
        path,
        f"empty_{kind}",
    )
