"""Append-only files that many processes write at once, and one that holds each key only once."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Final

KEY: Final = "key"


def append(path: Path, entry: Mapping[str, Any]) -> None:
    """Append one line of JSON, whatever the file holds already; lines of processes never mix."""
    with path.open("ab", buffering=0) as file:
        _write_line(file, entry)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Return the entries of a file, none where it does not exist yet; a torn last line is none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


class KeyedOutbox:
    """Entries by key: a second one with a key that is there is not written, whoever asks.

    Safe between threads and processes of one machine: looking and writing are one step under the
    file's lock, which ends with its holder. One object reads each line of the file once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: set[str] = set()
        self._read_up_to = 0

    def append_once(self, key: str, entry: Mapping[str, Any]) -> bool:
        """Append an entry unless its key was written before; return whether it was appended."""
        with self._path.open("a+b", buffering=0) as file:
            # Each open file has a lock of its own, so this one also holds other threads off.
            fcntl.flock(file, fcntl.LOCK_EX)
            self._catch_up(file)
            if key in self._keys:
                return False
            _write_line(file, {KEY: key, **entry})
            return True

    def _catch_up(self, file: FileIO) -> None:
        """Learn the keys that were written since the last look."""
        file.seek(self._read_up_to)
        news = file.readall() or b""
        whole = news.rfind(b"\n") + 1
        if whole < len(news):
            # The writer died within its line: what is torn was never sent, so it may go.
            file.truncate(self._read_up_to + whole)
        self._keys.update(json.loads(line)[KEY] for line in news[:whole].splitlines())
        self._read_up_to += whole


def _write_line(file: FileIO, entry: Mapping[str, Any]) -> None:
    line = json.dumps(entry).encode() + b"\n"
    # One call on a descriptor that appends: the kernel puts the whole line at the end.
    if os.write(file.fileno(), line) != len(line):
        raise OSError(f"{file.name}: a line was written in part; is the disk full?")
