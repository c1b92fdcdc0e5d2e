"""Say once, when everything works, where it answers and who may log in; then start the demo."""

import json
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Final

from controlplane.tether import tethered

LOOK_SECONDS: Final = 0.25
# From then on the reason for not being ready is told, every so often.
PATIENCE_SECONDS: Final = 20.0


class Announcement:
    """Waits for ``/readyz``, prints address and login, and runs a command if there is one."""

    def __init__(self, address: str, login: str, then: Sequence[str] | None) -> None:
        self._address = address
        self._login = login
        self._then = then

    def run(self, ended: threading.Event) -> None:
        """Do it, unless the end comes first."""
        complain_at = time.monotonic() + PATIENCE_SECONDS
        while not ended.wait(LOOK_SECONDS):
            reason = self._why_not_ready()
            if reason is None:
                break
            if time.monotonic() > complain_at:
                print(f"Not ready yet: {reason}.", flush=True)
                complain_at = time.monotonic() + PATIENCE_SECONDS
        else:
            return
        print(f"\nChargehand is ready:  {self._address}  login: {self._login}\n", flush=True)
        if self._then is not None:
            self._follow(self._then, ended)

    @staticmethod
    def _follow(command: Sequence[str], ended: threading.Event) -> None:
        # A session of its own: Ctrl-C is for the runner, which ends this without a traceback.
        process = subprocess.Popen(  # noqa: S603
            tethered(signal.SIGTERM, command), start_new_session=True
        )
        while process.poll() is None:
            if ended.wait(LOOK_SECONDS):
                process.kill()
                process.wait()
                return
        if process.returncode != 0:
            print(f"The demo's work was not submitted (code {process.returncode}).", flush=True)

    def _why_not_ready(self) -> str | None:
        try:
            with urllib.request.urlopen(f"{self._address}/readyz", timeout=2):  # noqa: S310
                return None
        except urllib.error.HTTPError as error:
            with error:
                return _reason(error.read()) or f"/readyz answers {error.code}"
        except OSError:
            return "the web process does not answer"


def _reason(body: bytes) -> str | None:
    try:
        return str(json.loads(body)["reason"])
    except (ValueError, KeyError, TypeError):
        return None
