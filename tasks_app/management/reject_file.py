"""The file of rows that were not submitted: it replaces an earlier one and nothing else."""

import fcntl
import json
import os
import secrets
import stat
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from tasks_app.core.intake.payloads import LIMITS
from tasks_app.management.file_rows import LONGEST_ROW, FileUnreadable, Row, told

ENTRY: Final = frozenset({"line", "faults", "row"})
"""What each line of a reject file has."""

LONGEST_ENTRY: Final = 8 * (LONGEST_ROW + LIMITS.max_bytes)
BEGINNING: Final = b'{"line": '
"""How an entry begins, also one that a full disk has cut short."""


class RejectFile:
    """JSON Lines of rows that were set aside, written beside ``path`` and put there by ``begin``.

    Whether it can be written, and whether what is there may be replaced, shows before the first
    row. No rejected row, no file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A folder, such as ``.``, may have no name: it is refused before the draft is written.
        self._draft = path.parent / f".{path.name[:80]}.{secrets.token_hex(6)}"
        self._file: TextIO | None = None
        self._begun = False
        self.entries = 0

    def __enter__(self) -> Self:
        check_replaceable(self.path)
        try:
            # Line by line, so that a full disk shows at the row that it concerns.
            self._file = self._draft.open("x", encoding="utf-8", buffering=1)
            # Another run that would replace it sees that somebody still writes.
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError as error:
            raise FileUnreadable(
                f"--rejects: {self.path} cannot be written ({error.strerror}); give another path"
            ) from error
        return self

    def begin(self) -> None:
        """Take the place of the earlier reject file: the first row is there."""
        if not self._begun:
            check_replaceable(self.path)
            self._draft.replace(self.path)
            self._begun = True

    def add(self, row: Row, faults: list[dict[str, str]]) -> None:
        """Set a row aside: its lines, its faults, and its text as it stands in the file."""
        assert self._file is not None, "only between enter and exit"
        place: dict[str, object] = {"line": row.line}
        if row.end > row.line:
            place["last_line"] = row.end
        entry = {**place, "faults": faults, "row": told(row.raw)}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self.entries += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        mine = os.fstat(self._file.fileno())
        try:
            self._file.close()
        finally:
            place = self.path if self._begun else self._draft
            if not self.entries and place.exists() and os.path.samestat(mine, place.lstat()):
                place.unlink()


def check_replaceable(path: Path) -> None:
    """Whether nothing is lost by writing there. Raises FileUnreadable."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"--rejects: {path} cannot be looked at ({error.strerror}); give another path"
        raise FileUnreadable(message) from error
    if not stat.S_ISREG(found.st_mode):
        what = _what(found.st_mode)
        raise FileUnreadable(f"--rejects: {path} is {what}; give the path of a file of its own")
    if not _is_reject_file(path):
        raise FileUnreadable(
            f"--rejects: {path} exists and is not the reject file of an earlier run; give another "
            "path, or move it away"
        )


def _what(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe"}
    return kinds.get(stat.S_IFMT(mode), "a device or socket")


def _is_reject_file(path: Path) -> bool:
    """Whether each line is an entry; an empty file has nothing to lose."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            while line := file.readline(LONGEST_ENTRY):
                if not (_is_entry(line) if line.endswith(b"\n") else line.startswith(BEGINNING)):
                    return False
    except BlockingIOError as error:
        message = f"--rejects: another run is writing {path}; give another path"
        raise FileUnreadable(message) from error
    except OSError as error:
        message = f"--rejects: {path} cannot be read ({error.strerror}); give another path"
        raise FileUnreadable(message) from error
    return True


def _is_entry(line: bytes) -> bool:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and entry.keys() >= ENTRY
