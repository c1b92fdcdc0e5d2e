"""``python -m controlplane.embedded start|stop|status|run``: the embedded server by hand."""

import argparse
import signal
import sys

from controlplane.embedded.place import Place
from controlplane.embedded.server import EmbeddedError, Server
from controlplane.environment import var_folder


def main() -> int:
    """Do one thing; return 0, or from ``status`` 3 when the server is down."""
    parser = argparse.ArgumentParser(prog="python -m controlplane.embedded")
    parser.add_argument(
        "what",
        choices=("start", "stop", "status", "run"),
        help="run: start it and stay until Ctrl-C",
    )
    what = parser.parse_args().what
    server = Server(Place(var_folder() / "postgres"))
    match what:
        case "start":
            server.start(tied=False)
        case "stop":
            server.stop()
        case "status":
            if not server.alive():
                print("down")
                return 3
        case "run":
            started = server.start()
            print(server.url(), flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
            if started:
                server.stop()
            return 0
    print(server.url() if what != "stop" else "stopped")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EmbeddedError as error:
        sys.exit(str(error))
