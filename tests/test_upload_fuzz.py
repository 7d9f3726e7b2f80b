"""The fuzz (``python -m tools.fuzz``): it knows every place that takes a file, and what a fault is."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django import forms
from rest_framework import serializers

import experiments
import judgments
import releases
from tools.fuzz.api import SequenceCounts
from tools.fuzz.file_inputs import FILE_INPUTS
from tools.fuzz.site import JobRow
from tools.fuzz.uploads import job_faults, leaks

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (experiments, judgments, releases)
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if ".migrations" not in module.name
]


def subclasses(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def own_classes(kind: type) -> Iterator[type]:
    """Classes of this kind in our packages, all modules of which are imported."""
    for name in MODULES:
        importlib.import_module(name)
    packages = tuple(f"{package.__name__}." for package in PACKAGES)
    return (found for found in subclasses(kind) if found.__module__.startswith(packages))


def fields_of_forms() -> set[str]:
    return {
        f"{form.__module__}.{form.__qualname__}.{name}"
        for form in own_classes(forms.BaseForm)
        for name, field in getattr(form, "base_fields", {}).items()
        if isinstance(field, forms.FileField)
    }


def fields_of_serializers() -> set[str]:
    return {
        f"{serializer.__module__}.{serializer.__qualname__}.{name}"
        for serializer in own_classes(serializers.Serializer)
        for name, field in serializer._declared_fields.items()
        if isinstance(field, serializers.FileField)
    }


def files_of_requests() -> tuple[set[str], list[str]]:
    """Names read from ``request.FILES`` in views, and other uses than as the files of a form."""
    names: set[str] = set()
    other: list[str] = []
    for module in MODULES:
        path = ROOT / (module.replace(".", "/") + ".py")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if ".FILES" not in text:
            continue
        tree = ast.parse(text)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "FILES":
                use = parents[node]
                while isinstance(use, ast.BoolOp | ast.Attribute):  # ``request.FILES or None``, ``.get``
                    use = parents[use]
                if isinstance(use, ast.Call) and ast.unparse(use.func).endswith("FILES.get"):
                    names.add(f"{module}.{ast.literal_eval(use.args[0])}")
                elif isinstance(use, ast.Subscript):
                    names.add(f"{module}.{ast.literal_eval(use.slice)}")
                elif not (isinstance(use, ast.Call) and ast.unparse(use.func).endswith("Form")):
                    other.append(f"{module}: {ast.unparse(use)}")
    return names, other


def test_every_field_that_takes_a_file_is_fuzzed():
    names, other = files_of_requests()
    assert not other, "files that neither a form nor a name in the view reads"
    expected = fields_of_forms() | fields_of_serializers() | names
    assert {place.name for place in FILE_INPUTS} == expected
    assert len(FILE_INPUTS) == len(expected)


def test_file_fields_of_templates_are_fuzzed():
    """A field that a template writes itself, without a form."""
    fuzzed = {place.field for place in FILE_INPUTS}
    for package in PACKAGES:
        for path in Path(package.__path__[0]).rglob("*.html"):
            for tag in re.findall(r"<input[^>]*type=\"file\"[^>]*>", path.read_text(encoding="utf-8")):
                assert re.search(r'name="(\w+)"', tag)[1] in fuzzed, path


def test_the_administration_takes_no_file():
    """``FileField`` of models: none of the administration's pages can change one."""
    from django.contrib import admin
    from django.db import models

    for model, site in admin.site._registry.items():
        if any(isinstance(field, models.FileField) for field in model._meta.fields):
            assert not site.has_add_permission(None) and not site.has_change_permission(None), model


@pytest.mark.parametrize(
    ("state", "error", "faults"),
    [
        ("done", "", []),
        ("failed", "a.csv, row 3: the cell is too long. Shorten it.", []),
        ("failed", "", ["kind 1 failed without a reason"]),
        ("running", "", ["kind 1 is running: reading"]),
        ("queued", "", ["kind 1 is queued: reading"]),
        ("failed", "ArrowInvalid: x", ["kind 1 failed unexplained: ArrowInvalid: x"]),
        ("failed", "KeyError: 'x'", ["kind 1 failed unexplained: KeyError: 'x'"]),
        ("failed", "no /srv/var/a.csv", ["/srv/var in the response of kind 1: no /srv/var/a.csv"]),
    ],
)
def test_a_job_ends_as_done_or_with_an_explained_failure(state, error, faults):
    job = JobRow(1, "kind", state, error, "reading")
    assert list(job_faults(job, ["/srv/var"])) == faults


def test_tracebacks_and_folders_of_the_server_in_a_page_are_faults():
    assert not list(leaks("<p>Line 3 of a.csv: /data/train.csv is no table.</p>", ["/srv/var"]))
    assert list(leaks("Traceback (most recent call last):", [])) == ["a traceback in the response"]
    assert list(leaks('File "releases/api/views.py", line 3', [])) == ["a traceback in the response"]
    assert list(leaks("of /srv/var/tmp/x.csv", ["/srv/var"])) == ["/srv/var in the response"]


def test_operations_in_no_sequence_are_missing_except_those_that_need_the_token_of_a_session():
    """Besides those that neither take nor return an identifier, which no link leads to."""
    counts = SequenceCounts(
        ["GET /api/v1/power/", "GET /api/v1/studies/", "POST /api/v1/sessions/{token}/judgments/", "GET /a/"]
    )
    counts.sequences["GET /a/"] += 1
    assert counts.missing() == ["GET /api/v1/studies/"]
