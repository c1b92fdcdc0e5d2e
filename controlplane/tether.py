"""Run a command that is signalled when the process that started it dies (Linux).

``python tether.py PARENT_PID SIGNAL COMMAND...``: the standard library and no import of the project, because it also runs as another user and inside a user namespace. The kernel sends the
signal when the *thread* that started the command ends, so start from one that lives.
"""

import ctypes
import os
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def tethered(signal: int, command: Sequence[str]) -> list[str]:
    """Return the command line that ties ``command`` to the calling process."""
    return [sys.executable, "-I", __file__, str(os.getpid()), str(int(signal)), *command]


def main(arguments: list[str]) -> None:
    """Set the parent-death signal, then become the command."""
    parent, signal, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
        # The parent may have died before the line above: then no signal will come.
        if os.getppid() != parent:
            sys.exit(128 + signal)
    os.execvp(command[0], command)  # noqa: S606  # becoming the command is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
