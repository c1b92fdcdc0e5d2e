"""The names of the kinds of work, and what the reviewers' own one is like."""

from typing import Any, Final

IMAGE: Final = "analyse_image"
TEXT: Final = "analyse_text"
NOTIFY: Final = "notify_reviewers"
REVIEW: Final = "review_content"
SETTLE: Final = "settle_verdict"
MACHINES: Final = (IMAGE, TEXT, NOTIFY, SETTLE)

ALLOW: Final = "allow"
BLOCK: Final = "block"
UNCLEAR: Final = "unclear"
"""Of an image in which nothing can be made out: it agrees with no text."""

APPROVE: Final = "approve"
REJECT: Final = "reject"

REVIEW_KIND: Final[dict[str, Any]] = {
    "by_people": True,
    "description": "Image and text of a post were judged differently: look, and decide.",
    "result_schema": {
        "type": "object",
        "properties": {
            "decision": {"enum": [APPROVE, REJECT], "title": "May it be shown?"},
            "reason": {
                "type": "string",
                "maxLength": 500,
                "description": "What its author is told; needed to reject.",
            },
        },
        "required": ["decision"],
        "additionalProperties": False,
        "if": {"properties": {"decision": {"const": REJECT}}},
        "then": {"required": ["reason"]},
    },
}
"""Whoever takes it fills in this schema as a form; approve and reject are its buttons."""
