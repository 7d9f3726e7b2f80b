"""Examples in the docstrings of the Django packages; those of the library run in its wheel."""

import doctest
import importlib
import pkgutil

import config
import experiments
import judgments
import releases


def test_examples_in_docstrings_hold():
    failures = []
    for package in (config, experiments, judgments, releases):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations" not in module.name:
                result = doctest.testmod(importlib.import_module(module.name))
                failures += [module.name] * result.failed
    assert failures == []
