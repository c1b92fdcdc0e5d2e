"""The tests that the documentation names as proof: a run counts and names those that it skipped."""

import re
from pathlib import Path
from typing import Final

from controlplane.environment import ROOT

GUARANTEES: Final = ROOT / "docs" / "guarantees.md"
SECURITY: Final = ROOT / "docs" / "security.md"
NAMED: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def proofs_in(document: Path) -> list[tuple[str, str]]:
    """The tests that a document names: file and function."""
    return NAMED.findall(document.read_text())


def skipped_proofs(skipped: list[str]) -> list[str]:
    """Those of the skipped tests (as pytest names them) that a document names as proof."""
    proofs = {
        f"{path}::{name}" for each in (GUARANTEES, SECURITY) for path, name in proofs_in(each)
    }
    return sorted({test for test in skipped if test.partition("[")[0] in proofs})
