"""Each promise of CONTRACTS.md is a short row that a test holds, and says which."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import promises
from promises import CHECKOUT, MAX_ROW, Mention, find_long_rows, find_mentions, read_rows

CONTRACTS = (CHECKOUT / "CONTRACTS.md").read_text()


@cache
def mentions() -> list[Mention]:
    """What the tests of this checkout name."""
    return find_mentions(CHECKOUT)


def test_the_column_is_what_the_tests_name() -> None:
    # `python tests/contract/promises.py` writes it.
    assert promises.write_holders(CONTRACTS, mentions()).splitlines() == CONTRACTS.splitlines()


def test_every_promise_is_held_by_a_test() -> None:
    named = {mention.promise for mention in mentions()}

    assert [promise for promise in read_rows(CONTRACTS) if promise not in named] == []


def test_every_test_names_a_promise_that_is_there() -> None:
    there = read_rows(CONTRACTS)

    assert [mention for mention in mentions() if mention.promise not in there] == []


def test_every_line_that_names_a_promise_stands_at_a_test() -> None:
    assert [mention for mention in mentions() if not mention.is_at_a_test] == []


def test_no_row_is_long() -> None:
    assert find_long_rows(CONTRACTS) == []


def test_every_model_of_threads_and_every_planted_fault_is_of_a_promise() -> None:
    models = CHECKOUT / "crates/amplifier-core/src/runtime/interleavings/small"
    faults = CHECKOUT / "tests/proof/test_planted_faults.py"
    sources = [*sorted(models.glob("*.rs")), faults]
    starts = re.compile(r'((?:.*\n){1})(?:#\[test\]|    "\w+": Fault\()')
    before = [match[1] for path in sources for match in starts.finditer(path.read_text())]

    assert before
    assert [line for line in before if "Holds: thread-" not in line] == []


DOCUMENT = """\
## Promises

| Id | Promise | Held by |
|---|---|---|
| stream-1 | it ends | |
| stream-2 | it `a \\| b` | `gone.py` |

## Tables

| stream-3 | no promise |
"""


def test_the_tests_of_python_and_of_rust_are_found(tmp_path: Path) -> None:
    (tmp_path / "tests/stream").mkdir(parents=True)
    (tmp_path / "crates/c/src").mkdir(parents=True)
    (tmp_path / "tests/stream/test_a.py").write_text(
        "# Holds: stream-1, stream-2\n@mark\ndef test_a(): ...\n"
    )
    (tmp_path / "tests/stream/test_b.py").write_text('"""B.\n\nHolds: stream-2\n"""\n')
    (tmp_path / "crates/c/src/a.rs").write_text(
        "    // Holds: stream-2\n    #[test]\n    fn a() {}\n"
    )
    (tmp_path / "CONTRACTS.md").write_text(DOCUMENT)

    promises.write_document(tmp_path)

    found = (tmp_path / "CONTRACTS.md").read_text()
    assert read_rows(found) == {
        "stream-1": ["it ends", "`stream/test_a.py`"],
        "stream-2": [
            "it `a \\| b`",
            "`crates/c/src/a.rs`, `stream/test_a.py`, `stream/test_b.py`",
        ],
    }


@pytest.mark.parametrize("text", ["# Holds: stream-1\nx = 1\n", "# Holds: stream-1\n"])
def test_a_line_without_a_test_is_seen(text: str, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text(text)

    assert find_mentions(tmp_path) == [Mention("stream-1", "test_a.py", 1, False)]


def test_an_id_that_is_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two promises have the id `stream-1`; take a new number"):
        read_rows(DOCUMENT.replace("stream-2", "stream-1"))


def test_a_row_may_have_300_characters() -> None:
    longest = f"| {'x' * (MAX_ROW - 4)} |"

    assert find_long_rows(f"{longest}\n{'x' * 400}\n{longest} \n") == [f"{longest} "]
