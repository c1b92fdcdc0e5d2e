"""A request gives its database connection back once its answer is made, not once it is read."""

from collections.abc import Callable

from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class GiveBack:
    """The outermost of the middleware: a reader that is slow to take an answer holds no connection.

    Django closes behind a request when the last byte is handed over, which a reader can delay.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and close behind it; what is streamed opens and closes for each page itself."""
        try:
            return self._get_response(request)
        finally:
            close_old_connections()
