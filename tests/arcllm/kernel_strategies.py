"""Random messages of the kernel, with all that providers put into them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies import ARGUMENTS, JSON, NAMES, TEXTS

from amplifier_core import message_models as kernel

VISIBILITY = st.sampled_from([{}, {}, {"visibility": "user"}])
IMAGE_SOURCES = st.sampled_from(
    [
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "url", "url": "https://example.org/cat.png"},
        {"type": "file", "file_id": "file_1"},
    ]
)


def fields(kind: str, **values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Blocks of a type as plain data, some of them with more than their fields."""
    known = st.fixed_dictionaries({"type": st.just(kind), **values})
    more = st.sampled_from([{}, {}, {"citations": [{"url": "u"}]}, {"item": {"id": "msg_1"}}])
    return st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()},
                     known, VISIBILITY, more)  # fmt: skip


TEXT = fields("text", text=TEXTS)
IMAGE = fields("image", source=IMAGE_SOURCES)
CALL = fields("tool_call", id=NAMES, name=NAMES, input=ARGUMENTS)
OUTPUTS = JSON | st.lists(TEXT | IMAGE, max_size=3)
RESULT = fields("tool_result", tool_call_id=NAMES, output=OUTPUTS)
THINKING = fields("thinking", thinking=TEXTS, signature=NAMES)
REDACTED = fields("redacted_thinking", data=TEXTS)
REASONING = fields("reasoning", content=st.just([]), summary=st.just([{"text": "s"}]))
UNKNOWN = fields("server_tool_use", id=NAMES, input=ARGUMENTS)
HIDDEN = THINKING | REDACTED | REASONING | UNKNOWN
BLOCKS = TEXT | CALL | HIDDEN | IMAGE | RESULT
ABOUT = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "metadata": st.fixed_dictionaries({"provider": NAMES}, optional={"model": NAMES}),
        "other": JSON.filter(lambda value: value is not None),
    },
)


def _message(role: str, content: Any, about: dict[str, Any]) -> kernel.Message:
    return kernel.Message.model_validate({**about, "role": role, "content": content})


MESSAGES = st.builds(
    _message,
    st.sampled_from(["system", "developer", "user", "assistant"]),
    TEXTS | st.lists(BLOCKS, max_size=5),
    ABOUT,
)
TOOL_MESSAGES = st.builds(
    lambda role, content, about, id: _message(role, content, {**about, "tool_call_id": id}),
    st.sampled_from(["tool", "function"]),
    TEXTS | st.lists(TEXT | IMAGE, max_size=3),
    ABOUT,
    NAMES,
)
ANSWERS = st.builds(_message, st.just("assistant"), st.lists(BLOCKS, max_size=6), ABOUT)
