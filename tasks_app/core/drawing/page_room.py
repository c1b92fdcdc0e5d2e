"""How much of JSON, tracebacks and logs one page draws, so that no record makes a page slow."""

from typing import Final

VALUES_OF_ONE: Final = 2_000
"""Values that are drawn of one JSON; the file has all of them."""

VALUES_OF_A_PAGE: Final = 6_000
CHARACTERS_OF_A_PAGE: Final = 1_000_000
"""Characters of texts within JSON; a payload and a result have up to 262,144 bytes each."""

TRACES_OF_A_PAGE: Final = 200_000
"""Characters of whole tracebacks: the latest ten of the longest."""

LINES_OF_A_PAGE: Final = 1_000
"""Log lines: the latest of twenty attempts that logged all they may."""

LONGEST_CONDITION: Final = 1_000
"""Characters of a condition in words; the plan has all of it."""


class Room:
    """What is left of one page: each kind of thing is counted apart."""

    def __init__(self) -> None:
        self.values = VALUES_OF_A_PAGE
        self.characters = CHARACTERS_OF_A_PAGE
        self.traces = TRACES_OF_A_PAGE
        self.lines = LINES_OF_A_PAGE

    def value(self) -> bool:
        """Take room for one value more, and say whether there is."""
        self.values -= 1
        return self.values >= 0

    def text(self, length: int) -> bool:
        """Take room for a text within JSON, and say whether there is."""
        if length > self.characters:
            return False
        self.characters -= length
        return True

    def trace(self, length: int) -> bool:
        """Take room for a traceback, and say whether there is."""
        if length > self.traces:
            return False
        self.traces -= length
        return True

    def log(self, lines: int) -> int:
        """Take room for log lines, and say for how many there is."""
        given = min(lines, self.lines)
        self.lines -= given
        return given
