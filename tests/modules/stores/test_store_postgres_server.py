"""`store-postgres` on a server: its tables, its tenants, what is said where something is wrong.

Holds: postgres-2, postgres-3, postgres-4, postgres-5
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from postgres_fixture import SERVICE, Database
from postgres_server import PASSWORD
from transaction_pooler import TransactionPooler

from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.stores import (
    Claim,
    DamagedSessionError,
    NewerStoreError,
    NewSession,
    SessionExistsError,
    Store,
    StoreError,
    UnknownSessionError,
)
from amplifier_modules.stores.errors import (
    MissingSchemaError,
    RefusedStoreError,
    UnreachableStoreError,
)
from amplifier_modules.stores.postgres import PostgresStore, open_store, schema

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def store(postgres: Database, request: pytest.FixtureRequest) -> PostgresStore:
    return PostgresStore(dsn=postgres.dsn, tenant=request.node.name)


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run(store: PostgresStore, check: Callable[[], Awaitable[Any]]) -> Any:
    async def run_check() -> Any:
        try:
            return await check()
        finally:
            await store.close()

    return asyncio.run(run_check())


# Tenants


def test_a_tenant_reaches_its_own_sessions_alone(store: PostgresStore) -> None:
    other = store.for_tenant("another")

    async def check() -> None:
        claim = await store.claim("one", "me", new=NewSession(meta={"name": "mine"}))
        claim = await store.append(claim, [("a", "x" * 100_000)])
        question = await store.put("one", "question", 1)
        asked: list[Callable[[], Awaitable[object]]] = [
            lambda: other.read("one"),
            lambda: other.claim("one", "them"),
            lambda: other.append(claim, [("b", 2)]),
            lambda: other.append(claim, [("b", 2)], done=[question]),
            lambda: other.fork("one", "two"),
            lambda: other.put("one", "answer", True),
            lambda: other.inbox("one"),
            lambda: other.renew(claim, due=1.0),
            lambda: other.end(claim),
            lambda: other.delete("one"),
        ]
        for ask in asked:
            with pytest.raises(UnknownSessionError, match="`one`"):
                await ask()
        assert await other.sessions() == []
        assert await other.take("them", now=9e9, due=None) is None
        with pytest.raises(UnknownSessionError):
            await other.claim("child", "them", new=NewSession(parent="one"))

        theirs = await other.claim("one", "them", new=NewSession())
        await other.append(theirs, [("c", 3)])
        assert [each.kind for each in await store.read("one")] == ["session:origin", "a"]
        with pytest.raises(StoreError, match=f"no entry {question}"):
            await other.append(await other.claim("one", "them"), [("d", 4)], done=[question])
        await other.delete("one")
        assert [each.id for each in await store.sessions()] == ["one"]
        assert (await store.read("one"))[1].body == "x" * 100_000

    run(store, check)


@pytest.mark.parametrize("table", ["session", "event", "blob", "inbox"])
def test_a_statement_that_forgets_the_tenant_sees_and_changes_nothing_of_others(
    store: PostgresStore,
    postgres: Database,
    table: str,
) -> None:
    async def check() -> None:
        claim = await store.claim("one", "me", new=NewSession())
        await store.append(claim, [("a", "x" * 100_000)])
        await store.put("one", "a", 1)
        connection: Any = await asyncpg.connect(postgres.dsn)
        try:
            assert await connection.fetch(f"SELECT * FROM amplifier.{table}") == []
            async with connection.transaction():
                await connection.execute("SET LOCAL amplifier.tenant = 'another'")
                assert await connection.fetch(f"SELECT * FROM amplifier.{table}") == []
                assert await connection.execute(f"DELETE FROM amplifier.{table}") == "DELETE 0"
            away = (
                f"BEGIN; SET LOCAL amplifier.tenant = '{store.settings.tenant}';"
                f" UPDATE amplifier.{table} SET tenant = 'another'"
            )
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                await connection.execute(away)
            await connection.execute("ROLLBACK")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(
                    f"ALTER TABLE amplifier.{table} DISABLE ROW LEVEL SECURITY"
                )
        finally:
            await connection.close()

    run(store, check)


def test_the_owner_of_the_tables_is_bound_too(postgres: Database) -> None:
    rows = postgres.run(
        "SELECT relname, relrowsecurity AND relforcerowsecurity AS forced,"
        f" pg_get_userbyid(relowner) = '{SERVICE}' AS owned FROM pg_class"
        " WHERE relnamespace = 'amplifier'::regnamespace AND relkind = 'r' ORDER BY relname"
    )
    assert [tuple(row) for row in rows] == [
        ("blob", True, False),
        ("event", True, False),
        ("inbox", True, False),
        ("session", True, False),
        ("version", False, False),
    ]


def test_a_worker_finds_the_tenants_that_have_something_due(store: PostgresStore) -> None:
    early, late = store.for_tenant("early"), store.for_tenant("late")

    async def list_due(now: float) -> list[str]:
        # Other tests have theirs.
        return [each for each in await store.list_due_tenants(now) if each in ("early", "late")]

    async def check() -> None:
        await late.claim("one", "me", new=NewSession(), due=20.0)
        await early.claim("one", "me", new=NewSession(), due=10.0)
        await early.claim("two", "me", new=NewSession(), due=30.0)
        assert await list_due(9.0) == []
        assert await list_due(15.0) == ["early"]
        assert await list_due(25.0) == ["early", "late"]
        for each in (early, late):
            claim = await each.take("w", now=25.0, due=None)
            assert claim == Claim(session_id="one", epoch=2, head=1)
        assert await list_due(25.0) == []
        await early.delete("two")

    run(store, check)


def test_a_role_that_no_policy_binds_is_a_warning(
    postgres: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = PostgresStore(dsn=postgres.server.make_dsn(), tenant="of a superuser")
    with caplog.at_level(logging.WARNING):
        assert run(store, store.sessions) == []
    (record,) = caplog.records
    assert record.getMessage() == (
        f"the role for `127.0.0.1:{postgres.server.port}/postgres` is not bound by row-level"
        " security (must be a role that is no superuser and has no `BYPASSRLS`)"
    )


# Tables


def test_several_make_the_tables_at_once(postgres: Database) -> None:
    stores = [
        PostgresStore(dsn=postgres.server.make_dsn(), database_schema='made "at once"')
        for _ in range(4)
    ]

    async def migrate() -> list[tuple[int, int]]:
        try:
            return await asyncio.gather(*(each.migrate() for each in stores))
        finally:
            for each in stores:
                await each.close()

    found = asyncio.run(migrate())
    assert sorted(found) == [(0, schema.VERSION), *[(schema.VERSION, schema.VERSION)] * 3]


def test_without_tables_the_way_to_make_them_is_said(postgres: Database) -> None:
    store = PostgresStore(dsn=postgres.dsn, database_schema="nowhere")
    with pytest.raises(MissingSchemaError) as raised:
        run(store, store.sessions)
    assert str(raised.value) == (
        f"`127.0.0.1:{postgres.server.port}/postgres` has no schema `nowhere` for sessions:"
        " run `amplifier-core store migrate`"
    )


def test_tables_of_an_older_version_are_changed_and_keep_their_sessions(
    postgres: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = PostgresStore(dsn=postgres.server.make_dsn(), database_schema="grows")
    read = schema._read

    def read_next(file: str, name: str) -> str:
        if file == "tables_2.sql":
            return f"ALTER TABLE {name}.session ADD COLUMN later text"
        return read(file, name)

    async def check() -> None:
        assert await store.migrate(SERVICE) == (0, 1)
        await store.claim("one", "me", new=NewSession())
        monkeypatch.setattr(schema, "TABLES", ("tables_1.sql", "tables_2.sql"))
        monkeypatch.setattr(schema, "VERSION", 2)
        monkeypatch.setattr(schema, "_read", read_next)
        assert await store.migrate() == (1, 2)
        assert [each.id for each in await store.sessions()] == ["one"]
        monkeypatch.undo()
        with pytest.raises(NewerStoreError, match="has schema 2, and this version reads up to 1"):
            await store.migrate()
        await store.close()
        with pytest.raises(NewerStoreError, match="has schema 2, and this version reads up to 1"):
            await store.sessions()

    run(store, check)


def test_a_role_without_rights_is_told_how_to_get_them(postgres: Database) -> None:
    owner = PostgresStore(dsn=postgres.server.make_dsn(), database_schema="closed")
    run(owner, owner.migrate)
    store = PostgresStore(dsn=postgres.dsn, database_schema="closed")
    with pytest.raises(StoreError) as raised:
        run(store, store.sessions)
    assert str(raised.value).endswith(
        "`amplifier-core store migrate --role NAME` lets a role use it"
    )
    with pytest.raises(RefusedStoreError, match="has no role `nobody`"):
        run(owner, lambda: owner.migrate("nobody"))


# What is wrong


def test_what_was_changed_in_the_tables_is_damaged(
    store: PostgresStore,
    postgres: Database,
) -> None:
    def find_row(id: str) -> str:
        return f"(SELECT number FROM amplifier.session WHERE tenant = '{store.settings.tenant}' AND id = '{id}')"

    changes = {
        "body": ("UPDATE amplifier.event SET body = '9' WHERE seq = 2 AND session = ", 2),
        "epoch": ("UPDATE amplifier.event SET epoch = 7 WHERE seq = 3 AND session = ", 3),
        "gap": ("DELETE FROM amplifier.event WHERE seq = 2 AND session = ", 2),
        "end": ("DELETE FROM amplifier.event WHERE seq = 4 AND session = ", 4),
        "head": ("UPDATE amplifier.session SET head = 3 WHERE number = ", 3),
        "meta": ("UPDATE amplifier.session SET meta = '{\"a\":1}' WHERE number = ", 1),
        "text": ("UPDATE amplifier.blob SET content = 'other' WHERE tree = ", 4),
        "gone": ("DELETE FROM amplifier.blob WHERE tree = ", 4),
        "inbox": ("UPDATE amplifier.inbox SET body = '2' WHERE session = ", 0),
    }

    async def fill() -> None:
        for id in changes:
            claim = await store.claim(id, "me", new=NewSession())
            await store.append(claim, [("a", 1), ("b", 2), ("c", ["x" * 100_000])])
            await store.put(id, "a", 1)
            assert await store.verify(id) == []

    async def look() -> None:
        for id, (_, number) in changes.items():
            with pytest.raises(DamagedSessionError) as raised:
                await (store.inbox if id == "inbox" else store.read)(id)
            assert (raised.value.session_id, raised.value.number) == (id, number)
            assert await store.verify(id) == [str(raised.value)]

    run(store, fill)
    postgres.run(*(f"{change}{find_row(id)}" for id, (change, _) in changes.items()), "SELECT 1")
    run(store, look)


_REFUSES = "`127.0.0.1:{port}/%s` refuses the connection: "


@pytest.mark.parametrize(
    ("dsn", "problem"),
    [
        (
            "postgresql://service:wrong%20one@127.0.0.1:{port}/postgres",
            f'{_REFUSES % "postgres"}password authentication failed for user "service"',
        ),
        (
            f"postgresql://service:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{{port}}/none",
            f'{_REFUSES % "none"}database "none" does not exist',
        ),
    ],
)
def test_who_is_not_let_in_reads_why_in_one_line_without_the_password(
    postgres: Database,
    dsn: str,
    problem: str,
) -> None:
    port = postgres.server.port
    store = PostgresStore(dsn=dsn.format(port=port))
    with pytest.raises(RefusedStoreError) as raised:
        run(store, store.sessions)
    assert str(raised.value) == problem.format(port=port)


def test_a_server_that_is_not_there_is_said_at_once(unused_port: int) -> None:
    store = PostgresStore(dsn=f"postgresql://me:secret@127.0.0.1:{unused_port}/sessions")
    with pytest.raises(UnreachableStoreError) as raised:
        run(store, store.sessions)
    assert str(raised.value).startswith(f"cannot connect to `127.0.0.1:{unused_port}/sessions`: ")
    assert "secret" not in f"{raised.value!r} {store.settings!r} {vars(store)!r}"


@pytest.mark.parametrize("dsn", ["mysql://a:secret@b/c", "postgresql://a:secret@[b/c", "secret"])
def test_an_address_that_is_none_is_not_repeated(dsn: str) -> None:
    with pytest.raises(ConfigurationError, match="`dsn` is no address of PostgreSQL") as raised:
        PostgresStore(dsn=dsn)
    assert "secret" not in str(raised.value)


def test_the_address_may_be_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="`dsn` is missing"):
        PostgresStore()
    monkeypatch.setenv("DATABASE_URL", "postgresql://me@db.example:6543/sessions")
    assert PostgresStore().place == "db.example:6543/sessions"


def test_on_windows_one_line_says_that_it_runs_on_posix_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(ConfigurationError, match="store-postgres runs on POSIX alone"):
        PostgresStore(dsn="postgresql://db.example")


def test_without_its_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amplifier_modules.stores.postgres.store.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"`pip install 'amplifier-core\[postgres\]'`"):
        PostgresStore(dsn="postgresql://db.example")


def test_sessions_of_a_process_share_the_connections(postgres: Database) -> None:
    tenants = ("shared", "another", "shared")
    stores = [open_store({"dsn": postgres.dsn, "tenant": each}) for each in tenants]
    assert len({id(each.link) for each in stores}) == 1
    assert stores[0].link is not open_store({"dsn": postgres.dsn, "connections": 2}).link

    async def write(store: PostgresStore, id: str) -> None:
        claim = await store.claim(id, "me", new=NewSession())
        for number in range(20):
            claim = await store.append(claim, [("a", number)])

    async def check() -> None:
        async with asyncio.TaskGroup() as tasks:
            for number, store in enumerate(stores):
                assert isinstance(store, Store)
                tasks.create_task(write(store, f"session {number}"))
            for _ in range(5):
                await stores[0].close()
        assert len(await stores[0].sessions()) == 2

    run(stores[0], check)


# A pooler


def test_behind_a_pooler_in_transaction_mode_all_works_and_one_line_says_so(
    postgres: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def check() -> None:
        async def write(id: str) -> None:
            claim = await store.claim(id, "me", new=NewSession())
            for number in range(5):
                claim = await store.append(claim, [("a", [id, number])])
            await store.put(id, "a", 1, due=1.0)
            await store.end(claim)

        await asyncio.gather(*(write(f"session {number}") for number in range(6)))
        for number in range(6):
            id = f"session {number}"
            bodies = [each.body for each in await store.read(id)][1:]
            assert bodies == [[id, number] for number in range(5)]
            assert len(await store.inbox(id)) == 1
        assert await store.take("w", now=2.0, due=None) is not None
        with pytest.raises(SessionExistsError):
            await store.fork("session 1", "session 2")
        await store.wait_for_entries("session 1", 0.01)

    with TransactionPooler(postgres.dsn) as pooler, caplog.at_level(logging.WARNING):
        dsn = postgres.server.make_dsn(user=SERVICE, port=pooler.port)
        store = PostgresStore(dsn=dsn, tenant="behind a pooler")
        run(store, check)
        assert pooler.transactions > 50
    (record,) = caplog.records
    assert record.getMessage() == (
        f"`127.0.0.1:{pooler.port}/postgres` is a pooler: no statement is prepared, and nothing is"
        " listened to, so that changes of others are looked for"
    )
