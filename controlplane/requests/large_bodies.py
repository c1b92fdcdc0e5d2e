"""What is larger than any request of this site may be, let go of while it comes in.

Daphne has no bound of its own: it takes in a whole body before it asks the application, and then
holds all of it in memory.
"""

import json
from typing import Any

from daphne import http_protocol
from django.conf import settings

from controlplane.requests.sub_path import within


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]  # daphne has no types
    """A request that keeps no more of its body than it may have, and is answered 413 for more."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._taken = 0

    @property
    def _too_large(self) -> bool:
        return self._taken > settings.DATA_UPLOAD_MAX_MEMORY_SIZE

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        """Keep a part of the body; past the bound it is dropped, yet read, or no answer is."""
        self._taken += len(data)
        if self._too_large:
            self.content.truncate(0)
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """Hand the request on once it is whole, or refuse it."""
        if not self._too_large:
            return super().process()
        detail = f"a body has at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes"
        for_programs = within(self.path.decode("latin-1"), settings.SUB_PATH).startswith("/api/")
        text = json.dumps({"detail": detail}) if for_programs else f"Too large: {detail}.\n"
        kind = b"application/json" if for_programs else b"text/plain; charset=utf-8"
        headers = [(b"Content-Type", kind)]
        self.handle_reply({"type": "http.response.start", "status": 413, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": text.encode()})
        return None
