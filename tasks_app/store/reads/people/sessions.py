"""Who is logged in where: Django keeps no list by user, so the live log-ins are looked through."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

LOOKED_AT: Final = 5_000
"""Live log-ins looked through, those that expire last first: 0.1 s."""


@dataclass(frozen=True, slots=True)
class LogIn:
    """One live log-in of a user."""

    key: str
    expires_at: datetime


def sessions_of(user_id: int) -> Sequence[LogIn]:
    """A user's live log-ins, the newest first."""
    live = Session.objects.filter(expire_date__gt=timezone.now()).order_by("-expire_date")
    return [
        LogIn(session.session_key, session.expire_date)
        for session in live[:LOOKED_AT]
        if session.get_decoded().get(SESSION_KEY) == str(user_id)
    ]
