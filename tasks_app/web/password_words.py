"""Passwords made of this site's own words are the first that a stranger tries."""

import re
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

WORDS: Final = (
    *("chargehand", "supervisor", "administrator", "dashboard", "operator", "password", "passwort"),
    *("viewer", "worker", "welcome", "queue", "tasks", "admin", "task", "root", "user", "jobs"),
)
"""Product, roles and what the pages speak of; longer words first, so that none hides another."""

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_OWN: Final = re.compile("|".join(WORDS))


class OwnWordsValidator:
    """Refuses a password that has no letter beside these words."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for such a password."""
        letters = "".join(_LETTERS.findall(password.casefold()))
        if letters and not _OWN.sub("", letters):
            raise ValidationError(
                _("This password is made of words that everybody knows of this site. Add others."),
                code="password_own_words",
            )

    def get_help_text(self) -> str:
        """What a form says beforehand."""
        return _("Words such as chargehand, admin or worker alone are not a password.")
