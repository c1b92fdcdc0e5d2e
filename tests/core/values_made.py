"""Values that handlers might return, the hostile ones among them."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import Enum, IntEnum, StrEnum
from typing import Any, NoReturn

from tasks_app.core.intake.payloads import PayloadLimits, check_payload
from tasks_app.core.sanitise import MAX_BYTES, MAX_DEPTH

STORABLE = PayloadLimits(MAX_BYTES, MAX_DEPTH, max_nodes=10**9)


def is_storable(value: Any) -> bool:
    """By the check at the door, and by the encoder that writes it."""
    json.dumps(value, allow_nan=False)
    return check_payload(value, STORABLE) == []


class Raises:
    """Raises whatever is done with it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __str__(self) -> str:
        raise RuntimeError("str")


class Endless(Sequence[int]):
    """A sequence without end that claims a length."""

    def __len__(self) -> int:
        return 10**12

    def __getitem__(self, at: Any) -> Any:
        return at


class BrokenMapping(Mapping[str, int]):
    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[str]:
        yield "a"
        raise RuntimeError("torn")

    def __getitem__(self, key: str) -> int:
        return 1


class Quits:
    """Ends the process that looks at it, unless somebody minds."""

    def __repr__(self) -> str:
        raise SystemExit(3)


class Deep:
    """Each repr asks for the next, without end."""

    def __repr__(self) -> str:
        return repr(Deep())


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


@dataclasses.dataclass
class Verdict:
    label: str
    when: date
