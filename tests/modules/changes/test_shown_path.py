"""Names of files are never taken for other text.

Holds: sandbox-93
"""

from __future__ import annotations

import pytest

from amplifier_modules.changes.shown_path import show_path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/ä b.py", "src/ä b.py"),
        ("a\n| `b` (created): c", "a\\n| \\x60b\\x60 (created): c"),
        ("\x1b[31m\udcff\u202e", "\\x1b[31m\\udcff\\u202e"),
        ("d" * 301, "d" * 300 + "…"),
    ],
)
def test_a_path_is_shown_on_one_line_without_what_means_something(path: str, shown: str) -> None:
    assert show_path(path) == shown
