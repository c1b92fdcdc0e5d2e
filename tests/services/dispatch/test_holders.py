"""Who leads, by name, and whether that process is gone."""

import os
import subprocess
import sys

from tasks_app.services.dispatch.leader_holders import holder_name, is_gone


def named(pid: int) -> str:
    """The name that a process of this place would have."""
    return holder_name().replace(f":{os.getpid()}:", f":{pid}:")


def test_a_process_is_gone_once_it_has_ended_also_while_nobody_has_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert not is_gone(named(child.pid))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(named(child.pid)), "a zombie leads no more"
    assert is_gone(named(child.pid))


def test_nobody_speaks_for_processes_of_another_place() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(30)
    here = named(ended.pid)
    assert is_gone(here)
    assert not is_gone(here.rpartition("@")[0] + "@000000")
    assert not is_gone("host:1:2")
    assert not is_gone("")
    assert not is_gone(holder_name())
