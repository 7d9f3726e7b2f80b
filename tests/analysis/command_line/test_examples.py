"""The examples in the docstrings of the library are true."""

import doctest
import importlib
import pkgutil
import sys
from importlib.util import find_spec

import analysis

NEURAL = ("analysis.scoring.neural", "analysis.training")


def test_examples_of_every_module_are_true(subtests, monkeypatch):
    names = [
        module.name
        for module in pkgutil.walk_packages(analysis.__path__, "analysis.", onerror=lambda _: None)
    ]
    if find_spec("torch") is None:  # neural models are an extra: make install-models
        names = [name for name in names if not name.startswith(NEURAL)]
    modules = [importlib.import_module(name) for name in names]
    for module in [analysis, *modules]:  # examples import the library as the wheel names it
        monkeypatch.setitem(sys.modules, module.__name__.replace("analysis", "obelus", 1), module)
    for module in modules:
        with subtests.test(module.__name__):  # test_wheel.py compares exceptions whole
            assert doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0
