"""Handlers of every temper, for the tests of the worker."""

import asyncio
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import PermanentError, RetryableError, handler

LET_GO = threading.Event()
"""Ends the stubborn handlers of this process."""

BEGUN = threading.Event()
"""A stubborn handler of this process has begun: a claim alone may never have reached its slot."""

CALLS_BEFORE: list[str] = []
"""The threads in which ``note_call`` was called."""

STUBBORN_LIMIT = 60.0
"""Seconds; a test that fails must not leave a thread behind for ever."""


def note_call() -> None:
    CALLS_BEFORE.append(threading.current_thread().name)


@handler("calls_before")
def calls_before(payload: Any, ctx: Context) -> int:
    """How often ``note_call`` was called in this process."""
    return len(CALLS_BEFORE)


@handler("echo")
def echo(payload: Any, ctx: Context) -> Any:
    return {"payload": payload, "attempt": ctx.attempt, "key": ctx.key, "inputs": ctx.inputs}


@handler("noop")
def noop(payload: Any, ctx: Context) -> None:
    return None


@handler("polite", skill=2.0)
def polite(payload: Any, ctx: Context) -> str:
    ctx.sleep(float(payload or STUBBORN_LIMIT))
    return "slept"


@handler("quick_timeout", timeout=0.1)
def quick_timeout(payload: Any, ctx: Context) -> str:
    ctx.sleep(STUBBORN_LIMIT)
    return "never"


@handler("stubborn")
def stubborn(payload: Any, ctx: Context) -> str:
    BEGUN.set()
    LET_GO.wait(STUBBORN_LIMIT)
    return "finished after all"


@handler("sleeper")
def sleeper(payload: Any, ctx: Context) -> str:
    time.sleep(float(payload))  # deaf to its context, as most code is
    return "woke"


@handler("progressing")
def progressing(payload: Any, ctx: Context) -> str:
    ctx.progress(0.25, "a quarter\0")
    ctx.log.info("waiting")
    ctx.sleep(float(payload or STUBBORN_LIMIT))
    ctx.progress(1.0)
    return "all"


@handler("permanent", permanent=[KeyError])
def permanent(payload: Any, ctx: Context) -> None:
    if payload == "by raising":
        raise PermanentError("no such customer")
    raise KeyError("customer")


@handler("retryable")
def retryable(payload: Any, ctx: Context) -> None:
    raise RetryableError("busy", retry_after=7)


@handler("exiting")
def exiting(payload: Any, ctx: Context) -> None:
    raise SystemExit(3)


@handler("abandoning")
def abandoning(payload: Any, ctx: Context) -> None:
    try:
        ctx.abandon()
    except Exception:  # noqa: BLE001  a handler's broad except must not catch it
        return


@handler("strange")
def strange(payload: Any, ctx: Context) -> Any:
    return {"nan": float("nan"), "nul": "a\0b", "set": {1}, "object": ctx.log}


@handler("dying")
def dying(payload: Any, ctx: Context) -> None:
    if payload == "segfault":
        ctypes.string_at(0)
    elif payload == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif str(payload).isdecimal():
        os._exit(int(payload))
    os.abort()


@handler("runs_program")
def runs_program(payload: Any, ctx: Context) -> None:
    """Run a program of a minute and insist on its good end."""
    subprocess.run(["sleep", "60"], check=True)


@handler("waits_for_program")
def waits_for_program(payload: Any, ctx: Context) -> None:
    """The same for code that has an error of its own."""
    if subprocess.Popen(["sleep", "60"]).wait() != 0:
        raise PermanentError("the conversion failed")


@handler("async_program")
async def async_program(payload: Any, ctx: Context) -> None:
    program = await asyncio.create_subprocess_exec("sleep", "60")
    if await program.wait() != 0:
        raise RuntimeError("the conversion failed")


@handler("fails_after")
def fails_after(payload: Any, ctx: Context) -> None:
    time.sleep(float(payload))
    raise ValueError("by itself")


@handler("killed_program")
def killed_program(payload: Any, ctx: Context) -> None:
    """A program that somebody else stops."""
    subprocess.run(["sh", "-c", "kill -TERM $$"], check=True)


@handler("on_terminal")
def on_terminal(payload: Any, ctx: Context) -> str:
    """Touch the terminal as ffmpeg, ssh and git do: through standard input or /dev/tty."""
    program = (
        "import os, termios\n"
        f"tty = {payload!r}\n"
        "try:\n"
        "    number = os.open(tty, os.O_RDWR) if tty else 0\n"
        "    termios.tcsetattr(number, termios.TCSANOW, termios.tcgetattr(number))\n"
        "except (OSError, termios.error):\n"
        "    pass\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    return "touched"


HOARD: list[bytes] = []
"""What a leaking handler never frees."""


@handler("leaking")
def leaking(payload: Any, ctx: Context) -> int:
    """Keep so many MiB for good, and raise MemoryError past 100 in all."""
    if len(HOARD) + int(payload) > 100:
        raise MemoryError
    HOARD.extend(os.urandom(1024 * 1024) for _ in range(int(payload)))
    return os.getpid()


def limit_memory() -> None:
    """Leave this process 150 MiB more of addresses than it has, as ``ulimit -v`` would."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + 150 * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@handler("hoarding")
def hoarding(payload: Any, ctx: Context) -> int:
    """Keep 40 MiB for good, until there is none left."""
    HOARD.append(bytes(40 * 1024 * 1024))
    return os.getpid()


@handler("pid")
def pid(payload: Any, ctx: Context) -> int:
    return os.getpid()


@handler("lingering")
def lingering(payload: Any, ctx: Context) -> None:
    """Write down who runs this, start a program too, and be deaf."""
    program = subprocess.Popen(["sleep", "60"])
    Path(payload).write_text(f"{os.getpid()} {program.pid}")
    time.sleep(STUBBORN_LIMIT)


@handler("async_echo")
async def async_echo(payload: Any, ctx: Context) -> Any:
    await asyncio.sleep(0)
    return {"payload": payload, "thread": threading.current_thread().name}


@handler("async_blocking")
async def async_blocking(payload: Any, ctx: Context) -> str:
    LET_GO.wait(STUBBORN_LIMIT)  # the mistake: it holds up the loop of all the others
    return "finished after all"


@handler("async_polite")
async def async_polite(payload: Any, ctx: Context) -> str:
    await asyncio.sleep(float(payload or STUBBORN_LIMIT))
    return "slept"


@handler("async_exiting")
async def async_exiting(payload: Any, ctx: Context) -> None:
    raise SystemExit(3)


@handler("async_cancels_itself")
async def async_cancels_itself(payload: Any, ctx: Context) -> None:
    raise asyncio.CancelledError
