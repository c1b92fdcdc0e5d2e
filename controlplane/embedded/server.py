"""The life of the embedded server: judged by connecting, stopped by its data folder."""

import contextlib
import fcntl
import os
import shlex
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
from psycopg import sql

from controlplane.embedded.account import Account, account, as_account, owner_ids
from controlplane.embedded.place import DATABASE, SOCKET_NAME, USER, Place, program
from controlplane.tether import tethered

# A killed postmaster stays in the process table until it is reaped, and its children need a moment
# to notice: until then a new one finds the lock file's process alive and gives up.
RETRY_SECONDS: Final = 10.0
# A server that is alive but replays its log after a crash is waited for this long.
RECOVERY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 8
POLL_SECONDS: Final = 0.05
# A lock file that names no process yet may have been made this moment.
EMPTY_SECONDS: Final = 2.0
SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "cluster_name": "chargehand",
}


class EmbeddedError(Exception):
    """The embedded server cannot do what was asked; the message is one sentence for a human."""


class Server:
    """One embedded PostgreSQL, whoever started it."""

    def __init__(self, place: Place, settings: Mapping[str, str] | None = None) -> None:
        """Describe the server of ``place``; ``settings`` add to or replace the ones above."""
        self.place = place
        self._settings = {**SETTINGS, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = DATABASE) -> str:
        """Return the address for DATABASE_URL."""
        host = quote(str(self.place.socket_dir), safe="")
        return f"postgresql://{USER}@{host}/{database}"

    def alive(self) -> bool:
        """Tell whether it answers; a process id proves nothing."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self, *, tied: bool = True) -> bool:
        """Start it unless it answers already; return whether this call started it.

        ``tied``: it ends when the calling thread's process does. Repeats for a few seconds while a
        killed predecessor still holds its lock file.
        """
        with self._locked():
            if self.alive():
                return False
            self._prepare()
            give_up = time.monotonic() + RETRY_SECONDS
            while not self._start_once(tied=tied):
                if self.alive():  # somebody else was faster, pg_ctl restart for one
                    return False
                if time.monotonic() > give_up:
                    raise EmbeddedError(
                        f"The embedded PostgreSQL does not start: {self._last_words()}"
                    )
                self._drop_stale_lock()
                time.sleep(POLL_SECONDS * 5)
            self._create_database()
            return True

    def stop(self) -> None:
        """Stop it by its data folder, at once for its clients; nothing happens when it is down."""
        with self._locked():
            if (self.place.data / "postmaster.pid").exists():
                self._control("stop", "-m", "fast", "-w", "-t", str(STOP_SECONDS))
            self._reap(STOP_SECONDS)

    def kill(self) -> None:
        """Kill the postmaster as a crash would; for tests of what comes after."""
        pid = self.postmaster_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self._reap(STOP_SECONDS)

    def ended(self) -> bool:
        """Tell whether the process that this object started is gone."""
        return self._process is None or self._process.poll() is not None

    def postmaster_pid(self) -> int | None:
        """Return the process id in the lock file, which may be stale."""
        try:
            return int((self.place.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.place.lock.open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _prepare(self) -> None:
        self._check_programs()
        for folder in (self.place.home, self.place.socket_dir):
            _make_private(folder)
        if not (self.place.data / "PG_VERSION").exists():
            self._initialise()

    @staticmethod
    def _check_programs() -> None:
        command, how = as_account([program("postgres"), "--version"])
        try:
            subprocess.run(command, capture_output=True, check=True, **how)  # noqa: S603
        except PermissionError:
            raise EmbeddedError(
                f"PostgreSQL cannot run as root, user namespaces are refused here, and the user "
                f"nobody cannot reach {command[0]}: run this as an ordinary user, move the project "
                "to a folder that everybody may enter, or set DATABASE_URL."
            ) from None
        except (OSError, subprocess.CalledProcessError) as error:
            raise EmbeddedError(f"The embedded PostgreSQL does not run here: {error}.") from error

    def _initialise(self) -> None:
        # Made beside and renamed, so that an interrupted first start leaves nothing half-made.
        draft = self.place.home / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        command, how = as_account(
            [
                program("initdb"),
                *("--pgdata", str(draft), "--username", USER, "--auth", "trust"),
                *("--encoding", "UTF8", "--locale", "C"),
                *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
                "--no-instructions",
            ]
        )
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, **how
        )
        if done.returncode != 0:
            raise EmbeddedError(
                f"The embedded PostgreSQL cannot make its data folder: {done.stderr.strip()}"
            )
        draft.rename(self.place.data)

    def _start_once(self, *, tied: bool) -> bool:
        options = [
            part for key, value in self._settings.items() for part in ("-c", f"{key}={value}")
        ]
        folders = ["-D", str(self.place.data), "-k", str(self.place.socket_dir)]
        command = [program("postgres"), *folders, *options]
        line, how = as_account(tethered(signal.SIGINT, command) if tied else command)
        if tied and account() is Account.NOBODY:
            # The tether is Python, which nobody may not be able to reach: it changes the account.
            line, how = tethered(signal.SIGINT, command, owner_ids()), {"cwd": "/"}
        with self.place.log.open("wb") as log:
            # A session of its own: Ctrl-C on the terminal must not stop it before its clients.
            self._process = subprocess.Popen(  # noqa: S603
                line,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **how,
            )
        give_up = time.monotonic() + RECOVERY_SECONDS
        while self._process.poll() is None and time.monotonic() < give_up:
            if self.alive():
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _drop_stale_lock(self) -> None:
        """Remove a lock file whose process id now belongs to a program that is not PostgreSQL.

        After a restart of the machine the old id may be anybody's; PostgreSQL itself only asks
        whether some process has it.
        """
        self._drop_empty_locks()
        pid = self.postmaster_pid()
        if pid is None:
            return
        with contextlib.suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/comm").read_text().strip() != "postgres":
                (self.place.data / "postmaster.pid").unlink()

    def _drop_empty_locks(self) -> None:
        """Remove lock files that name no process, as a power cut leaves them.

        PostgreSQL takes an empty one for that of a server that is starting, and does not start
        itself. Nobody is starting one here: this process holds the lock of all starts.
        """
        for path in (self.place.data / "postmaster.pid", self._socket_lock):
            with contextlib.suppress(FileNotFoundError):
                first = path.read_bytes().split(b"\n", 1)[0].strip()
                if not first.isdigit() and time.time() - path.stat().st_mtime > EMPTY_SECONDS:
                    print(f"{path} names no process and is thrown away.", flush=True)
                    path.unlink()

    @property
    def _socket_lock(self) -> Path:
        return self.place.socket_dir / f"{SOCKET_NAME}.lock"

    def _create_database(self) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(query, [DATABASE]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _control(self, *words: str) -> None:
        command, how = as_account([program("pg_ctl"), "-D", str(self.place.data), *words])
        subprocess.run(command, capture_output=True, check=False, **how)  # noqa: S603

    def _reap(self, seconds: float) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self.place.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"


def _make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter; refuse one that a stranger put there."""
    user, group = owner_ids()
    if not folder.exists():
        folder.mkdir(parents=True, mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, user, group)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user:
        raise EmbeddedError(
            f"The embedded PostgreSQL needs {folder} to be a folder of the user with the number "
            f"{user}, and it is not: let CHARGEHAND_VAR name a folder of that user. Nothing was "
            "changed."
        )
    if found.st_mode & 0o077:
        raise EmbeddedError(
            f"The embedded PostgreSQL needs {folder} to be private to its owner: run "
            f"chmod 700 {shlex.quote(str(folder))}. Nothing was changed."
        )


@contextlib.contextmanager
def running(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Have the server of ``folder`` running for a while; it is stopped only if this started it."""
    server = Server(Place(folder.absolute()), settings)
    started = server.start()
    try:
        yield server
    finally:
        if started:
            server.stop()
