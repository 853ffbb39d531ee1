"""What models without native tools read about calls."""

from __future__ import annotations

from typing import Literal

ToolFormat = Literal["json", "xml"]
"""The form of the calls that a model is asked for."""
TOOLS_PLACE = "{tools}"
"""The place of the list of tools."""
RESULT_TAG = "tool_result"
TAG_PLACE = "{tag}"
PROMPT = f"""You can call tools. Write a call as in the examples, between <{TAG_PLACE}> and \
</{TAG_PLACE}>, with arguments that fit the tool. Write nothing else between the tags, use them only \
for calls, and end your message after the last call. A call in a code block, inline code, a comment \
or a quotation does not run. The results follow in the next message, each in \
<{RESULT_TAG}>.

The tools:
{TOOLS_PLACE}"""
"""What a model reads without a `tool_prompt`."""
