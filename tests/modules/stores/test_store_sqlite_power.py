"""What a store has on the disk when it says so; `make prove` loses the power 100,000 times."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from amplifier_modules.stores import NewSession, StoreError
from amplifier_modules.stores.sqlite import SqliteStore, folder, schema


# Holds: store-34
@pytest.mark.parametrize("mode", ["persist", "wal"])
async def test_a_session_is_listed_whose_process_ended_while_it_wrote(
    tmp_path: Path, mode: str
) -> None:
    store = SqliteStore(folder=str(tmp_path / "before"), journal_mode=mode)
    await store.claim("one", "me", new=NewSession())
    before = await store.read("one")
    path = store.folder / "one.sessions"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # writes to the file before it commits
        connection.execute("BEGIN IMMEDIATE")
        (place,) = connection.execute("SELECT max(place) FROM event").fetchone()
        rows = [(place + number, 1, "kind", "x" * 4000, 0) for number in range(1, 200)]
        connection.executemany(
            "INSERT INTO event (place, epoch, kind, body, crc) VALUES (?, ?, ?, ?, ?)", rows
        )
        after = SqliteStore(folder=str(tmp_path / "after"), journal_mode=mode)
        after.folder.mkdir()
        for name in os.listdir(store.folder):
            if not name.endswith("-shm"):
                shutil.copy(store.folder / name, after.folder)
    await store.close()
    assert [info.id for info in await after.sessions()] == ["one"]
    assert await after.read("one") == before
    await after.close()


# Holds: store-31
async def test_the_names_of_files_and_of_their_folders_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(schema, "sync_folder", synced.append)
    monkeypatch.setattr(folder, "sync_folder", synced.append)
    store = SqliteStore(folder=str(tmp_path / "new" / "sessions"))
    await store.claim("one", "me", new=NewSession())
    assert synced == [tmp_path / "new", tmp_path, store.folder]
    synced.clear()
    await store.claim("two", "me", new=NewSession(parent="one"))
    assert synced == [store.folder]
    synced.clear()
    await store.delete("one")
    assert {*synced} == {store.folder}
    assert [name for name in os.listdir(store.folder) if name != "list.json"] == []
    await store.close()


# Holds: store-31
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
async def test_a_session_whose_name_cannot_be_synced_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store = SqliteStore(folder=str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail_on_folders(number))
        with pytest.raises(StoreError, match=f"cannot be used: .*{os.strerror(number)}"):
            await store.claim("one", "me", new=NewSession())
    assert os.listdir(tmp_path) == []
    await store.claim("one", "me", new=NewSession())
    await store.close()


async def test_a_file_system_that_syncs_no_folder_can_have_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(folder=str(tmp_path))
    monkeypatch.setattr(os, "fsync", fail_on_folders(errno.EINVAL))
    await store.claim("one", "me", new=NewSession())
    await store.close()


def fail_on_folders(number: int) -> Callable[[int], None]:
    sync = os.fsync

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        sync(descriptor)

    return fail
