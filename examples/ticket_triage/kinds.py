"""The names of the two kinds of work."""

from typing import Final

CLASSIFY: Final = "classify_ticket"
DRAFT: Final = "draft_reply"
