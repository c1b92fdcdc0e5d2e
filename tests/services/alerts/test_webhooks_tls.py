"""Webhooks over TLS: the certificate is judged by the name, and whoever trickles is cut off."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tasks_app.services.alerts import webhooks

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


@dataclass
class Server:
    """A server on this machine that talks with one caller; ``gone`` is how that one hung up."""

    context: ssl.SSLContext
    listener: socket.socket
    heard: bytes = b""
    gone: OSError | None = None
    thread: threading.Thread = field(default_factory=threading.Thread)

    def talk(self, talk: Talk) -> str:
        """Begin; return the port."""

        def run() -> None:
            try:
                plain, _ = self.listener.accept()
                with plain, self.context.wrap_socket(plain, server_side=True) as tls:
                    tls.settimeout(5)
                    talk(tls)
            except OSError as gone:
                self.gone = gone

        self.thread = threading.Thread(target=run)
        self.thread.start()
        return str(self.listener.getsockname()[1])

    def answer(self, tls: ssl.SSLSocket) -> None:
        """Hear the caller out and say that all is well."""
        while not self.heard.endswith(b"{}"):
            said = tls.recv(4096)
            assert said, "it hung up before it had said all"
            self.heard += said
        tls.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    def ended(self) -> "Server":
        """The same, once the caller is served or gone."""
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self


@pytest.fixture
def server(certificate: Path, settings: Any) -> Iterator[Server]:
    """A server with the certificate of localhost."""
    settings.WEBHOOKS_LOOPBACK = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Server(context, listener)
        yield made
        made.ended()


def test_a_certificate_that_is_trusted_for_the_name_is_taken(
    server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    webhooks.post(f"https://localhost:{server.talk(server.answer)}/x", "", {})
    assert server.ended().heard.startswith(b"POST /x HTTP/1.1")
    assert server.gone is None


def test_a_certificate_of_another_name_is_refused(
    server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(webhooks.NotDelivered, match=r"not valid for '127\.0\.0\.1'"):
        webhooks.post(f"https://127.0.0.1:{server.talk(server.answer)}/x", "", {})
    assert server.ended().heard == b""


def test_a_certificate_that_nobody_vouches_for_is_refused(server: Server) -> None:
    with pytest.raises(webhooks.NotDelivered, match=r"^\[SSL: CERTIFICATE_VERIFY_FAILED\]"):
        webhooks.post(f"https://localhost:{server.talk(server.answer)}/x", "", {})
    assert server.ended().heard == b""


@pytest.mark.timeout(60)
def test_whoever_trickles_over_tls_is_cut_off(
    server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(webhooks, "WHOLE_SECONDS", 0.5)

    def trickle(tls: ssl.SSLSocket) -> None:
        for _ in range(400):
            tls.sendall(b"H")
            threading.Event().wait(0.05)

    began = time.monotonic()
    with pytest.raises(webhooks.NotDelivered):
        webhooks.post(f"https://localhost:{server.talk(trickle)}/", "", {})
    assert time.monotonic() - began < 15, "as long as the server liked"
    assert server.ended().gone is not None
