"""The examples in the docstrings of the library are true."""

import doctest
import importlib
import pkgutil
from importlib.util import find_spec

import analysis

NEURAL = ("analysis.scoring.neural", "analysis.training")


def test_examples_of_every_module_are_true(subtests):
    names = [
        module.name
        for module in pkgutil.walk_packages(analysis.__path__, "analysis.", onerror=lambda _: None)
    ]
    if find_spec("torch") is None:  # neural models are an extra: make install-models
        names = [name for name in names if not name.startswith(NEURAL)]
    for name in names:
        with subtests.test(name):
            assert doctest.testmod(importlib.import_module(name)).failed == 0
