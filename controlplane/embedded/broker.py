"""The broker of folders, kombu's, whose files are never seen half written.

kombu 5.7 opens a file first and locks and fills it afterwards. Whoever comes in between reads an
empty one: a worker that takes such a message, or a publisher that looks up such a queue, ends with
a JSONDecodeError, and a SIGKILL there leaves the queue unreadable for good.
"""

import logging
import os
from pathlib import Path
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

log = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    """Fills a file under another name, and only then gives it the one that is looked for."""

    # The two classes of kombu that it overrides disagree about the name of the second argument.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Put a message on a queue; they are taken by name, so that the first comes first."""
        folder = Path(self.data_folder_out)
        name = f"{monotonic_ns():020}_{uuid4()}.{queue}.msg"
        try:
            text: str = dumps(payload)  # type: ignore[no-untyped-call]  # kombu has no types
            _filled(folder, text).rename(folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot write to the broker's folder: {error}") from error

    def _get(self, queue: str, timeout: Any = None) -> Any:
        """Take the next message that is one; a file that is none has left the folder by then."""
        while True:
            try:
                message = super()._get(queue)  # type: ignore[no-untyped-call]  # kombu has no types
            except ValueError as error:
                log.warning("a message of the broker cannot be read and is thrown away: %s", error)
                continue
            if isinstance(message, dict):
                return message
            log.warning("a file of the broker is no message and is thrown away")

    def get_table(self, exchange: str) -> list[Any]:
        """Read who listens to an exchange; a table that cannot be read is made again."""
        try:
            table: list[Any] = super().get_table(exchange)  # type: ignore[no-untyped-call]
        except (ValueError, TypeError) as error:
            path = Path(self.control_folder) / f"{exchange}.exchange"
            log.warning("%s cannot be read (%s) and is thrown away: it is made again", path, error)
            path.unlink(missing_ok=True)
            return []
        return table

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Bind a queue; the table of the exchange is there, and empty, before anything is added."""
        self.get_table(exchange)
        table = Path(self.control_folder) / f"{exchange}.exchange"
        if not table.exists():
            table.parent.mkdir(exist_ok=True)
            empty = _filled(table.parent, "[]")
            try:
                # Unlike a rename it leaves a table alone that somebody else has made meanwhile.
                os.link(empty, table)
            except FileExistsError:
                pass
            finally:
                empty.unlink()
        super()._queue_bind(  # type: ignore[no-untyped-call]  # kombu has no types
            exchange, routing_key, pattern, queue
        )


class Transport(filesystem.Transport):
    """``filesystem://`` with such a channel."""

    Channel = Channel


def _filled(folder: Path, text: str) -> Path:
    """A new file with this text, under a name that no queue and no exchange has."""
    path = folder / f".{uuid4()}"
    path.write_text(text, encoding="utf-8")
    return path


def use() -> None:
    """Have ``filesystem://`` mean this transport from now on."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
