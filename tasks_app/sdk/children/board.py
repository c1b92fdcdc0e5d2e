"""What a worker's threads do, in memory that another process reads without asking them.

A handler that holds the interpreter lock silences every thread of its worker, this module too: only
what was written before can still be read.
"""

import mmap
import os
import struct
import threading
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tasks_app.sdk.in_flight import Execution

_HEAD: Final = struct.Struct("=dd16s")
_SLOT: Final = struct.Struct("=qqd16s")
_TOKEN: Final = struct.Struct("=q")


@dataclass(frozen=True, slots=True)
class Head:
    """The instant at which the worker last said that it runs, the end of its trust, its boot."""

    ticked_at: float
    stop_at: float
    worker_id: UUID


@dataclass(frozen=True, slots=True)
class Running:
    """What one thread runs: ``thread`` is the system's number for it."""

    token: int
    thread: int
    deadline: float
    task_id: UUID


class Board:
    """A head and one place a slot; each is written by one thread. Instants are monotonic."""

    def __init__(self, fd: int, slots: int) -> None:
        self.fd = fd
        self._slots = slots
        self._memory = mmap.mmap(fd, self.size(slots))

    @staticmethod
    def size(slots: int) -> int:
        """Bytes that a board takes."""
        return _HEAD.size + slots * _SLOT.size

    @classmethod
    def made(cls, slots: int) -> "Board":
        """A new one; on Linux."""
        fd = os.memfd_create("chargehand-board")
        os.ftruncate(fd, cls.size(slots))
        return cls(fd, slots)

    def tick(self, worker_id: UUID, stop_at: float) -> None:
        """Say that this process runs."""
        self.place(time.monotonic(), stop_at, worker_id)

    def place(self, ticked_at: float, stop_at: float, worker_id: UUID) -> None:
        """Write the head."""
        _HEAD.pack_into(self._memory, 0, ticked_at, stop_at, worker_id.bytes)

    def begin(self, slot: int, execution: Execution) -> None:
        """Say that the calling thread runs this."""
        grant = execution.grant
        self.put(slot, grant.token, threading.get_native_id(), execution.deadline, grant.task_id)

    def put(self, slot: int, token: int, thread: int, deadline: float, task_id: UUID) -> None:
        """Write a slot's place; the token last, for it makes the rest valid."""
        at = _HEAD.size + slot * _SLOT.size
        _SLOT.pack_into(self._memory, at, 0, thread, deadline, task_id.bytes)
        _TOKEN.pack_into(self._memory, at, token)

    def end(self, slot: int) -> None:
        """Say that the slot's thread runs nothing."""
        _TOKEN.pack_into(self._memory, _HEAD.size + slot * _SLOT.size, 0)

    def head(self) -> Head:
        """What was said last."""
        ticked_at, stop_at, worker = _HEAD.unpack_from(self._memory, 0)
        return Head(ticked_at, stop_at, UUID(bytes=worker))

    def running(self) -> list[Running]:
        """What the threads run."""
        found = [
            _SLOT.unpack_from(self._memory, _HEAD.size + slot * _SLOT.size)
            for slot in range(self._slots)
        ]
        return [
            Running(token, thread, deadline, UUID(bytes=task))
            for token, thread, deadline, task in found
            if token
        ]
