"""Where an entry of the audit leads: the page of what somebody did something to."""

import re
from typing import Final

from django.urls import reverse

ID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

PAGES: Final = {
    rf"({ID})": "web:task",
    rf"worker ({ID})": "web:worker",
    rf"job ({ID})": "web:job",
    rf"(?:.*, )?bulk ({ID})": "web:bulk",
    r"dead letters ([0-9a-f]{16})": "web:dead_group",
}


def address_of(subject: str) -> str:
    """The address of the page of a subject, or nothing where it has none.

    >>> address_of("dead letters 0a1b2c3d4e5f6071"), address_of("3 tasks")
    ('/dead-letters/0a1b2c3d4e5f6071/', '')
    """
    for pattern, page in PAGES.items():
        if found := re.fullmatch(pattern, subject):
            return reverse(page, args=[found[1]])
    return ""
