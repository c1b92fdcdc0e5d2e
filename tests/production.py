"""A web process with the settings of production, for tests that ask it as a proxy would."""

import base64
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from django.db import connection

from controlplane.embedded import Server
from controlplane.environment import ROOT
from controlplane.ports import free_port
from tests.waiting import wait_for

HOST = "chargehand.example.org"
PASSWORD = "a long enough passphrase"
COOKIE = re.compile(r"(?P<name>[^=]+)=(?P<value>[^;]*);(?P<rest>.*)")


class SocketConnection(HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        """Open the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(str(self._path))
        except OSError:
            self.close()
            raise


class Production:
    """Asks the process as the proxy does, or as somebody does who comes past it."""

    def __init__(self, place: int | Path, process: psutil.Process, prefix: str = "") -> None:
        self.place = place
        self.process = process
        self.prefix = prefix
        self.cookie = "__Secure-chargehand-" if prefix else "__Host-"

    def ask(
        self,
        path: str,
        method: str = "GET",
        *,
        host: str = HOST,
        tls: bool = True,
        body: Any = None,
        **headers: str,
    ) -> tuple[HTTPResponse, str]:
        """The answer and its text; ``tls``: the browser has spoken it to the proxy."""
        place = self.place
        line = (
            SocketConnection(place)
            if isinstance(place, Path)
            else HTTPConnection("127.0.0.1", place, timeout=20)
        )
        given = {"Host": host, **{name.replace("_", "-"): text for name, text in headers.items()}}
        if tls:
            given |= {"X-Forwarded-Proto": "https", "Referer": f"https://{host}/login/"}
        if body is not None:
            given["Content-Type"] = "application/x-www-form-urlencoded"
        line.request(method, path, body, given)
        answer = line.getresponse()
        text = "" if answer.status == 101 else answer.read().decode("utf-8", "replace")
        line.close()
        return answer, text

    def websocket(self, *, host: str, origin: str) -> int:
        """The status with which a websocket is answered: 101 opens it."""
        answer, _ = self.ask(
            f"{self.prefix}/ws/live/",
            host=host,
            Connection="Upgrade",
            Upgrade="websocket",
            Origin=origin,
            Sec_WebSocket_Version="13",
            Sec_WebSocket_Key=base64.b64encode(os.urandom(16)).decode(),
        )
        return answer.status

    def log_in(self, name: str, password: str, **headers: Any) -> HTTPResponse:
        """Send the log-in's form with its token."""
        answer, page = self.ask(f"{self.prefix}/login/")
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found, page
        form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1]}
        token = cookies(answer)[f"{self.cookie}csrftoken"][0]
        sent: dict[str, Any] = {"Cookie": f"{self.cookie}csrftoken={token}", **headers}
        return self.ask(f"{self.prefix}/login/", "POST", body=urlencode(form), **sent)[0]


def cookies(answer: HTTPResponse) -> dict[str, tuple[str, str]]:
    """By name, the value and the attributes of each cookie that is set."""
    found = [COOKIE.fullmatch(line) for line in answer.headers.get_all("Set-Cookie") or []]
    return {each["name"]: (each["value"], each["rest"]) for each in found if each}


@contextmanager
def running(
    postgres: Server, var: Path, *, over: Path | None = None, **settings: str
) -> Iterator[Production]:
    """The process with its static files collected, on a port or over a Unix socket."""
    place: int | Path = over or free_port(21000)
    environment = {
        **os.environ,
        "ALLOWED_HOSTS": HOST,
        "BEHIND_PROXY": "true",
        "CELERY_BROKER_URL": "redis://127.0.0.1:1/0",
        "CHARGEHAND_ENV": "production",
        "CHARGEHAND_VAR": str(var),
        "DATABASE_POOL": "true",
        "DATABASE_URL": postgres.url(connection.settings_dict["NAME"]),
        "SECRET_KEY": "k9-Zq" * 12,
        "TRUSTED_PROXIES": "127.0.0.1",
        **settings,
    }
    collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    where = ["-u", str(over)] if over else ["--bind", "127.0.0.1", "--port", str(place)]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "daphne",
            *where,
            "--verbosity",
            "0",
            "controlplane.asgi:application",
        ],
        cwd=ROOT,
        env=environment,
    )
    prefix = settings.get("FORCE_SCRIPT_NAME", "")
    production = Production(place, psutil.Process(process.pid), prefix)
    try:
        wait_for(lambda: _answers(production), "the web process to answer", 60)
        yield production
    finally:
        process.kill()
        process.wait(10)


def _answers(production: Production) -> bool:
    try:
        return production.ask("/healthz")[0].status == 200
    except OSError:
        return False
