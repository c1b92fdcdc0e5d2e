"""Handlers with the habits of ordinary code: each must work alike in threads and in processes."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler

LANGUAGE: contextvars.ContextVar[str] = contextvars.ContextVar("LANGUAGE", default="none")

LOCK = asyncio.Lock()
"""Made at import, as modules do; it belongs to the loop that first waits for it."""

KEPT: dict[str, Any] = {}
"""What a module keeps from one task to the next."""


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
    finally:
        writer.close()


@handler("connection")
async def connection(payload: Any, ctx: Context) -> str:
    """Keep a connection of asyncio's in a module, opened by whichever task comes first."""
    async with KEPT.setdefault("guard", asyncio.Lock()), asyncio.timeout(10):
        if "connection" not in KEPT:
            server = await asyncio.start_server(_serve, "127.0.0.1", 0)
            KEPT["connection"] = await asyncio.open_connection(*server.sockets[0].getsockname())
            KEPT["holder"] = asyncio.create_task(_hold(server, KEPT["connection"][1]))
        reader, writer = KEPT["connection"]
        writer.write(b"hello\n")
        await writer.drain()
        answer: bytes = await reader.readline()
        return answer.decode().strip()


async def _hold(server: asyncio.Server, writer: asyncio.StreamWriter) -> None:
    """Close both when the worker ends, which cancels what handlers left in the background."""
    try:
        await asyncio.Event().wait()
    finally:
        writer.close()
        server.close()


@handler("lock")
async def lock(payload: Any, ctx: Context) -> str:
    async with LOCK:
        # Held while others wait, so that the lock takes part in their loop.
        await asyncio.sleep(0.01)
    return "held"


@handler("background")
async def background(payload: Any, ctx: Context) -> str:
    """Leave a task behind that answers the next ones."""
    if "answers" not in KEPT:
        KEPT["asked"], KEPT["answers"] = asyncio.Queue(), asyncio.Queue()
        KEPT["task"] = asyncio.create_task(_answer())
    await KEPT["asked"].put("well")
    async with asyncio.timeout(10):
        return str(await KEPT["answers"].get())


async def _answer() -> None:
    while True:
        await KEPT["answers"].put(await KEPT["asked"].get())


@handler("executor")
async def executor(payload: Any, ctx: Context) -> str:
    KEPT.setdefault("executor", ThreadPoolExecutor(1))
    loop = asyncio.get_running_loop()
    return str(await loop.run_in_executor(KEPT["executor"], str, "run"))


@handler("stops_loop")
async def stops_loop(payload: Any, ctx: Context) -> str:
    asyncio.get_running_loop().call_soon(asyncio.get_running_loop().stop)
    await asyncio.sleep(0.05)
    return "went on"


@handler("exits_behind")
async def exits_behind(payload: Any, ctx: Context) -> str:
    KEPT["exiting"] = asyncio.create_task(_exit())
    await asyncio.sleep(0.05)
    return "went on"


async def _exit() -> None:
    sys.exit(3)


@handler("async_program")
async def async_program(payload: Any, ctx: Context) -> str:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('said')", stdout=subprocess.PIPE
    )
    said, _ = await program.communicate()
    return said.decode().strip()


@handler("async_waits")
async def async_waits(payload: Any, ctx: Context) -> str:
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
    except TimeoutError:
        return "in time"
    return "late"


@handler("async_variable")
async def async_variable(payload: Any, ctx: Context) -> str:
    before = LANGUAGE.get()
    LANGUAGE.set(f"set by {ctx.task_id}")
    await asyncio.sleep(0)
    return before


@handler("variable")
def variable(payload: Any, ctx: Context) -> str:
    before = LANGUAGE.get()
    LANGUAGE.set(f"set by {ctx.task_id}")
    return before


@handler("own_loop")
def own_loop(payload: Any, ctx: Context) -> str:
    async def work() -> str:
        await asyncio.sleep(0)
        return "ran"

    return asyncio.run(work())


@handler("program")
def program(payload: Any, ctx: Context) -> str:
    return subprocess.run(["echo", "said"], check=True, capture_output=True, text=True).stdout


@handler("reads_input")
def reads_input(payload: Any, ctx: Context) -> str:
    """Read standard input, here and in a program."""
    theirs = subprocess.run(["cat"], check=True, capture_output=True, text=True).stdout
    return f"{sys.stdin.read()}{theirs}{Path('/proc/self/fd/0').readlink()}"


@handler("thread")
def thread(payload: Any, ctx: Context) -> str:
    said: list[str] = []
    helper = threading.Thread(target=lambda: said.append("helped"))
    helper.start()
    helper.join()
    return said[0]
