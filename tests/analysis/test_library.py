"""`import analysis` in a notebook: no Django, no waiting, every public name there and explained."""

import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import analysis

ROOT = Path(__file__).resolve().parent.parent.parent
EXTRA = {"torch", "transformers", "kenlm"}  # not in every environment
IN_HOUSE = (  # called by commands and pages, not in a notebook
    "analysis.report",
    "analysis.scoring.neural",
    "analysis.training",
)
WEB = {"django", "rest_framework", "celery", "boto3"}


def loaded_after(code):
    """Top-level modules of a fresh Python after some code."""
    tail = "\nimport json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    ran = subprocess.run([sys.executable, "-c", code + tail], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return set(json.loads(ran.stdout.splitlines()[-1]))


def pure_modules():
    for module in pkgutil.walk_packages(analysis.__path__, "analysis.", onerror=lambda name: None):
        if not module.name.startswith(IN_HOUSE):
            yield module.name


def public_functions():
    for name in pure_modules():
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in EXTRA:
                raise
            continue
        for word, function in vars(module).items():
            is_own = inspect.isfunction(function) and function.__module__ == name
            if is_own and not word.startswith("_"):
                yield pytest.param(function, id=f"{name}.{word}")


def sections(function):
    text = inspect.getdoc(function) or ""
    return text, set(re.findall(r"^([A-Z][A-Za-z ]+)\n-{3,}$", text, flags=re.M))


def test_import_alone_loads_nothing_heavy():
    assert not loaded_after("import analysis") & (WEB | {"pandas", "numpy", "scipy", "altair", "statsmodels"})


@pytest.mark.slow
def test_all_of_it_works_without_django():
    names = [name for name in pure_modules() if name.count(".") <= 1] + ["analysis.figures.registry"]
    code = "import analysis\n" + "\n".join(f"import {name}" for name in names)
    assert not loaded_after(code + "\n[getattr(analysis, name) for name in dir(analysis)]") & WEB


@pytest.mark.parametrize("name", analysis.__all__)
def test_every_public_name_is_there(name):
    assert name in dir(analysis)
    value = getattr(analysis, name)
    assert inspect.ismodule(value) or value.__name__ == name
    assert inspect.getdoc(value)


def test_an_unknown_name_is_refused_with_a_hint():
    with pytest.raises(AttributeError, match=r"dir\(analysis\)"):
        analysis.agrement_report  # noqa: B018


@pytest.mark.parametrize("name", analysis.HOMES)
def test_what_a_notebook_is_offered_shows_an_example(name):
    _, headings = sections(getattr(analysis, name))
    assert "Examples" in headings


def documented_parameters(text):
    """Names under Parameters that are followed by an indented description."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", text, flags=re.M | re.S)
    if section is None:
        return set()
    heads = re.findall(r"^(\*{0,2}\w[^\n]*)\n(?= {4}\S)", section[1], flags=re.M)
    return {name.strip(" *") for head in heads for name in head.partition(" : ")[0].split(",")}


@pytest.mark.parametrize(
    "name", [name for name in analysis.HOMES if inspect.isfunction(getattr(analysis, name))]
)
def test_what_a_notebook_is_offered_describes_every_parameter_and_the_result(name):
    function = getattr(analysis, name)
    text, headings = sections(function)
    signature = inspect.signature(function)
    missing = set(signature.parameters) - documented_parameters(text)
    assert missing == set(), "not described under Parameters"
    gives = signature.return_annotation not in (None, "None", signature.empty, Iterator[None])
    assert not gives or headings & {"Returns", "Yields"}


@pytest.mark.parametrize("function", [*public_functions()])
def test_every_public_function_has_a_docstring(function):
    assert inspect.getdoc(function)
