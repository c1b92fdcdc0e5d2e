"""One fault of something that came from outside, with its place."""

from dataclasses import dataclass

from tasks_app.core.words import side_by_side


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong (``message``) and where (``place``: a path, a field, a line)."""

    place: str
    message: str

    def __str__(self) -> str:
        """The one line that a person reads.

        >>> str(Fault("$.rows[3]", "NaN is no JSON number"))
        '$.rows[3]: NaN is no JSON number'
        """
        return side_by_side(self.place, self.message, between=": ")
