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
                yield function


def sections(function):
    text = inspect.getdoc(function) or ""
    return text, set(re.findall(r"^([A-Z][A-Za-z ]+)\n-{3,}$", text, flags=re.M))


def test_import_alone_loads_nothing_heavy():
    assert not loaded_after("import analysis") & (WEB | {"pandas", "numpy", "scipy", "altair", "statsmodels"})


def test_all_of_it_works_without_django():
    names = [name for name in pure_modules() if name.count(".") <= 1] + ["analysis.figures.registry"]
    code = "import analysis\n" + "\n".join(f"import {name}" for name in names)
    assert not loaded_after(code + "\n[getattr(analysis, name) for name in dir(analysis)]") & WEB


def test_every_public_name_is_there_and_documented():
    assert set(analysis.__all__) <= set(dir(analysis))
    values = {name: getattr(analysis, name) for name in analysis.__all__}
    others = [
        name for name, value in values.items() if not inspect.ismodule(value) and value.__name__ != name
    ]
    assert others == []
    assert [name for name, value in values.items() if not inspect.getdoc(value)] == []


def test_an_unknown_name_is_refused_with_a_hint():
    with pytest.raises(AttributeError, match=r"dir\(analysis\)"):
        analysis.agrement_report  # noqa: B018


def test_every_public_name_shows_an_example():
    without = [name for name in analysis.HOMES if "Examples" not in sections(getattr(analysis, name))[1]]
    assert without == []


def documented_parameters(text):
    """Names under Parameters that are followed by an indented description."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", text, flags=re.M | re.S)
    if section is None:
        return set()
    heads = re.findall(r"^(\*{0,2}\w[^\n]*)\n(?= {4}\S)", section[1], flags=re.M)
    return {name.strip(" *") for head in heads for name in head.partition(" : ")[0].split(",")}


def test_every_public_name_describes_its_parameters_and_result():
    faults = []
    for name in analysis.HOMES:
        function = getattr(analysis, name)
        if not inspect.isfunction(function):
            continue
        text, headings = sections(function)
        signature = inspect.signature(function)
        missing = set(signature.parameters) - documented_parameters(text)
        faults += [f"{name}: {parameter} is not under Parameters" for parameter in sorted(missing)]
        gives = signature.return_annotation not in (None, "None", signature.empty, Iterator[None])
        if gives and not headings & {"Returns", "Yields"}:
            faults.append(f"{name}: no Returns")
    assert faults == []


def test_every_public_function_has_a_docstring():
    functions = list(public_functions())
    assert len(functions) > 400
    without = [f"{each.__module__}.{each.__name__}" for each in functions if not inspect.getdoc(each)]
    assert without == []
