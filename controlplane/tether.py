"""Tie a process's life to that of the one that started it (Linux).

As a program, ``python tether.py PARENT_PID SIGNAL UID:GID COMMAND...``: the standard library only
and no import of the project, because it also runs inside a user namespace. The kernel sends the
signal when the *thread* that started the command ends, so start it from one that lives.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def tethered(number: int, command: Sequence[str], ids: tuple[int, int] | None = None) -> list[str]:
    """Return the command line that ties ``command``, as user and group, to the calling process."""
    account = ":".join(map(str, ids or (os.geteuid(), os.getegid())))
    return [sys.executable, "-I", __file__, str(os.getpid()), str(int(number)), account, *command]


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
    """Change the account, tie this process, unblock its signals, then become the command."""
    user, group = map(int, arguments[2].split(":"))
    # Only where it differs: inside a user namespace root has another number already.
    if os.geteuid() == 0 and user != 0:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    # After that, because a change of account forgets the tie.
    tie(int(arguments[1]), int(arguments[0]))
    # The mask outlives exec, and the starter may wait for its signals with them blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    command = arguments[3:]
    os.execvp(command[0], command)  # noqa: S606  # becoming the command is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
