"""The names of the kinds of work, and what the people's own one is like."""

from typing import Any, Final

from examples.ticket_triage.replies import TEMPLATES

CLASSIFY: Final = "classify_ticket"
DRAFT: Final = "draft_reply"
ANSWER: Final = "answer_in_person"

ANSWER_KIND: Final[dict[str, Any]] = {
    "by_people": True,
    "description": "The classifier was unsure: read the ticket and answer it yourself.",
    "result_schema": {
        "type": "object",
        "properties": {
            "topic": {"enum": sorted(TEMPLATES), "title": "What is it about?"},
            "answer": {
                "type": "string",
                "format": "text",
                "minLength": 10,
                "maxLength": 2000,
                "title": "What we write",
                "description": "It goes to the customer as you write it.",
            },
        },
        "required": ["topic", "answer"],
        "additionalProperties": False,
    },
}
"""Whoever takes it from the inbox fills in this schema as a form."""
