"""What DATABASE_URL says of a connection is kept; what a pooler drops is told."""

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from controlplane.embedded import Server
from controlplane.environment import ROOT, connection_options, database
from controlplane.postgresql.startup_options import Looker, dropped, merged, slower

FREEZE = "idle_in_transaction_session_timeout"


def given(query: str) -> dict[str, Any]:
    options: dict[str, Any] = database(f"postgresql://u@h/d?{query}")["OPTIONS"]
    return merged(options, 5000)


def test_what_the_address_says_is_kept_beside_ours() -> None:
    found = given(
        "connect_timeout=30&sslmode=require&application_name=desk&target_session_attrs=read-write"
        "&options=-csearch_path%3Dapp&keepalives_idle=3"
    )
    assert found == {
        "connect_timeout": "30",
        "sslmode": "require",
        "application_name": "desk",
        "target_session_attrs": "read-write",
        "options": f"-c {FREEZE}=5000 -c client_connection_check_interval=1000 -csearch_path=app",
        "keepalives_idle": "3",
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }


def test_several_hosts_and_a_service_are_passed_on() -> None:
    found = database("postgresql://u@a:5432,b:5433/d?target_session_attrs=primary")
    assert (found["HOST"], found["PORT"]) == ("a,b", "5432,5433")
    assert database("postgresql:///?service=desk")["OPTIONS"] == {"service": "desk"}


@pytest.mark.parametrize("value", ["0", "6s", "1min", "-1", "soon"])
@pytest.mark.parametrize("form", ["-c {}={}", "-c{}={}", "--{}={}"])
def test_what_would_let_a_frozen_leader_live_on_is_refused_by_name(form: str, value: str) -> None:
    options = {"options": "-c geqo=off " + form.format(FREEZE, value)}
    with pytest.raises(SystemExit, match=rf"DATABASE_URL sets {FREEZE} to '{value}', .* 5000 ms"):
        connection_options(options, 5000)


@pytest.mark.parametrize("value", ["1", "4s", "5000", "5s", "2000ms"])
def test_a_shorter_time_than_ours_is_kept(value: str) -> None:
    assert merged({"options": f"-c {FREEZE}={value}"}, 5000)["options"].endswith(
        f"{FREEZE}={value}"
    )


def test_another_encoding_is_refused() -> None:
    with pytest.raises(SystemExit, match="client_encoding to 'latin1'"):
        connection_options({"client_encoding": "latin1"}, 5000)
    assert connection_options({"client_encoding": "UTF-8"}, 5000)


def test_what_notices_a_dead_network_later_is_told() -> None:
    assert slower(given("tcp_user_timeout=60000&keepalives_idle=5&connect_timeout=30")) == [
        "tcp_user_timeout=60000 (ours would be 10000)"
    ]
    assert slower(given("tcp_user_timeout=0")) == ["tcp_user_timeout=0 (ours would be 10000)"]


@pytest.fixture
def own(postgres: Server) -> Iterator[str]:
    """An empty database with a schema of its own."""
    name = "startup_options"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(postgres.url(name), autocommit=True) as made:
            made.execute("CREATE SCHEMA app")
        yield postgres.url(name)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def manage(url: str, *command: str) -> str:
    """What a command says, on both streams."""
    environment = {**os.environ, "DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def test_all_tables_are_where_the_search_path_of_the_address_says(own: str) -> None:
    manage(f"{own}{'&' if '?' in own else '?'}options={quote('-csearch_path=app')}", "migrate")
    with psycopg.connect(own) as connection:
        found = connection.execute(
            "SELECT schemaname, count(*) > 50 FROM pg_tables"
            " WHERE schemaname IN ('app', 'public') GROUP BY 1"
        ).fetchall()
    assert found == [("app", True)]


class Pooler:
    """Passes connections on as PgBouncer does: without ``options``, which it ignores."""

    def __init__(self, server: tuple[str, int] | str) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        family = socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET
        with client, socket.socket(family) as server:
            server.connect(self._server)
            server.sendall(_without_options(_startup(client)))
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(5)


def _startup(client: socket.socket) -> bytes:
    """The startup message; a wish for TLS or GSS before it is declined."""
    while True:
        (length,) = struct.unpack("!I", client.recv(4, socket.MSG_WAITALL))
        body = client.recv(length - 4, socket.MSG_WAITALL)
        if struct.unpack("!I", body[:4])[0] == 0x00030000:
            return body
        client.sendall(b"N")


def _without_options(body: bytes) -> bytes:
    words = body[4:].rstrip(b"\0").split(b"\0")
    pairs = list(zip(words[::2], words[1::2], strict=True))
    kept = b"".join(k + b"\0" + v + b"\0" for k, v in pairs if k != b"options")
    kept = body[:4] + kept + b"\0"
    return struct.pack("!I", len(kept) + 4) + kept


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def pooled(own: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection through a pooler that ignores startup parameters."""
    with psycopg.connect(own) as direct:
        info = direct.info
        user, server = info.user, f"{info.host}/.s.PGSQL.{info.port}"
        place: tuple[str, int] | str = (
            server if info.host.startswith("/") else (info.host, info.port)
        )
    with closing(Pooler(place)) as pooler:
        address = urlsplit(own)
        with psycopg.connect(
            host="127.0.0.1",
            port=pooler.port,
            user=user,
            password=address.password or "",
            dbname="startup_options",
            sslmode="disable",
            gssencmode="disable",
            autocommit=True,
            options=given("options=-csearch_path%3Dapp")["options"],
        ) as connection:
            yield connection


def test_what_a_pooler_dropped_is_told_once_with_the_remedy(
    pooled: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    params, looker = given("options=-csearch_path%3Dapp"), Looker()
    looker.look(pooled, params)
    looker.look(pooled, params)
    (told,) = [each.getMessage() for each in caplog.records]
    for name in (f"{FREEZE}=5000", "client_connection_check_interval=1000", "search_path=app"):
        assert name in told
    assert "PgBouncer" in told
    assert "ALTER ROLE" in told


def test_what_the_database_sets_itself_is_no_loss(pooled: psycopg.Connection[Any]) -> None:
    pooled.execute(f"ALTER DATABASE startup_options SET {FREEZE} = '5s'")
    with psycopg.connect(
        host="127.0.0.1",
        port=pooled.info.port,
        user=pooled.info.user,
        password=pooled.info.password,
        dbname="startup_options",
        sslmode="disable",
        gssencmode="disable",
    ) as again:
        assert dropped(again, f"-c {FREEZE}=5000 -c geqo=off") == ["geqo=off"]


def test_nothing_is_told_where_the_server_has_it_all(
    postgres: Server, caplog: pytest.LogCaptureFixture
) -> None:
    params = given("options=-csearch_path%3Dapp%20-cwork_mem%3D8MB")
    with psycopg.connect(postgres.url("postgres"), options=params["options"]) as connection:
        Looker().look(connection, params)
    assert caplog.records == []


def test_a_process_looks_at_its_first_connection(own: str, tmp_path: Path) -> None:
    assert "noticed late: tcp_user_timeout=60000" in manage(
        f"{own}{'&' if '?' in own else '?'}tcp_user_timeout=60000", "showmigrations", "auth"
    )
