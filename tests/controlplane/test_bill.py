"""The bill of materials names every pinned package once, as the tools of CycloneDX read it."""

import json
import subprocess
import sys
from importlib.metadata import version

from cyclonedx.model.bom import Bom

from controlplane.bill import bill
from controlplane.environment import ROOT


def test_every_pinned_package_is_on_the_bill() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {line.partition(" ")[0] for line in lines if "==" in line and line[0] != "#"}
    named = {f"{each['name']}=={each['version']}" for each in bill()["components"]}
    assert len(pins) > 50
    assert pins <= named
    assert f"Django=={version('Django')}".lower() in {each.lower() for each in named}
    assert "uplot" in {each["name"] for each in bill()["components"]}


def test_the_command_writes_what_the_tools_of_the_format_read() -> None:
    command = [sys.executable, "-m", "controlplane.bill"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    written = json.loads(done.stdout)
    # The library adds this type to what it types, at run time.
    read = Bom.from_json(written)  # type: ignore[attr-defined]
    assert len(read.components) == len(written["components"])
