"""Tie a process's life to that of the one that started it (Linux).

As a program, ``python tether.py PARENT_PID SIGNAL COMMAND...``: the standard library only and no
import of the project, because it also runs as another user and inside a user namespace. The kernel
sends the signal when the *thread* that started the command ends, so start it from one that lives.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def tethered(number: int, command: Sequence[str]) -> list[str]:
    """Return the command line that ties ``command`` to the calling process."""
    return [sys.executable, "-I", __file__, str(os.getpid()), str(int(number)), *command]


def tie(number: int, parent: int) -> None:
    """Have this process signalled when its parent dies; exit if that has happened already."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        sys.exit(128 + number)


def main(arguments: list[str]) -> None:
    """Tie this process, give it the default signal mask, then become the command."""
    tie(int(arguments[1]), int(arguments[0]))
    # The mask outlives exec, and the starter may wait for its signals with them blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    command = arguments[2:]
    os.execvp(command[0], command)  # noqa: S606  # becoming the command is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
