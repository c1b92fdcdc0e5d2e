"""Webhooks over TLS: the certificate is judged by the name, and whoever trickles is cut off."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tasks_app.services import webhooks

Talk = Callable[[ssl.SSLSocket], None]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of localhost by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "localhost.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.fixture
def serve(certificate: Path, settings: Any) -> Iterator[Callable[[Talk], int]]:
    """Begin a server on this machine that talks with whoever calls; its port."""
    settings.WEBHOOKS_LOOPBACK = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def begin(talk: Talk) -> int:
        def run() -> None:
            try:
                plain, _ = listener.accept()
                with plain, context.wrap_socket(plain, server_side=True) as tls:
                    tls.settimeout(5)
                    talk(tls)
            except OSError:
                pass  # whoever called has gone

        threads.append(threading.Thread(target=run))
        threads[0].start()
        return int(listener.getsockname()[1])

    yield begin
    threads[0].join(20)
    listener.close()
    assert not threads[0].is_alive()


def answer(tls: ssl.SSLSocket) -> None:
    heard = b""
    while not heard.endswith(b"{}"):
        heard += tls.recv(4096)
    tls.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_a_certificate_that_is_trusted_for_the_name_is_taken(
    serve: Callable[[Talk], int], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    webhooks.post(f"https://localhost:{serve(answer)}/x", "", {})


def test_a_certificate_of_another_name_is_refused(
    serve: Callable[[Talk], int], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(webhooks.NotDelivered, match=r"not valid for '127\.0\.0\.1'"):
        webhooks.post(f"https://127.0.0.1:{serve(answer)}/x", "", {})


def test_a_certificate_that_nobody_vouches_for_is_refused(serve: Callable[[Talk], int]) -> None:
    with pytest.raises(webhooks.NotDelivered, match="certificate verify failed"):
        webhooks.post(f"https://localhost:{serve(answer)}/x", "", {})


@pytest.mark.timeout(60)
def test_whoever_trickles_over_tls_is_cut_off(
    serve: Callable[[Talk], int], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(webhooks, "WHOLE_SECONDS", 0.5)

    def trickle(tls: ssl.SSLSocket) -> None:
        for _ in range(400):
            tls.sendall(b"H")
            threading.Event().wait(0.05)

    began = time.monotonic()
    with pytest.raises(webhooks.NotDelivered):
        webhooks.post(f"https://localhost:{serve(trickle)}/", "", {})
    assert time.monotonic() - began < 15, "as long as the server liked"
