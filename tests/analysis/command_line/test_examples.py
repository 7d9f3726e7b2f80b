"""The examples in the docstrings of the pure statistics are true."""

import doctest
import importlib
import pkgutil

import pytest

import analysis

MODULES = [
    module.name for module in pkgutil.walk_packages(analysis.__path__, "analysis.", onerror=lambda name: None)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_module_are_true(name):
    if name.startswith(("analysis.scoring.neural", "analysis.training.")):
        pytest.importorskip("torch", reason="neural models are an extra: make install-models")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
