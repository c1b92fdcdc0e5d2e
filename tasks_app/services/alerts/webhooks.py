"""One POST to a webhook: to the address that was checked, and to no other."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.conf import settings

from tasks_app.core.alerts.webhooks import (
    SIGNATURE,
    Reach,
    Target,
    callable_addresses,
    first_line,
    secrets_of,
    signature,
    target_of,
)
from tasks_app.core.words import say

STEP_SECONDS: Final = 5.0
WHOLE_SECONDS: Final = 10.0
"""For a step of the conversation, and for all of it: whoever trickles is cut off."""

LEAST_SECONDS: Final = 0.5
"""For one of many addresses: fewer would fail where the network is merely slow."""

READ_BYTES: Final = 4096
"""Of the answer: enough for the first line of what a refusal says."""


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
        addresses = callable_addresses(_resolve(target), reach())
        with _connected(target, addresses) as talk:
            status, answer, cut = _answer(talk, target.path, data, headers)
    except (OSError, http.client.HTTPException) as error:
        # Before ValueError: a certificate that is refused is one too, and no word on the address.
        raise NotDelivered(str(error) or type(error).__name__) from error
    except ValueError as error:
        raise NotDelivered(say("the address %(error)s", error=str(error))) from error
    if 200 <= status < 300:
        return
    hidden = [secret, headers.get(SIGNATURE, ""), *secrets_of(url)]
    said = first_line(answer, hidden, cut=cut)
    if said:
        raise NotDelivered(say("it answered %(status)s: %(said)s", status=status, said=said))
    raise NotDelivered(say("it answered %(status)s", status=status))


def _resolve(target: Target) -> list[str]:
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


@contextlib.contextmanager
def _connected(target: Target, addresses: Sequence[str]) -> Iterator[http.client.HTTPConnection]:
    """Talk to the first address that takes the connection, its TLS included.

    Only before anything was sent is the next address tried: a message must not arrive at two.
    """
    deadline = time.monotonic() + WHOLE_SECONDS
    faults: list[tuple[str, OSError]] = []
    for at, address in enumerate(addresses):
        left = deadline - time.monotonic()
        step = min(STEP_SECONDS, max(left / (len(addresses) - at), LEAST_SECONDS))
        if left <= 0:
            break
        with contextlib.ExitStack() as held:
            try:
                plain = held.enter_context(socket.create_connection((address, target.port), step))
                held.enter_context(_whole_time(plain, left))
                talk = _talk(target, plain)
            except OSError as error:
                faults.append((address, error))
                continue
            held.callback(talk.close)
            yield talk
            return
    raise _all_failed(faults)


def _all_failed(faults: Sequence[tuple[str, OSError]]) -> OSError:
    if len(faults) == 1:
        return faults[0][1]
    return OSError(
        "; ".join(f"{each}: {str(error) or type(error).__name__}" for each, error in faults)
    )


@contextlib.contextmanager
def _whole_time(connection: socket.socket, seconds: float) -> Iterator[None]:
    """Cut the connection off when the whole takes too long, whatever has wrapped it meanwhile."""
    # TLS takes the socket over and leaves an empty one behind; a second handle stays.
    handle = connection.dup()

    def cut() -> None:
        with contextlib.suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        handle.close()


def _talk(target: Target, plain: socket.socket) -> http.client.HTTPConnection:
    if not target.tls:
        talk = http.client.HTTPConnection(target.host, target.port)
        talk.sock = plain
    else:
        # The certificate is judged by the name, not by the address that was called.
        tls = ssl.create_default_context()
        talk = http.client.HTTPSConnection(target.host, target.port)
        talk.sock = tls.wrap_socket(plain, server_hostname=target.host)
    talk.sock.settimeout(STEP_SECONDS)
    return talk


def _answer(
    talk: http.client.HTTPConnection, path: str, data: bytes, headers: Mapping[str, str]
) -> tuple[int, str, bool]:
    """The status, the beginning of what was said, and whether more was said than that."""
    talk.request("POST", path, data, dict(headers))
    answer = talk.getresponse()
    said = answer.read(READ_BYTES)
    return answer.status, said.decode("utf-8", "replace"), len(said) == READ_BYTES
