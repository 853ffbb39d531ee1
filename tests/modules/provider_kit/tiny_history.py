"""The history of a conversation as the Messages API takes it, for the small provider."""

from __future__ import annotations

import re
from typing import Any

Block = dict[str, Any]

MISSING = "[no result]"
BEFORE = "[what was before is gone]"
GO_ON = "[go on]"


class History:
    """Turns that alternate; each call has its result in the turn behind it."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.system: list[str] = []
        self.names: dict[str, str] = {}
        """The name of each tool on the wire."""
        self.done: list[dict[str, Any]] = []
        self.open: dict[str, str] = {}
        """The calls of the last turn that wait for a result, by their own id."""
        self.results: dict[str, Block] = {}
        self.others: list[Block] = []
        self.used: set[str] = set()

    def add(self, message: dict[str, Any]) -> None:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        match message["role"]:
            case "system" | "developer":
                self.system += [block["text"] for block in self.texts(blocks)]
            case "assistant":
                self.close_user_turn()
                self.add_answer(blocks, message)
            case "tool":
                self.add_result(message["tool_call_id"], blocks)
            case _:
                self.others += self.seen(blocks)

    def turns(self) -> list[dict[str, Any]]:
        self.close_user_turn()
        if not self.done or self.done[-1]["role"] == "assistant":
            self.done.append({"role": "user", "content": [{"type": "text", "text": GO_ON}]})
        return self.done

    def texts(self, blocks: list[Block]) -> list[Block]:
        return [
            {"type": "text", "text": block["text"]}
            for block in blocks
            if block["type"] == "text" and block["text"].strip()
        ]

    def seen(self, blocks: list[Block]) -> list[Block]:
        found: list[Block] = []
        for block in blocks:
            found += self.texts([block])
            if block["type"] == "image":
                found.append({"type": "image", "source": block["source"]})
        return found

    def add_answer(self, blocks: list[Block], message: dict[str, Any]) -> None:
        parts: list[Block] = []
        is_own = (message.get("metadata") or {}).get("provider") == self.provider
        for block in blocks:
            match block["type"]:
                case "text":
                    parts += self.texts([block])
                case "thinking" | "redacted_thinking" if is_own:
                    parts.append(self.thought(block))
                case "tool_call" if block["id"] not in self.open:
                    parts.append(self.call(block))
                case _:
                    pass
        if not parts:
            return
        if not self.done or self.done[-1]["role"] == "assistant":
            text = GO_ON if self.done else BEFORE
            self.done.append({"role": "user", "content": [{"type": "text", "text": text}]})
        self.done.append({"role": "assistant", "content": parts})

    def thought(self, block: Block) -> Block:
        known = ("type", "thinking", "signature", "data")
        return {key: value for key, value in block.items() if key in known}

    def call(self, block: Block) -> Block:
        wire = self.open[block["id"]] = self.wire_id(block["id"])
        name = self.wire_name(block["name"])
        return {"type": "tool_use", "id": wire, "name": name, "input": block["input"]}

    def wire_id(self, call_id: str) -> str:
        return self.unique(re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:60] or "call")

    def wire_name(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = self.unique(re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:120] or "tool")
        return self.names[name]

    def unique(self, text: str) -> str:
        number, found = 1, text
        while found in self.used:
            number += 1
            found = f"{text}_{number}"
        self.used.add(found)
        return found

    def add_result(self, call_id: str, blocks: list[Block]) -> None:
        if call_id in self.open and call_id not in self.results:
            self.results[call_id] = self.result(self.open[call_id], self.seen(blocks))

    def result(self, wire: str, content: list[Block]) -> Block:
        return {"type": "tool_result", "tool_use_id": wire, "content": content}

    def close_user_turn(self) -> None:
        missing = [{"type": "text", "text": MISSING}]
        blocks = [
            self.results.get(call_id) or self.result(wire, missing)
            for call_id, wire in self.open.items()
        ]
        blocks += self.others
        self.open, self.results, self.others = {}, {}, []
        if not blocks:
            return
        if self.done and self.done[-1]["role"] == "user":
            self.done[-1]["content"] += blocks
        else:
            self.done.append({"role": "user", "content": blocks})
