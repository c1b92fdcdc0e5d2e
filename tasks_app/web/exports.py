"""Lists as CSV or JSON lines, sent while they are read: any list, up to a bound."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from tasks_app.core.tables import Columns, Row, csv_text, json_text

MOST_ROWS: Final = 100_000
"""Rows of one file; a narrower filter gives the rest."""


def stream(
    request: HttpRequest, name: str, columns: Columns[Row], pages: Iterable[Sequence[Row]]
) -> StreamingHttpResponse:
    """Answer with a file of all the pages' rows, in the ``format`` that the address asks for."""
    as_json = request.GET.get("format") == "json"
    parts = _json_parts(columns, pages) if as_json else _csv_parts(columns, pages)
    # A web server that speaks ASGI would first read all of an ordinary iterator into memory.
    content = _awaited(parts) if isinstance(request, ASGIRequest) else parts
    kind = "application/x-ndjson" if as_json else "text/csv; charset=utf-8"
    response = StreamingHttpResponse(content, content_type=kind)
    file = f"{name}.{'jsonl' if as_json else 'csv'}"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    response["X-Accel-Buffering"] = "no"
    return response


def in_pages(rows: Iterable[Row], size: int = 500) -> Iterator[Sequence[Row]]:
    """Rows that come one by one, as pages, up to ``MOST_ROWS``."""
    left = islice(rows, MOST_ROWS)
    while page := list(islice(left, size)):
        yield page


async def _awaited(parts: Iterator[str]) -> AsyncIterator[str]:
    following = sync_to_async(lambda: next(parts, None))
    while (part := await following()) is not None:
        yield part


def _csv_parts(columns: Columns[Row], pages: Iterable[Sequence[Row]]) -> Iterator[str]:
    yield csv_text(columns, (), headings=True)
    for page in pages:
        yield csv_text(columns, page, headings=False)


def _json_parts(columns: Columns[Row], pages: Iterable[Sequence[Row]]) -> Iterator[str]:
    for page in pages:
        yield "".join(json_text(columns, row) + "\n" for row in page)
