"""The house's measurable rules: layers, a pure core, sizes and names."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.environment import ROOT
from tests.house.rooms import FEWEST_MODULES, LAYERS, MOST_MODULES, rooms

LONGEST_MODULE = 300
LONGEST_FUNCTION = 40
CODE = ("benchmarks", "controlplane", "examples", "tasks_app")
FORBIDDEN_NAMES = {"utils", "util", "helpers", "common", "manager", "managers"}


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_layers_hold() -> None:
    code = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("layer", "allowed"), [("core", {"tasks_app.core"}), ("sdk", {"tasks_app", "httpx"})]
)
def test_only_the_standard_library_and_what_is_listed_is_imported(
    layer: str, allowed: set[str]
) -> None:
    strangers = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(f"tasks_app/{layer}")
        for name in imports(ast.parse(path.read_text()))
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(name == each or name.startswith(f"{each}.") for each in allowed)
    }
    assert not strangers


def test_no_module_is_longer_than_three_hundred_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules(*CODE)
        if (lines := len(path.read_text().splitlines())) > LONGEST_MODULE
    }
    assert not long


def test_no_function_is_longer_than_forty_lines() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{node.name}": length
        for path in modules(*CODE)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert not long


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in modules(*CODE, "tests") if path.stem in FORBIDDEN_NAMES]


def test_no_folder_holds_more_modules_than_a_reader_takes_in() -> None:
    large = {folder: len(modules) for folder, modules in rooms().items()}
    assert not {folder: count for folder, count in large.items() if count > MOST_MODULES}


def test_no_subject_has_a_folder_for_fewer_than_three_modules() -> None:
    subjects = {
        folder: sorted(modules)
        for folder, modules in rooms().items()
        if any(folder.startswith(f"{layer}/") for layer in LAYERS)
    }
    assert len(subjects) > 30
    assert not {name: found for name, found in subjects.items() if len(found) < FEWEST_MODULES}


def test_each_folder_says_what_belongs_in_it() -> None:
    silent = [
        folder
        for folder in rooms()
        if any(folder == layer or folder.startswith(f"{layer}/") for layer in LAYERS)
        and not ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text()))
    ]
    assert not silent
