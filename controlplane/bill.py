"""The bill of materials: ``python -m controlplane.bill`` writes CycloneDX of all that is pinned.

From the files that pin it, so that it needs no network and names what was tested, not what happens
to be installed.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from controlplane.environment import ROOT

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)


def bill() -> dict[str, Any]:
    """The whole bill: Python packages by ``constraints.txt``, the browser's by the lock file."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "chargehand"}},
        "components": [*_of_python(), *_of_the_browser()],
    }


def _of_python() -> Iterator[dict[str, Any]]:
    for name, version in _PIN.findall((ROOT / "constraints.txt").read_text()):
        plain = re.sub(r"[-_.]+", "-", name).lower()
        yield _component(name, version, f"pkg:pypi/{plain}@{version}")


def _of_the_browser() -> Iterator[dict[str, Any]]:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    for place, each in packages.items():
        name = place.rpartition("node_modules/")[2]
        if name:
            purl = f"pkg:npm/{name.replace('@', '%40')}@{each['version']}"
            yield _component(name, each["version"], purl)


def _component(name: str, version: str, purl: str) -> dict[str, Any]:
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": purl,
        "bom-ref": purl,
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
