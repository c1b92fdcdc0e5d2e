"""Keep one line of a Procfile running: whatever ends or falls silent is started again.

``python -m controlplane.keeper PROCFILE NAME``. Operators kill processes, and a Procfile runner
ends everything when one line ends; so each line runs under one of these. Its own command line does
not repeat the command, so that killing by name hits the child and not its keeper.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from honcho.environ import parse_procfile

from controlplane.silence import WATCHED, SilenceWatch
from controlplane.tether import tethered
from tasks_app.sdk.exit_codes import EXIT_REPLACED

FIRST_DELAY: Final = 0.5
LONGEST_DELAY: Final = 15.0
# A child that ran for so long was not failing at its start: the delay begins anew.
SETTLED_SECONDS: Final = 30.0
# The runner above kills after 5 s, and everything is promised to be gone within 10 s on a busy
# machine. What is cut off loses nothing: a supervisor has freed its lease by then, and Celery only
# waits for its own poll of the broker.
GRACE_SECONDS: Final = 3.0
LOOK_SECONDS: Final = 1.0
STOPPING: Final = frozenset({signal.SIGTERM, signal.SIGINT})
AWAITED: Final = STOPPING | {signal.SIGCHLD}

Fault = Callable[[float], str | None]
"""Told how long the child has run, in seconds: why it must be replaced, or None."""


class Keeper:
    """One command kept running in the calling thread, which must be the main one."""

    def __init__(self, command: Sequence[str], fault: Fault | None = None) -> None:
        self._command = list(command)
        self._fault = fault
        self._delay = FIRST_DELAY

    def run(self) -> int:
        """Keep the command until SIGTERM or SIGINT, then end it; return 0."""
        # Blocked and waited for, not handled: nothing can arrive between a look and a wait.
        signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        while True:
            started = time.monotonic()
            child = self._start()
            reason = self._watch(child, started)
            code = _end(child)
            if reason is None:
                return 0
            if not reason and code == EXIT_REPLACED:
                _say("replaced by a newer process with its name; give each worker its own --name")
                # Not ended: a runner ends every line when one does.
                signal.sigwait(STOPPING)
                return 0
            if time.monotonic() - started > SETTLED_SECONDS:
                self._delay = FIRST_DELAY
            _say(f"{reason or _how_it_ended(code)}; starting it again in {self._delay:g} s")
            if self._pause(self._delay):
                return 0
            self._delay = min(self._delay * 2, LONGEST_DELAY)

    def _start(self) -> subprocess.Popen[bytes]:
        # A group of its own, so that what it started can be ended with it; SIGKILL on this
        # keeper's death, because then nobody is left to insist.
        return subprocess.Popen(  # noqa: S603
            tethered(signal.SIGKILL, self._command), start_new_session=True
        )

    def _watch(self, child: subprocess.Popen[bytes], started: float) -> str | None:
        """Return why it must be started again ("" when it ended by itself); None: end for good."""
        while child.poll() is None:
            found = signal.sigtimedwait(AWAITED, LOOK_SECONDS)
            if found is not None and found.si_signo in STOPPING:
                return None
            fault = self._fault(time.monotonic() - started) if self._fault else None
            if fault:
                return fault
        return ""

    def _pause(self, seconds: float) -> bool:
        """Wait; return whether the end was asked for meanwhile."""
        return signal.sigtimedwait(STOPPING, seconds) is not None


def _end(child: subprocess.Popen[bytes]) -> int:
    """End the child: gently, then for sure; then whatever it left in its group."""
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
    code = child.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return code


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended by itself with code {code}"


def _say(words: str) -> None:
    print(f"keeper: {words}", flush=True)


def main() -> int:
    """Keep the named line."""
    parser = argparse.ArgumentParser(prog="python -m controlplane.keeper")
    parser.add_argument("procfile", type=Path)
    parser.add_argument("name")
    asked = parser.parse_args()
    lines = parse_procfile(asked.procfile.read_text()).processes
    if asked.name not in lines:
        parser.error(f"{asked.procfile} has no line {asked.name!r}")
    beats = WATCHED.get(asked.name)
    fault = SilenceWatch(beats).fault if beats else None
    return Keeper(["/bin/sh", "-c", f"exec {lines[asked.name]}"], fault).run()


if __name__ == "__main__":
    sys.exit(main())
