"""The embedded PostgreSQL survives what happens to servers on a laptop."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from controlplane.embedded import EmbeddedError, Place, Server, account, running
from controlplane.embedded.place import LONGEST_SOCKET_PATH, SOCKET_NAME
from tests.waiting import wait_for

FAST = {"fsync": "off"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose socket path is short, whatever pytest's own are."""
    with tempfile.TemporaryDirectory(prefix="chargehand-pg-") as name:
        yield Path(name) / "postgres"


def rows(server: Server) -> int:
    with psycopg.connect(server.url()) as connection:
        found = connection.execute("SELECT count(*) FROM kept").fetchone()
        assert found is not None
        return int(found[0])


def fill(server: Server) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000)")


def test_committed_rows_outlive_a_stop_and_a_killed_postmaster(folder: Path) -> None:
    with running(folder, FAST) as server:
        fill(server)
        server.stop()
        assert not server.alive()
        assert server.start()
        server.kill()
        assert server.start(), "it must start although the killed one left its lock file"
        assert rows(server) == 1000
    assert not server.alive()
    assert server.postmaster_pid() is None


def test_a_second_user_shares_the_server_and_does_not_stop_it(folder: Path) -> None:
    with running(folder, FAST) as first:
        with running(folder, FAST) as second:
            assert second.url() == first.url()
        assert first.alive()
    assert not first.alive()


def test_a_lock_file_that_names_a_stranger_does_not_keep_it_down(folder: Path) -> None:
    with running(folder, FAST) as server:
        fill(server)
        server.kill()
        lock = server.place.data / "postmaster.pid"
        lines = lock.read_text().split("\n")
        # A live process that is no PostgreSQL: as after a restart of the machine.
        lock.write_text("\n".join([str(os.getppid()), *lines[1:]]))
        assert server.start()
        assert rows(server) == 1000


def test_a_path_too_long_for_a_socket_still_gets_one(folder: Path) -> None:
    deep = folder / ("d" * 60) / ("e" * 60)
    place = Place(deep)
    assert len(os.fsencode(place.data.parent / "socket" / SOCKET_NAME)) > LONGEST_SOCKET_PATH
    with running(deep, FAST) as server:
        assert server.alive()
        assert place.socket_dir.stat().st_mode & 0o077 == 0
    place.socket_dir.rmdir()


def test_a_socket_folder_that_others_may_enter_is_refused(folder: Path) -> None:
    server = Server(Place(folder), FAST)
    folder.mkdir(mode=0o700)
    server.place.socket_dir.mkdir()
    server.place.socket_dir.chmod(0o755)
    with pytest.raises(EmbeddedError, match="private to its owner") as refused:
        server.start()
    told = str(refused.value)
    assert f"chmod 700 {server.place.socket_dir}" in told
    assert not any(word in told.lower() for word in ("remove", "delete", "rm "))
    server.place.socket_dir.chmod(0o700)
    assert server.start()
    server.stop()


def test_a_folder_of_a_record_that_others_may_read_keeps_its_record(folder: Path) -> None:
    with running(folder, FAST) as server:
        fill(server)
    subprocess.run(["chmod", "-R", "g+rX", str(folder)], check=True)
    with pytest.raises(EmbeddedError, match=f"chmod 700 {folder}"):
        server.start()
    for path in (folder, server.place.socket_dir):
        path.chmod(0o700)
    with running(folder, FAST) as server:
        assert rows(server) == 1000


@pytest.mark.parametrize("content", [b"", b"\n", b"\0" * 20, b"no number"])
def test_lock_files_that_a_power_cut_emptied_do_not_keep_it_from_starting(
    folder: Path, content: bytes
) -> None:
    with running(folder, FAST) as server:
        fill(server)
    long_ago = time.time() - 60
    for path in (
        server.place.data / "postmaster.pid",
        server.place.socket_dir / f"{SOCKET_NAME}.lock",
    ):
        path.write_bytes(content)
        os.utime(path, (long_ago, long_ago))
    with running(folder, FAST) as server:
        assert rows(server) == 1000


def test_nobody_else_can_read_the_data_or_reach_the_socket(folder: Path) -> None:
    with running(folder, FAST) as server:
        for each in (server.place.data, server.place.socket_dir, server.place.folder):
            assert each.stat().st_mode & 0o077 == 0, each
        with psycopg.connect(server.url()) as connection:
            shown = connection.execute("SHOW listen_addresses").fetchone()
        assert shown == ("",), "no TCP port: copies never collide"


def test_the_server_ends_when_its_owner_is_killed(folder: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from controlplane.embedded import running\n"
        "with running(Path(sys.argv[1]), {'fsync': 'off'}): print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE) as own:
        assert own.stdout is not None
        assert own.stdout.readline() == b"up\n"
        server = Server(Place(folder))
        assert server.alive()
        own.send_signal(signal.SIGKILL)
        own.wait()
    wait_for(lambda: not server.alive() and server.postmaster_pid() is None, "a clean end")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account")
def test_root_without_user_namespaces_runs_it_as_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.account.cache_clear()
    monkeypatch.setattr(account, "namespace", lambda: ["false"])
    try:
        with running(folder, FAST) as server:
            pid = server.postmaster_pid()
            assert Path(f"/proc/{pid}").stat().st_uid == account.owner_ids()[0] != 0
            assert server.place.home.stat().st_mode & 0o077 == 0
    finally:
        shutil.rmtree(Place(folder).home, ignore_errors=True)
        account.account.cache_clear()
