"""The folders of the product in figures: ``make house`` prints them."""

import statistics
from collections import defaultdict
from pathlib import Path
from typing import Final

from controlplane.environment import ROOT

PRODUCT: Final = ("controlplane", "tasks_app")
LAYERS: Final = ("tasks_app/core", "tasks_app/store", "tasks_app/services")
"""The layers whose modules stand in folders by subject."""

MOST_MODULES: Final = 26
FEWEST_MODULES: Final = 3
"""A subject with fewer modules has no folder of its own: its modules stand in the layer's."""


def rooms() -> dict[str, dict[str, int]]:
    """Each folder with its modules and their lines; migrations and ``__init__`` are left out."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for top in PRODUCT:
        for path in sorted((ROOT / top).rglob("*.py")):
            if path.name != "__init__.py" and "migrations" not in path.parts:
                folder = path.parent.relative_to(ROOT).as_posix()
                found[folder][path.stem] = lines_of(path)
    return dict(found)


def lines_of(path: Path) -> int:
    """The lines of a module."""
    return len(path.read_text().splitlines())


def table() -> str:
    """Modules, lines, median and largest module of each folder."""
    rows = [("folder", "modules", "lines", "median", "largest")]
    for folder, modules in rooms().items():
        largest = max(modules, key=lambda name: modules[name])
        rows.append(
            (
                folder,
                str(len(modules)),
                str(sum(modules.values())),
                f"{statistics.median(modules.values()):.0f}",
                f"{largest} {modules[largest]}",
            )
        )
    return "\n".join(f"{a:32}{b:>9}{c:>8}{d:>8}  {e}" for a, b, c, d, e in rows)


if __name__ == "__main__":
    print(table())  # noqa: T201  a program
