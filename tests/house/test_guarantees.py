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
    assert skipped_proofs(
        [f"{path}::{name}[some]", "tests/core/dispatch/test_loads.py::test_x"]
    ) == [f"{path}::{name}[some]"]


ASVS = ROOT / "docs" / "security" / "asvs.md"
# By section of the standard, how many requirements of the levels 1 and 2: they come first in each.
REQUIREMENTS = """
    1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3
    4.2:1 4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3
    7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4
    10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4
    13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4
    16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
"""
ROW = re.compile(r"\| V([\d.]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


def test_each_requirement_of_the_standard_has_a_verdict_and_its_proof() -> None:
    rows = ROW.findall(ASVS.read_text())
    sections = [each.split(":") for each in REQUIREMENTS.split()]
    wanted = [f"{name}.{n}" for name, count in sections for n in range(1, int(count) + 1)]
    assert [number for number, *_ in rows] == wanted
    verdicts = {verdict for _, _, verdict, _ in rows}
    assert verdicts == {"met", "by design", "operator", "not applicable", "missing"}
    for number, _, verdict, how in rows:
        assert verdict != "met" or NAMED.search(how), f"V{number} is met by no test"
    named = NAMED.findall(ASVS.read_text())
    assert not [f"{path}::{name}" for path, name in named if name not in functions_in(path)]
    told = dict(re.findall(r"\| ([a-z ]+) \| [^|]+ \| (\d+) \|", ASVS.read_text()))
    assert told == {each: str([row[2] for row in rows].count(each)) for each in verdicts}
