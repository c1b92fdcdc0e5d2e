"""``python -m benchmarks.hot_path``: the supervised path beside its bare floor, in one run.

docs/benchmarks.md says what the figures mean and how to keep the rest of a machine out of them.
"""

import argparse
import contextlib
import json
import sys
from typing import Any, Final

from benchmarks.stage import Stage, machine, set_up, stage

PATH: Final = ("enqueue", "drain", "pick-up")
SCALE: Final = {"terminal": 1_000_000, "wide": 100_000, "scheduled": 50_000, "updates": 1_000}
SOAK: Final = 1_000_000


def options() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hot_path", description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object and nothing else")
    add("--only", action="append", choices=[*PATH, *SCALE], help="a part; may be repeated")
    add("--soak", action="store_true", help="watch memory over 1,000,000 tasks, and nothing else")
    add("--tasks", type=int, help="of each drain and of each other part, for a small run")
    add("--samples", type=int, default=300, help="of the pick-up (default: %(default)s)")
    add("--repeat", type=int, default=3, help="of each measurement (default: %(default)s)")
    return parser.parse_args()


def measure(made: Stage, asked: argparse.Namespace) -> dict[str, Any]:
    """Run what was asked for; each part shows itself as soon as it is done."""
    from benchmarks import path, scale, soak

    report: dict[str, Any] = {"machine": machine(made)}
    if asked.soak:
        report["soak"] = soak.measure_soak(made, asked.tasks or SOAK)
        return report
    wanted = asked.only or [*PATH, *SCALE]
    for name, part in path.MEASURES.items():
        if name in wanted:
            size = asked.samples if name == "pick-up" else asked.tasks or 50_000
            figures = part(made, size, asked.repeat)
            figures.show()
            report[name] = figures.as_json()
    for name, wide in scale.MEASURES.items():
        if name in wanted:
            report[name] = wide(made, asked.tasks or SCALE[name], asked.repeat)
    return report


def main() -> None:
    """Measure on a server of its own; with ``--json`` only the report goes to standard output."""
    asked = options()
    aside = contextlib.redirect_stdout(sys.stderr) if asked.json else contextlib.nullcontext()
    with aside, stage() as made:
        set_up()
        report = measure(made, asked)
    if asked.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
