"""The examples in the docstrings of neural models are true; those of the others run in ``test_wheel.py``."""

import doctest
import importlib
import pkgutil
import sys

import pytest

import analysis

NEURAL = ("analysis.scoring.neural", "analysis.training")


def test_examples_of_neural_models_are_true(subtests, monkeypatch):
    pytest.importorskip("torch", reason="neural models are an extra: make install-models")
    names = [
        module.name
        for module in pkgutil.walk_packages(analysis.__path__, "analysis.", onerror=lambda _: None)
        if module.name.startswith(NEURAL)
    ]
    modules = [importlib.import_module(name) for name in names]
    for module in [analysis, *modules]:  # examples import the library as the wheel names it
        monkeypatch.setitem(sys.modules, module.__name__.replace("analysis", "obelus", 1), module)
    for module in modules:
        with subtests.test(module.__name__):
            assert doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0
