"""A worker without a runtime: claim, call, complete, over the product's own link.

It measures the record's side alone; what threads, batches of reports and heartbeats cost on top is
the whole worker's row.
"""

import argparse
import gc
import signal

import django

IDLE_WAIT = 0.5
BUSY_WAIT = 0.002


def main() -> None:
    """Work until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--slots", type=int, required=True)
    options = parser.parse_args()
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
    django.setup()
    work(options.name, options.slots, stopping)


def work(name: str, slots: int, stopping: list[int]) -> None:
    """Claim what fits, call the handler, report all of it at once."""
    from benchmarks.handlers import stamped
    from tasks_app.sdk.link import Completion, Registration
    from tasks_app.services.attempts.direct_link import DirectLink

    link = DirectLink()
    worker = link.register(Registration(name, slots, {"noop": 1.0})).worker_id
    wait = IDLE_WAIT
    gc.freeze()  # as manage.py work does
    while not stopping:
        grants = link.claim(worker, slots)
        if grants:
            wait = BUSY_WAIT
            done = [Completion(g.task_id, g.token, stamped(g.payload)) for g in grants]
            link.complete(worker, done)
        else:
            link.wait_for_work(worker, wait)
            wait = min(2 * wait, IDLE_WAIT)
    link.deregister(worker)
    link.close()


if __name__ == "__main__":
    main()
