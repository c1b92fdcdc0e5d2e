"""The catalogue of all texts, for translators: written by ``python -m tests.words.catalogue``.

Babel reads the sources and writes the files, so that nobody needs the tools of gettext.
"""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import write_po
from django.utils.translation.template import templatize

from controlplane.environment import ROOT

FOLDER: Final = ROOT / "tasks_app" / "locale" / "en" / "LC_MESSAGES"

SINGLE: Final = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop", "say"})
PLURAL: Final = frozenset({"_n", "ngettext", "ngettext_lazy", "say_count"})
"""Calls by which a text is found: their first argument, or their first two, are as they stand."""

SCRIPT_MARKERS: Final = {"gettext": None, "ngettext": (1, 2)}

_TEXT: Final = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_IN_TEMPLATE: Final = re.compile(rf"\b(?:_|n?gettext)\({_TEXT}(?:, {_TEXT})?")

Found = tuple[str, str]
"""A text and its plural, which is empty where there is none."""


def marked(tree: ast.AST) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Every call that marks a text, with the arguments that have to be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in SINGLE | PLURAL:
                yield node, node.args[: 2 if name in PLURAL else 1]


def of_python(source: str) -> Iterator[Found]:
    """The texts of a module."""
    for _, texts in marked(ast.parse(source)):
        said = [each.value for each in texts if isinstance(each, ast.Constant)]
        if said:
            one, many, *_ = *map(str, said), "", ""
            yield one, many


def of_script(source: bytes) -> Iterator[Found]:
    """The texts of a script."""
    for _, found, _, _ in extract("javascript", BytesIO(source), keywords=SCRIPT_MARKERS):
        one, many = found if isinstance(found, tuple) else (found, "")
        yield str(one), str(many or "")


def of_template(source: str) -> Iterator[Found]:
    """The texts of a template, as Django itself finds them."""
    for found in _IN_TEMPLATE.finditer(templatize(source)):
        one, many = (ast.literal_eval(text) if text else "" for text in found.groups())
        yield one, many


def pages() -> Catalog:
    """What Python and templates say."""
    catalogue = _empty()
    for path in _sources("tasks_app", "*.py"):
        _add(catalogue, path, of_python(path.read_text()))
    for path in _sources("templates", "*.html") + _sources("templates", "*.txt"):
        _add(catalogue, path, of_template(path.read_text()))
    return catalogue


def scripts() -> Catalog:
    """What scripts say."""
    catalogue = _empty()
    for path in _sources("static/js", "*.js"):
        _add(catalogue, path, of_script(path.read_bytes()))
    return catalogue


def _sources(folder: str, pattern: str) -> list[Path]:
    return sorted(p for p in (ROOT / folder).rglob(pattern) if "migrations" not in p.parts)


def _empty() -> Catalog:
    # A fixed date, so that two builds of the same sources are equal.
    return Catalog("en", project="Chargehand", creation_date=datetime(2026, 1, 1, tzinfo=UTC))


def _add(catalogue: Catalog, path: Path, texts: Iterator[Found]) -> None:
    place = [(path.relative_to(ROOT).as_posix(), 0)]
    for one, many in texts:
        if one:
            catalogue.add((one, many) if many else one, locations=place)


def written(catalogue: Catalog) -> bytes:
    """The catalogue as a file."""
    file = BytesIO()
    write_po(file, catalogue, width=100, sort_output=True, include_lineno=False)
    return file.getvalue()


FILES: Final = {"django.po": pages, "djangojs.po": scripts}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, texts in FILES.items():
        (FOLDER / name).write_bytes(written(texts()))
