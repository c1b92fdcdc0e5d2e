"""A copy takes the next port when another one has the first."""

import socket

from controlplane.ports import HOST, free_port


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        taken = other.getsockname()[1]
        assert free_port(taken) > taken


def test_a_free_port_is_taken_as_it_is() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        free = other.getsockname()[1]
    assert free_port(free) == free
