"""Which port the web process takes."""

import socket
from typing import Final

FIRST_PORT: Final = 8000
HOST: Final = "127.0.0.1"


def free_port(first: int) -> int:
    """Return ``first``, or the next port above it on which nobody listens."""
    for port in range(first, 65536):
        with socket.socket() as probe:
            # As the server will ask for it: a port whose last connections still fade is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError(f"no port from {first} up is free on {HOST}")
