"""Examples in the docstrings of the Django packages; those of the library run in its wheel."""

import doctest
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_examples_in_docstrings_hold():
    failures, attempted = [], 0
    for package in ("config", "experiments", "judgments", "releases"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if ">>>" in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                result = doctest.testmod(importlib.import_module(name))
                failures += [name] * result.failed
                attempted += result.attempted
    assert failures == [] and attempted > 200
