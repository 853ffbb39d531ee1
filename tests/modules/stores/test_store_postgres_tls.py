"""The connections of `store-postgres` have TLS as the address says.

Holds: postgres-8
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from postgres_fixture import Database, make_database
from postgres_server import PostgresServer, has_tls, list_programs

from amplifier_modules.stores.errors import StoreError, UnreachableStoreError
from amplifier_modules.stores.postgres import PostgresStore

pytestmark = pytest.mark.xdist_group("postgres")


def make_certificate(folder: Path, address: str) -> tuple[Path, Path]:
    """Make a certificate that its own key has signed, and the file of that."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private = key.private_bytes(*kinds, serialization.NoEncryption())
    paths = folder / f"{address}.crt", folder / f"{address}.key"
    for path, content in zip(paths, (certificate.public_bytes(kinds[0]), private), strict=True):
        path.write_bytes(content)
        path.chmod(0o600)
    return paths


@pytest.fixture(scope="module")
def secured() -> Iterator[tuple[Database, Path]]:
    """A server that refuses who has no TLS, and its certificate."""
    programs = [each for each in list_programs() if has_tls(each)]
    if not programs:
        pytest.skip("no PostgreSQL with TLS is installed")
    server = PostgresServer(programs[-1])
    try:
        certificate, key = make_certificate(server.folder, "127.0.0.1")
        server.own(key)
        server.own(certificate)
        rules = server.data / "pg_hba.conf"
        rules.write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
        server.configure(ssl="on", ssl_cert_file=str(certificate), ssl_key_file=str(key))
        server.start()
        yield make_database(server), certificate
    finally:
        server.remove()


def list_sessions(dsn: str) -> None:
    async def check() -> None:
        store = PostgresStore(dsn=dsn)
        try:
            assert await store.sessions() == []
        finally:
            await store.close()

    asyncio.run(check())


@pytest.mark.parametrize("options", ["sslmode=require", "sslmode=verify-full&sslrootcert={own}"])
def test_a_server_with_the_right_certificate_is_connected(
    secured: tuple[Database, Path], options: str
) -> None:
    database, certificate = secured
    list_sessions(f"{database.dsn}?{options.format(own=certificate)}")


def test_a_server_with_another_certificate_is_not_connected(
    secured: tuple[Database, Path], tmp_path: Path
) -> None:
    database, _ = secured
    other, _ = make_certificate(tmp_path, "127.0.0.1")
    with pytest.raises(UnreachableStoreError, match="certificate verify failed"):
        list_sessions(f"{database.dsn}?sslmode=verify-full&sslrootcert={other}")


def test_a_server_under_another_name_is_not_connected(secured: tuple[Database, Path]) -> None:
    database, certificate = secured
    dsn = database.dsn.replace("127.0.0.1", "localhost")
    with pytest.raises(UnreachableStoreError, match="certificate verify failed"):
        list_sessions(f"{dsn}?sslmode=verify-full&sslrootcert={certificate}")


def test_a_server_that_wants_tls_says_so(secured: tuple[Database, Path]) -> None:
    database, _ = secured
    with pytest.raises(StoreError, match="no encryption"):
        list_sessions(f"{database.dsn}?sslmode=disable")


def test_a_file_of_certificates_that_is_missing_is_said(secured: tuple[Database, Path]) -> None:
    database, _ = secured
    with pytest.raises(StoreError, match="such as `sslrootcert`"):
        list_sessions(f"{database.dsn}?sslmode=verify-full&sslrootcert=/missing.crt")
