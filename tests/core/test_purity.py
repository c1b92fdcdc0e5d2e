"""Core needs nothing but Python itself, and reads neither a clock nor chance nor the outside."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tasks_app.core

FOLDER = Path(tasks_app.core.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))

IMPURE = frozenset(
    {"asyncio", "io", "os", "pathlib", "secrets", "socket", "subprocess", "threading"}
)
"""Standard modules through which a decision could see or change what it was not given."""


def imports_of(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports relatively"
            assert node.module is not None
            yield node.module


def test_there_is_a_core() -> None:
    assert len(MODULES) > 10


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_core_imports_the_standard_library_and_itself_only(module: Path) -> None:
    for name in imports_of(module):
        assert name.split(".")[0] in sys.stdlib_module_names or name.startswith("tasks_app.core")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_core_is_given_the_time_and_the_chance_it_decides_by(module: Path) -> None:
    names = {name.split(".")[0] for name in imports_of(module)}
    # For PurePath and StringIO: mere values.
    allowed = {"sanitise": {"pathlib"}, "tables": {"io"}}.get(module.stem, set())
    assert not names & IMPURE - allowed
    called = {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call)
    }
    assert not called & {"open", "input", "print", "random.random", "time.time", "datetime.now"}
