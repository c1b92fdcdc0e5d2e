"""What the guarantees and the security page say they are proven by exists."""

import ast
import re

from controlplane.environment import ROOT
from tests.proofs import GUARANTEES, NAMED, SECURITY, proofs_in, skipped_proofs


def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_the_guarantees_name_exists() -> None:
    named = proofs_in(GUARANTEES)
    missing = [f"{path}::{name}" for path, name in named if name not in functions_in(path)]
    assert named
    assert not missing


def test_every_control_names_tests_that_exist() -> None:
    rows = [line for line in SECURITY.read_text().splitlines() if line.startswith("|")]
    controls = [
        row for row in rows if not re.match(r"\|(-|\s*(fault elsewhere|control)\s*\|)", row)
    ]
    assert len(controls) > 15
    assert not [row for row in controls if not NAMED.search(row)]
    named = proofs_in(SECURITY)
    assert not [f"{path}::{name}" for path, name in named if name not in functions_in(path)]


def test_every_promise_names_the_test_that_proves_it() -> None:
    rows = [line for line in GUARANTEES.read_text().splitlines() if line.startswith("|")]
    promises = [row for row in rows if not re.match(r"\|(-|\s*(promise|fault)\s*\|)", row)]
    assert len(promises) > 40
    assert not [row for row in promises if not NAMED.search(row)]


def test_every_test_under_faults_is_named() -> None:
    named = {name for _, name in proofs_in(GUARANTEES)}
    faults = {
        name
        for path in sorted((ROOT / "tests" / "faults").glob("test_*.py"))
        for name in functions_in(str(path.relative_to(ROOT)))
        if name.startswith("test_")
    }
    assert not faults - named


def test_a_skipped_proof_is_counted_and_an_ordinary_test_is_not() -> None:
    path, name = proofs_in(GUARANTEES)[0]
    assert skipped_proofs([f"{path}::{name}[some]", "tests/core/test_loads.py::test_x"]) == [
        f"{path}::{name}[some]"
    ]
