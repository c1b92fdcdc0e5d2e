"""The tests that prove the promises are themselves proven."""

import pytest

from tests.mutants.catalogue import MUTANTS, Mutant
from tests.mutants.proving import ROOT, judge, unharmed


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_a_mutant_changes_stands_in_the_code_exactly_once(mutant: Mutant) -> None:
    found = [(ROOT / patch.path).read_text().count(patch.old) for patch in mutant.patches]
    assert found == [1] * len(mutant.patches)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_tests_of_the_mutants_pass_without_one() -> None:
    assert unharmed() is None


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_killed(mutant: Mutant) -> None:
    verdict = judge(mutant)
    assert verdict.killed, verdict.output
