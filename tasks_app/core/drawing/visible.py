"""Text from outside made visible: what would move the reader's eye elsewhere is written out."""

import re
from typing import Final

# Controls, and the marks that turn the direction of what follows: a name could pose as another.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


def visible(text: str) -> str:
    r"""The text with controls and direction marks as their codes; line breaks and tabs stay.

    >>> visible("a\u202egnp.exe"), visible("bell\x07"), visible("two\nlines")
    ('a\\u202egnp.exe', 'bell\\u0007', 'two\nlines')
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
