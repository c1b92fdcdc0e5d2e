"""Lists as CSV or JSON lines, sent while they are read, page by page: any list, without a bound."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from tasks_app.core.tables import Columns, Row, csv_text, json_text

C = TypeVar("C")

INCOMPLETE: Final = "INCOMPLETE: %s; what follows is missing. Narrow the list down."
"""The last line of a file that could not be written to its end."""


HEADER: Final = "X-Chargehand-Incomplete"
"""The header of a file that is known beforehand not to hold all: it says why."""


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

    ``cut`` says why the list is longer than the pages, where it is: in a header and the last line.
    """
    as_json = request.GET.get("format") == "json"
    parts = (_json_parts if as_json else _csv_parts)(columns, _whole(pages, cut))
    # A web server that speaks ASGI would first read all of an ordinary iterator into memory.
    content = _awaited(parts) if isinstance(request, ASGIRequest) else parts
    kind = "application/x-ndjson" if as_json else "text/csv; charset=utf-8"
    response = StreamingHttpResponse(content, content_type=kind)
    file = f"{name}.{'jsonl' if as_json else 'csv'}"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    response["X-Accel-Buffering"] = "no"
    if cut:
        response[HEADER] = cut
    return response


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


async def _awaited(parts: Iterator[str]) -> AsyncIterator[str]:
    following = sync_to_async(lambda: next(parts, None))
    while (part := await following()) is not None:
        yield part


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
