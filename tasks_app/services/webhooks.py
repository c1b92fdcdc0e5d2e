"""One POST to a webhook: to the address that was checked, and to no other."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.conf import settings

from tasks_app.core.webhooks import SIGNATURE, Reach, Target, choose, signature, target_of
from tasks_app.core.words import say

STEP_SECONDS: Final = 5.0
WHOLE_SECONDS: Final = 10.0
"""For a step of the conversation, and for all of it: whoever trickles is cut off."""

READ_BYTES: Final = 4096
"""Of the answer; what it says is of no concern, its status is."""


class NotDelivered(Exception):
    """The message did not arrive, and why: for people, without anything secret."""


def reach() -> Reach:
    """What the installation allows beside public addresses."""
    return Reach(settings.WEBHOOKS_PRIVATE, settings.WEBHOOKS_LOOPBACK)


def post(url: str, secret: str, body: Mapping[str, Any]) -> None:
    """Send a body as JSON, signed if there is a secret. Raises NotDelivered.

    The name is resolved once, and what it stands for is checked and called: a second answer of a
    name server cannot lead elsewhere. Redirects are not followed.
    """
    data = json.dumps(body, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "Chargehand"}
    if secret:
        headers[SIGNATURE] = signature(secret, int(time.time()), data)
    try:
        target = target_of(url, reach())
        address = choose(_resolve(target), reach())
        with _connected(target, address) as plain, _whole_time(plain):
            status = _status(target, plain, data, headers)
    except (OSError, http.client.HTTPException) as error:
        # Before ValueError: a certificate that is refused is one too, and no word on the address.
        raise NotDelivered(str(error) or type(error).__name__) from error
    except ValueError as error:
        raise NotDelivered(say("the address %(error)s", error=str(error))) from error
    if not 200 <= status < 300:
        raise NotDelivered(say("it answered %(status)s", status=status))


def _resolve(target: Target) -> list[str]:
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


@contextlib.contextmanager
def _connected(target: Target, address: str) -> Iterator[socket.socket]:
    with socket.create_connection((address, target.port), STEP_SECONDS) as plain:
        yield plain


@contextlib.contextmanager
def _whole_time(connection: socket.socket) -> Iterator[None]:
    """Cut the connection off when the whole takes too long, whatever has wrapped it meanwhile."""
    # TLS takes the socket over and leaves an empty one behind; a second handle stays.
    handle = connection.dup()

    def cut() -> None:
        with contextlib.suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(WHOLE_SECONDS, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        handle.close()


def _status(target: Target, plain: socket.socket, data: bytes, headers: Mapping[str, str]) -> int:
    talk = http.client.HTTPConnection(target.host, target.port, timeout=STEP_SECONDS)
    if target.tls:
        # The certificate is judged by the name, not by the address that was called.
        tls = ssl.create_default_context()
        talk = http.client.HTTPSConnection(target.host, target.port, timeout=STEP_SECONDS)
        talk.sock = tls.wrap_socket(plain, server_hostname=target.host)
    else:
        talk.sock = plain
    try:
        talk.request("POST", target.path, data, dict(headers))
        answer = talk.getresponse()
        answer.read(READ_BYTES)
        return answer.status
    finally:
        talk.close()
