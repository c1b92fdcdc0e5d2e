"""No test looks for a text that a random id, token, time or port may hold by chance."""

import ast
from collections.abc import Iterator

import pytest

from controlplane.environment import ROOT
from tests.pages import PageText, chance_could_say

PAGES = (
    "access",
    "admin",
    "api",
    "browser",
    "controlplane",
    "examples",
    "live",
    "management",
    "web",
)
"""Folders of tests that read pages, files and the output of commands."""

Literal = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.SetComp | ast.DictComp | ast.ListComp


def short_texts(tree: ast.AST) -> Iterator[ast.Compare]:
    """Comparisons that look for such a text in anything but a collection."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
            and not isinstance(node.comparators[0], Literal)
            and chance_could_say(node.left.value)
        ):
            yield node


@pytest.mark.parametrize("folder", PAGES)
def test_no_test_looks_in_a_page_for_what_chance_could_say(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((ROOT / "tests" / folder).rglob("*.py"))
        for node in short_texts(ast.parse(path.read_text()))
    ]
    assert not found


def test_a_page_refuses_to_be_asked_for_what_chance_could_say() -> None:
    page = PageText("<p>4111</p>")
    assert ">4111<" in page
    with pytest.raises(AssertionError, match="random id"):
        assert "4111" in page
