"""What the site does with links that leave `docs`: it shows the path, for the files are not in it."""

from __future__ import annotations

import re
from typing import Any

_LEAVES = re.compile(r"\[([^\]]*)\]\((?:\.\./)+((?!\.\./)[^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace each link from a page to a file outside of `docs`."""
    depth = page.file.src_uri.count("/")

    def shown(found: re.Match[str]) -> str:
        leaves = found[0].count("../") > depth
        return f"{found[1]} (`{found[2]}`)" if leaves else found[0]

    return _LEAVES.sub(shown, markdown)
