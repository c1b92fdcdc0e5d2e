"""A Python traceback as text, read for the frames that the reader can do something about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NOT_THE_APPS: Final = (
    "site-packages",
    "dist-packages",
    "/lib/python",
    "\\lib\\",
    "tasks_app/sdk/",
    "<",
)
"""Parts of paths that are not the application's own: libraries, the worker's runtime, no files."""

MOST_FRAMES: Final = 12

_FRAME: Final = re.compile(
    r'^[ \t|+-]*File "([^"\n]+)", line ([0-9]+), in ([^\n]+)\n(?:[ \t|]+(?!File ")([^\n]*))?',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One call: where it stands, in which function, and the line of code, if it is told."""

    file: str
    line: int
    function: str
    code: str


def is_app_path(path: str) -> bool:
    """Whether a file is the application's own.

    >>> is_app_path("/srv/shop/mail.py"), is_app_path("/venv/lib/python3.11/site-packages/x.py")
    (True, False)
    """
    return not any(part in path for part in NOT_THE_APPS)


def app_frames(traceback: str) -> Sequence[Frame]:
    r"""The frames of the application's own code, the innermost first, at most ``MOST_FRAMES``.

    >>> app_frames('  File "/srv/shop/mail.py", line 7, in send\n    post(x)\n'
    ...            '  File "/venv/site-packages/http.py", line 9, in post\n    raise Gone\n')
    [Frame(file='/srv/shop/mail.py', line=7, function='send', code='post(x)')]
    """
    found = [
        Frame(path, int(line[:9]), function.strip(), code.strip())
        for path, line, function, code in _FRAME.findall(traceback)
        if is_app_path(path)
    ]
    return found[: -MOST_FRAMES - 1 : -1]
