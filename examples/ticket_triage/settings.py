"""Where the handlers of this example read and write, and how they behave; from the environment."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from controlplane import environment
from tasks_app.core.literals import NotReadable, decimal_number

HERE: Final = Path(__file__).parent
OWN_TICKETS: Final = HERE / "tickets.csv"
OWN_HISTORY: Final = HERE / "history.csv"

HISTORY: Final = "TRIAGE_HISTORY"
FOLDER: Final = "TRIAGE_FOLDER"
LATENCY: Final = "TRIAGE_LATENCY"
TRANSIENT_SHARE: Final = "TRIAGE_TRANSIENT_SHARE"


@dataclass(frozen=True, slots=True)
class TriageSettings:
    """``history`` is the labelled CSV to learn from; model, outboxes and log are in ``folder``.

    ``latency`` are the seconds, from and to, that each step pretends to wait for another system;
    of the first attempts a ``transient_share`` (0 to 1) fails as a mail server that is down would.
    """

    history: Path
    folder: Path
    latency: tuple[float, float]
    transient_share: float

    @property
    def executions(self) -> Path:
        """Each start of a handler, in the order of starting."""
        return self.folder / "executions.jsonl"

    @property
    def outbox(self) -> Path:
        """The replies, each key once."""
        return self.folder / "outbox.jsonl"

    @property
    def outbox_without_key(self) -> Path:
        """The replies as they would be sent with no regard to the key."""
        return self.folder / "outbox_without_key.jsonl"


def from_environment() -> TriageSettings:
    """Read the settings; a wrong one ends the process with a sentence."""
    history = Path(os.environ.get(HISTORY) or OWN_HISTORY).absolute()
    if not history.is_file():
        remedy = "set it to a CSV file with the columns text and category"
        environment.refuse(HISTORY, f"names no file ({history})", remedy)
    folder = Path(os.environ.get(FOLDER) or environment.var_folder() / "ticket_triage").absolute()
    return TriageSettings(history, folder, _range(LATENCY, "1-4"), _share(TRANSIENT_SHARE, "0.05"))


def _range(name: str, default: str) -> tuple[float, float]:
    value = os.environ.get(name) or default
    low, _, high = value.partition("-")
    try:
        seconds = decimal_number(low), decimal_number(high or low)
    except NotReadable:
        seconds = math.nan, math.nan
    if not 0 <= seconds[0] <= seconds[1] < math.inf:
        environment.refuse(name, f"is {value!r}", "set it to seconds, such as 1-4 or 2")
    return seconds


def _share(name: str, default: str) -> float:
    value = os.environ.get(name) or default
    try:
        share = decimal_number(value)
    except NotReadable:
        share = math.nan
    if not 0 <= share <= 1:
        environment.refuse(name, f"is {value!r}", "set it to a number from 0 to 1")
    return share
