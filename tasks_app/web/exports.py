"""Lists as CSV or JSON lines, sent while they are read, page by page: any list, without a bound.

No connection is held between two pages, few pages are read at a time, and a person has few exports
under way: whoever takes a file slowly, or takes many, holds nobody up.
"""

import json
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, StreamingHttpResponse

from tasks_app.core.drawing.tables import Columns, Row, csv_text, json_text
from tasks_app.core.words import say
from tasks_app.services.people.request_limits import TooManyRequests
from tasks_app.services.people.turns import Turns

C = TypeVar("C")

INCOMPLETE: Final = "INCOMPLETE: %s; what follows is missing. Narrow the list down."
"""The last line of a file that could not be written to its end."""


HEADER: Final = "X-Chargehand-Incomplete"
"""The header of a file that is known beforehand not to hold all: it says why."""


MOST_AT_ONCE: Final = 3
"""Exports that one person may have under way."""

RETRY_SECONDS: Final = 10.0

of_person: Final = Turns(MOST_AT_ONCE)
reading: Final = Turns(2, waiting=100, longest_wait=120.0)
"""Pages of exports that are read at a time: the other connections are for pages of the site."""


class Cut(Exception):
    """Pages end before the list does; the message is why."""


def stream(
    request: HttpRequest,
    name: str,
    columns: Columns[Row],
    pages: Iterable[Sequence[Row]],
    cut: str = "",
) -> StreamingHttpResponse:
    """Answer with a file of all the pages' rows, in the ``format`` that the address asks for.

    ``bom=1`` begins a CSV file with the mark by which Excel knows UTF-8.
    ``cut`` says why the list is longer than the pages, where it is: in a header and the last line.
    """
    as_json = request.GET.get("format") == "json"
    wanted = () if request.method == "HEAD" else _in_turn(pages)
    parts = (_json_parts if as_json else _csv_parts)(columns, _whole(wanted, cut))
    if request.GET.get("bom") == "1" and not as_json:
        parts = _marked(parts)
    # A web server that speaks ASGI would first read all of an ordinary iterator into memory.
    content = _awaited(parts) if isinstance(request, ASGIRequest) else parts
    kind = "application/x-ndjson" if as_json else "text/csv; charset=utf-8"
    response = Export(f"person {request.user.pk}", content, content_type=kind)
    file = f"{name}.{'jsonl' if as_json else 'csv'}"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    response["X-Accel-Buffering"] = "no"
    if cut:
        response[HEADER] = cut
    return response


class Export(StreamingHttpResponse):
    """A file under way: one of the few that a person may have, until it is closed or forgotten."""

    def __init__(self, person: str, *args: Any, **kwargs: Any) -> None:
        if not of_person.take(person):
            raise TooManyRequests(
                say(
                    "%(most)s exports of yours are under way. Nothing was exported.",
                    most=MOST_AT_ONCE,
                ),
                RETRY_SECONDS,
            )
        # Once, whichever comes first: closed by the server, or dropped before anybody read it.
        self._end = weakref.finalize(self, of_person.give, person)
        super().__init__(*args, **kwargs)

    def close(self) -> None:
        """End it."""
        self._end()
        super().close()


def columns_of(row: type[Any], *without: str) -> Columns[Any]:
    """A column for each field of a row's class, in their order."""
    return {name: attrgetter(name) for name in row.__annotations__ if name not in without}


def follow(
    read: Callable[[C | None], tuple[Sequence[Row], C | None]],
) -> Iterator[Sequence[Row]]:
    """Pages one after the other, each behind the cursor that the one before gave."""
    cursor: C | None = None
    while True:
        rows, cursor = read(cursor)
        yield rows
        if cursor is None:
            return


def _whole(pages: Iterable[Sequence[Row]], cut: str) -> Iterator[Sequence[Row]]:
    yield from pages
    if cut:
        raise Cut(cut)


def _in_turn(pages: Iterable[Sequence[Row]]) -> Iterator[Sequence[Row]]:
    """The pages, each read in its turn among all exports of the process."""
    following = iter(pages)
    while True:
        if not reading.take():
            raise TimeoutError(say("too many exports are under way"))
        try:
            page = next(following, None)
        finally:
            reading.give()
        if page is None:
            return
        yield page


async def _awaited(parts: Iterator[str]) -> AsyncIterator[str]:
    def read() -> str | None:
        try:
            return next(parts, None)
        finally:
            # Until the reader has taken this part no connection is needed.
            close_old_connections()

    following = sync_to_async(read)
    while (part := await following()) is not None:
        yield part


def _marked(parts: Iterator[str]) -> Iterator[str]:
    yield "\ufeff"
    yield from parts


def _csv_parts(columns: Columns[Row], pages: Iterable[Sequence[Row]]) -> Iterator[str]:
    yield csv_text(columns, (), headings=True)
    try:
        for page in pages:
            yield csv_text(columns, page, headings=False)
    except (TimeoutError, Cut) as late:
        yield f'"{INCOMPLETE % late}"\r\n'


def _json_parts(columns: Columns[Row], pages: Iterable[Sequence[Row]]) -> Iterator[str]:
    try:
        for page in pages:
            yield "".join(json_text(columns, row) + "\n" for row in page)
    except (TimeoutError, Cut) as late:
        yield json.dumps({"incomplete": INCOMPLETE % late}) + "\n"
