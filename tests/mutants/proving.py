"""Is the proof worth anything? Break the product on purpose and see that the tests notice.

``python -m tests.mutants.proving`` prints a line a mutant and exits 1 when one survives.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.catalogue import MUTANTS, Mutant, Patch

ROOT: Final = Path(__file__).parents[2]
PARTS: Final = (
    "controlplane",
    "docs",
    "examples",
    "manage.py",
    "pyproject.toml",
    "tasks_app",
    "templates",
    "tests",
)
"""What the tests of the catalogue need of the tree."""

AT_ONCE: Final = 2
SECONDS: Final = 180.0
PASSED, FAILED = 0, 1
"""Exit codes of pytest; any other one means that nothing was tried."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the tests said of a mutant; ``output`` is pytest's."""

    name: str
    killed: bool
    output: str


def apply_patch(tree: Path, patch: Patch) -> None:
    """Change one file of a copy; raises ValueError unless the old text stands there once."""
    path = tree / patch.path
    text = path.read_text()
    found = text.count(patch.old)
    if found != 1:
        raise ValueError(f"{patch.path}: the text to change stands there {found} times, not once")
    path.write_text(text.replace(patch.old, patch.new))


def run_tests(patches: Iterable[Patch], tests: Sequence[str]) -> tuple[int, str]:
    """Run tests in a patched copy of the tree; return pytest's exit code and output."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = Path(folder)
        for part in PARTS:
            if (ROOT / part).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "var")
                shutil.copytree(ROOT / part, tree / part, ignore=ignored)
            else:
                shutil.copy(ROOT / part, tree / part)
        for patch in patches:
            apply_patch(tree, patch)
        options = ("-q", "-x", "-p", "no:cacheprovider", "--tb=line", "--no-header")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=tree,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    return done.returncode, done.stdout + done.stderr


def judge(mutant: Mutant) -> Verdict:
    """Try a mutant; raises RuntimeError when its tests could not be run at all."""
    code, output = run_tests(mutant.patches, mutant.tests)
    if code not in (PASSED, FAILED):
        raise RuntimeError(f"{mutant.name}: pytest ended with {code}\n{output}")
    return Verdict(mutant.name, code == FAILED, output)


def unharmed() -> str | None:
    """Run all named tests on an unpatched copy: None when they pass, else pytest's output.

    A test that fails anyway would kill every mutant.
    """
    named = sorted({test for mutant in MUTANTS for test in mutant.tests})
    code, output = run_tests((), named)
    return None if code == PASSED else output


def main() -> int:
    """Print what became of each mutant; 0 when all were killed."""
    broken = unharmed()
    if broken is not None:
        print("The tests fail without a mutant:", broken, sep="\n")  # noqa: T201  a program
        return 1
    survived = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for verdict in pool.map(judge, MUTANTS):
            survived += not verdict.killed
            said = "killed" if verdict.killed else "SURVIVED"
            print(f"{said:9} {verdict.name}", flush=True)  # noqa: T201  a program
    print(f"{len(MUTANTS) - survived} of {len(MUTANTS)} killed")  # noqa: T201  a program
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
