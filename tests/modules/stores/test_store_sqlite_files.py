"""The files of `store-sqlite`: who can read them, and what is said where one cannot be used."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.stores import (
    Claim,
    DamagedSessionError,
    NewerStoreError,
    NewSession,
    StoreError,
)
from amplifier_modules.stores.sqlite import SqliteStore, open_store, schema


@pytest.fixture(params=["persist", "wal"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteStore:
    return SqliteStore(folder=str(tmp_path / "sessions"), journal_mode=request.param)


async def begin(store: SqliteStore, id: str) -> Claim:
    claim = await store.claim(id, "me", new=NewSession())
    return await store.append(claim, [("a", 1)])


def alter(store: SqliteStore, id: str, *statements: str) -> None:
    with sqlite3.connect(store.folder / f"{id}.sessions") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


async def test_only_the_user_can_read_them(store: SqliteStore) -> None:
    await begin(store, "one")
    await store.fork("one", "two")
    await store.sessions()
    modes = {
        name: stat.S_IMODE(os.stat(store.folder / name).st_mode)
        for name in os.listdir(store.folder)
    }
    assert {name.partition(".")[2] for name in modes} >= {"sessions", "link", "json"}
    assert {*modes.values()} == {0o600}
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    await store.close()


async def test_a_file_of_a_newer_version_is_refused_by_name(store: SqliteStore) -> None:
    await begin(store, "one")
    await store.close()
    alter(store, "one", "PRAGMA user_version = 99")
    with pytest.raises(NewerStoreError, match=r"one\.sessions` has schema 99, and this version"):
        await store.read("one")
    await store.close()


async def test_a_file_of_an_earlier_version_takes_entries_that_are_due(store: SqliteStore) -> None:
    claim = await begin(store, "one")
    await store.close()
    alter(store, "one", "ALTER TABLE inbox DROP COLUMN due")
    await store.put("one", "prompt", "whenever")
    await store.end(claim)
    await store.put("one", "prompt", "soon", due=10.0)
    assert [each.body for each in await store.inbox("one")] == ["whenever", "soon"]
    claim = await store.claim("one", "me")
    await store.end(claim)
    assert [each.due for each in await store.sessions()] == [10.0]
    await store.close()


async def test_what_is_no_file_of_sessions_is_left_out_of_lists(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    await begin(store, "one")
    (store.folder / "text.sessions").write_text("hello " * 1000)
    other = sqlite3.connect(store.folder / "other.sessions")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with caplog.at_level(logging.WARNING):
        assert [each.id for each in await store.sessions()] == ["one"]
    assert sorted(caplog.messages) == [
        f"`{store.folder}/other.sessions` is left out: `{store.folder}/other.sessions` is no file of sessions",
        f"`{store.folder}/text.sessions` is left out: file is not a database",
    ]
    await store.close()


async def test_a_link_out_of_the_folder_is_damage(store: SqliteStore) -> None:
    await begin(store, "one")
    await store.fork("one", "two")
    (store.folder / "two.link").write_text("../other.sessions")
    await store.close()
    again = SqliteStore(folder=str(store.folder))
    with pytest.raises(DamagedSessionError, match="names no file of sessions"):
        await again.read("two")
    await again.close()


async def test_a_long_text_is_stored_once_and_removed_with_its_last_session(
    store: SqliteStore,
) -> None:
    def list_parts(id: str) -> list[int]:
        with closing(sqlite3.connect(store.folder / f"{id}.sessions")) as connection:
            return [length for (length,) in connection.execute("SELECT length(body) FROM blob")]

    text = "ab" * 300_000
    claim = await begin(store, "one")
    claim = await store.append(claim, [("a", {"text": text}), ("b", [text, text + "c"])])
    assert sorted(list_parts("one")) == [75_712, 75_713, 262_144]
    assert [each.body for each in await store.read("one", after=2)] == [
        {"text": text},
        [text, text + "c"],
    ]
    await store.fork("one", "two", at=3)
    await store.delete("one")
    assert sorted(list_parts("one")) == [75_712, 262_144]
    assert (await store.read("two"))[2].body == {"text": text}
    await store.close()


async def test_a_full_disk_stores_nothing_of_what_did_not_fit(store: SqliteStore) -> None:
    claim = await begin(store, "one")
    (file,) = store._files._open.values()
    file._connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StoreError, match=r"`one` cannot be stored in .*: database or disk is full"):
        await store.append(claim, [("b", "x" * 40_000), ("c", "y" * 40_000)])
    assert [each.kind for each in await store.read("one")][1:] == ["a"]
    await store.append(claim, [("b", 2)])
    await store.close()


async def test_a_file_that_another_holds_is_refused_after_a_while(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_WAIT_SECONDS", 0.01)
    claim = await begin(store, "one")
    other = sqlite3.connect(store.folder / "one.sessions", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        StoreError, match="`one` cannot be stored: another process writes to its file"
    ):
        await store.append(claim, [("b", 2)])
    other.execute("ROLLBACK")
    other.close()
    await store.append(claim, [("b", 2)])
    await store.close()


async def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = SqliteStore(folder=str(tmp_path / "file"))
    with pytest.raises(StoreError, match=r"the store in `.*/file` cannot be used"):
        await store.claim("one", "me", new=NewSession())
    with pytest.raises(StoreError, match=r"the store in `.*/file` cannot be used"):
        await store.sessions()
    await store.close()


async def test_lists_do_not_need_what_is_kept_beside_the_files(store: SqliteStore) -> None:
    for id in ("one", "two"):
        await begin(store, id)
    expected = await store.sessions()
    for text in ("", "[]", '{"form": 1, "files": {"one.sessions": 3}}', '{"form": 9}'):
        (store.folder / "list.json").write_text(text)
        assert await store.sessions() == expected
    await store.close()


async def test_sessions_of_one_process_share_a_store(tmp_path: Path) -> None:
    config: dict[str, Any] = {"folder": str(tmp_path)}
    first = open_store(config)
    assert open_store(config) is first
    assert open_store({**config, "journal_mode": "wal"}) is not first


async def test_a_forked_process_has_connections_of_its_own(store: SqliteStore) -> None:
    claim = await begin(store, "one")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of threads, whose forks are tested here
        child = os.fork()
    if child == 0:
        import asyncio

        async def append() -> None:
            theirs = await store.claim("one", "child")
            await store.append(theirs, [("b", 2)])

        code = 1
        try:
            asyncio.run(append())
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)  # noqa: ASYNC222 -- nothing else runs
    assert os.waitstatus_to_exitcode(status) == 0
    assert [each.kind for each in await store.read("one")][1:] == ["a", "b"]
    with pytest.raises(StoreError, match="taken over"):
        await store.append(claim, [("c", 3)])
    await store.close()
