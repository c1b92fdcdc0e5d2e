"""The language of whoever looks: what the layers below said in English, in its words."""

from django.utils.translation import gettext, ngettext

from tasks_app.core.words import Words


def translated(text: str) -> str:
    """Say a sentence in the active language; a text that is no ``Words`` is as it was.

    What was read back from the database is plain text, and so stays English.
    """
    if not isinstance(text, Words):
        return text
    many = text.many
    template = ngettext(text.template, many, text.number) if many else gettext(text.template)
    return template % {
        name: translated(value) if isinstance(value, str) else value
        for name, value in text.params.items()
    }
