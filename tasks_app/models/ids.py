"""Ids of rows."""

import uuid

from uuid_utils import compat


def new_id() -> uuid.UUID:
    """A UUIDv7: ids sort by the time they were made, so pages and indexes follow creation."""
    return compat.uuid7()
